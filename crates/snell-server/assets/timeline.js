// The timeline of one agent. At its end, it follows new rows. Further up, nothing moves: new rows are added below, and
// if old rows would have to go, it pauses until its end is visible.
import { refresh } from "./regions.js";

const TICKED = "snell.ticked";
const MISSED = "Jump to live: new events";

const element = (id) => document.getElementById(id);

let isResting = false;

export function prepareTimeline() {
  prepareFilter();
  const [timeline, end, jump] = ["timeline", "now", "jump"].map(element);
  if (!end) return;
  const { src, when } = timeline.dataset;
  const label = jump.textContent;
  let isAtEnd = false;

  const goOn = () => {
    isResting = false;
    Object.assign(timeline.dataset, { src, when });
    jump.textContent = label;
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
    updateOlderLink(timeline);
    if (isAtEnd) end.scrollIntoView({ block: "end" });
  });
}

// Handles a change that a paused timeline does not show.
export function missed(change) {
  const jump = isResting && element("jump");
  if (jump && change.agent_id === Number(element("timeline").dataset.agent)) jump.textContent = MISSED;
}

// The choice of kinds applies at once. That reloads the page, and the focus returns to the changed box.
function prepareFilter() {
  const form = document.querySelector("form[data-at-once]");
  if (!form) return;
  form.addEventListener("change", (event) => {
    remember(event.target.name);
    form.requestSubmit();
  });
  // After a return to a cached page, the boxes must match the timeline.
  addEventListener("pageshow", (event) => event.persisted && form.reset());
  form.querySelector(`input[name="${CSS.escape(remembered())}"]`)?.focus();
}

// Private windows may have no storage.
const remember = (name) => {
  try {
    sessionStorage.setItem(TICKED, name);
  } catch {
    // Then the focus is not restored.
  }
};

// The stored name is used once.
const remembered = () => {
  try {
    const name = sessionStorage.getItem(TICKED) ?? "";
    sessionStorage.removeItem(TICKED);
    return name;
  } catch {
    return "";
  }
};

// The link "Older" starts before the first row that is left.
let first = document.querySelector("#timeline > li")?.id;

function updateOlderLink(timeline) {
  const row = timeline.firstElementChild;
  const older = element("older");
  if (!older || !row?.dataset.before || row.id === first) return;
  first = row.id;
  const address = new URL(older.href);
  address.searchParams.set("before", row.dataset.before);
  older.href = address;
  older.hidden = false;
}
