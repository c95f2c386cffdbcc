// The timeline of one agent: it follows what happens for whoever looks at its end. For whoever reads further up nothing moves:
// it grows below, and once it would have to let go of what is old it rests, until its end is looked at.
import { refresh } from "./regions.js";

const TICKED = "snell.ticked";
const MISSED = "Jump to live: more has happened";

const element = (id) => document.getElementById(id);

let isResting = false;

export function prepareTimeline() {
  prepareFilter();
  const [timeline, end, jump] = ["timeline", "now", "jump"].map(element);
  if (!end) return;
  const { src, when } = timeline.dataset;
  const leadsThere = jump.textContent;
  let isAtEnd = false;

  const goOn = () => {
    isResting = false;
    Object.assign(timeline.dataset, { src, when });
    jump.textContent = leadsThere;
    refresh(timeline);
  };

  new IntersectionObserver(([seen]) => {
    isAtEnd = seen.isIntersecting;
    jump.parentElement.classList.toggle("there", isAtEnd);
    if (isAtEnd && isResting) goOn();
  }).observe(end);
  document.addEventListener("forgetting", (event) => {
    if (event.target !== timeline || isAtEnd || element("timeline-none")) return;
    event.preventDefault();
    isResting = true;
    delete timeline.dataset.src;
    delete timeline.dataset.when;
  });
  document.addEventListener("swapped", (event) => {
    if (event.target !== timeline) return;
    tellOlder(timeline);
    if (isAtEnd) end.scrollIntoView({ block: "end" });
  });
}

// Something has changed, which a timeline that rests does not show.
export function missed(change) {
  const jump = isResting && element("jump");
  if (jump && change.agent_id === Number(element("timeline").dataset.agent)) jump.textContent = MISSED;
}

// The choice of kinds is followed at once. That loads the page anew, and whoever has ticked a box is brought back to it.
function prepareFilter() {
  const form = document.querySelector("form[data-at-once]");
  if (!form) return;
  form.addEventListener("change", (event) => {
    remember(event.target.name);
    form.requestSubmit();
  });
  // Who comes back to the page as it was left finds the boxes as the timeline is.
  addEventListener("pageshow", (event) => event.persisted && form.reset());
  form.querySelector(`input[name="${CSS.escape(remembered())}"]`)?.focus();
}

// Private windows may keep nothing.
const remember = (name) => {
  try {
    sessionStorage.setItem(TICKED, name);
  } catch {
    // Then the page begins at its top.
  }
};

// It counts once.
const remembered = () => {
  try {
    const name = sessionStorage.getItem(TICKED) ?? "";
    sessionStorage.removeItem(TICKED);
    return name;
  } catch {
    return "";
  }
};

// Rows that were dropped are found where the first one that is left begins.
let first = document.querySelector("#timeline > li")?.id;

function tellOlder(timeline) {
  const row = timeline.firstElementChild;
  const older = element("older");
  if (!older || !row?.dataset.before || row.id === first) return;
  first = row.id;
  const address = new URL(older.href);
  address.searchParams.set("before", row.dataset.before);
  older.href = address;
  older.hidden = false;
}
