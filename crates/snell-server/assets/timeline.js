// The timeline of one agent: it follows what happens for whoever looks at its end.

export function prepareTimeline() {
  const form = document.querySelector("form[data-at-once]");
  form?.addEventListener("change", () => form.requestSubmit());
  const [end, jump] = [document.getElementById("now"), document.getElementById("jump")];
  if (!end) return;
  let isAtEnd = false;
  new IntersectionObserver(([seen]) => {
    isAtEnd = seen.isIntersecting;
    jump.parentElement.classList.toggle("there", isAtEnd);
  }).observe(end);
  document.addEventListener("swapped", (event) => {
    if (event.target.id !== "timeline") return;
    tellOlder(event.target);
    if (isAtEnd) end.scrollIntoView({ block: "end" });
  });
}

// Rows that were dropped are found where the first one that is left begins.
let first = document.querySelector("#timeline > li")?.id;

function tellOlder(timeline) {
  const row = timeline.firstElementChild;
  const older = document.getElementById("older");
  if (!older || !row?.dataset.before || row.id === first) return;
  first = row.id;
  const address = new URL(older.href);
  address.searchParams.set("before", row.dataset.before);
  older.href = address;
  older.hidden = false;
}
