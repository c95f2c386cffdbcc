// Regions: elements that are fetched anew when something changes that they show.
//
// However much happens, a page asks only so often. What changes for the first time is asked for at once; what changes again
// waits a moment, and parts of one whole that wait at the same time are asked for together.
import { keepFocus, merge } from "./merge.js";
import { wordTimes } from "./times.js";

const MOMENT_MS = 80; // between two requests for the same thing
const MAX_AT_ONCE = 4;
const MAX_PARTS = 100;
const PATIENCE_MS = 15000;
const AGAIN_MS = 1000;

const waiting = new Map(); // by the id of the element, the address
const flying = new Set(); // addresses
const notBefore = new Map(); // by address
let timer = null;
let isStale = false;
let isAway = false;

const concerns = (region, kind, change) => {
  const { when, agent } = region.dataset;
  if (!when || (agent && Number(agent) !== change.agent_id)) return false;
  return when === "*" || when.split(" ").includes(kind);
};

// Whether it lacks a part that it should have, or has one that it should not.
const isIncomplete = (whole, change) =>
  change.state === "ended" || !whole.querySelector(`[data-part="${Number(change.agent_id)}"]`);

// Something has changed.
export function touched(kind, change) {
  for (const region of document.querySelectorAll("[data-src]")) {
    if (concerns(region, kind, change)) refresh(region);
  }
  for (const whole of document.querySelectorAll("[data-parts]")) {
    if (isIncomplete(whole, change)) refresh(whole);
  }
}

// Where a region is fetched from: by itself, or together with other parts of a whole.
const addressOf = (region) => {
  const whole = region.dataset.part && region.parentElement.closest("[data-parts]");
  return whole ? whole.dataset.parts : region.dataset.src;
};

// Fetches a region anew, as soon as that may be. What nobody sees can wait until somebody does.
export function refresh(region) {
  if (!region) return;
  if (document.hidden && region.id !== "counts") {
    isStale = true;
    return;
  }
  waiting.set(region.id, addressOf(region));
  timer ??= setTimeout(pump, 0);
}

// Fetches everything anew that can be.
export function refreshAll() {
  isStale = isAway = false;
  waiting.clear();
  const isOutermost = (region) => !region.parentElement.closest("[data-src]");
  [...document.querySelectorAll("[data-src]")].filter(isOutermost).forEach(refresh);
}

// Nothing is fetched from a server that is away. When it is back, everything is.
export function stayAway() {
  isAway = true;
}

function pump() {
  clearTimeout(timer);
  timer = null;
  if (isAway) return;
  const time = performance.now();
  let soonest = Infinity;
  for (const [address, ids] of byAddress()) {
    if (flying.has(address)) continue;
    if (flying.size >= MAX_AT_ONCE) return; // Whoever lands looks again.
    const from = notBefore.get(address) ?? 0;
    if (from > time) {
      soonest = Math.min(soonest, from);
      continue;
    }
    const some = ids.slice(0, MAX_PARTS);
    some.forEach((id) => waiting.delete(id));
    fetchInto(address, some);
  }
  if (soonest < Infinity) timer = setTimeout(pump, soonest - time + 1);
}

function byAddress() {
  const groups = new Map();
  for (const [id, address] of waiting) {
    if (!groups.has(address)) groups.set(address, []);
    groups.get(address).push(id);
  }
  return groups;
}

async function fetchInto(address, ids) {
  flying.add(address);
  const started = performance.now();
  const parts = ids.map((id) => document.getElementById(id)?.dataset.part).filter(Boolean);
  try {
    const answer = await fetch(address + parts, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
    if (answer.status === 401) location.reload();
    else if (answer.status === 404) putAll(address, ids, "");
    else if (answer.ok) putAll(address, ids, await answer.text());
  } catch {
    // The server is away, which the connection tells; whatever was missed is fetched when it is back.
  } finally {
    const done = performance.now();
    flying.delete(address);
    if (notBefore.size > 100) notBefore.clear();
    // What takes long is asked for less often.
    notBefore.set(address, Math.max(started + MOMENT_MS, done + (done - started)));
    pump();
  }
}

// Puts what the server has rendered in place of what is there. What it has no more is gone; and what has meanwhile come to
// show something else stays as it is.
function putAll(address, ids, text) {
  const rendered = new DOMParser().parseFromString(text, "text/html");
  wordTimes(rendered);
  for (const id of ids) {
    const [old, fresh] = [document.getElementById(id), rendered.getElementById(id)];
    if (old && addressOf(old) !== address) continue;
    if (old && isSelectedIn(old)) setTimeout(() => refresh(document.getElementById(id)), AGAIN_MS);
    else if (old && fresh) put(old, fresh);
    else if (old) remove(old);
  }
}

function put(old, fresh) {
  const { id } = old;
  keepFocus(old, () => merge(old, fresh));
  document.getElementById(id)?.dispatchEvent(new CustomEvent("swapped", { bubbles: true }));
}

const remove = (old) => keepFocus(old.parentElement, () => old.remove());

// Whether somebody is marking text there, to copy it.
function isSelectedIn(element) {
  const selection = getSelection();
  return selection.type === "Range" && selection.containsNode(element, true);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && isStale) refreshAll();
});
