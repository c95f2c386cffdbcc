// Regions: elements that are fetched again when something in them changes.
//
// The number of requests is limited. The first change of a region is fetched at once; later ones wait a moment, and
// parts of one whole are fetched together.
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

// Whether a part is missing, or one has to go.
const isIncomplete = (whole, change) =>
  change.state === "ended" || !whole.querySelector(`[data-part="${Number(change.agent_id)}"]`);

// Handles a change.
export function touched(kind, change) {
  for (const region of document.querySelectorAll("[data-src]")) {
    if (concerns(region, kind, change)) refresh(region);
  }
  for (const whole of document.querySelectorAll("[data-parts]")) {
    if (isIncomplete(whole, change)) refresh(whole);
  }
}

// The address of a region: its own, or the one of the whole that it is a part of.
const addressOf = (region) => {
  const whole = region.dataset.part && region.parentElement.closest("[data-parts]");
  return whole ? whole.dataset.parts : region.dataset.src;
};

// Fetches a region as soon as possible. A hidden page waits until it is visible.
export function refresh(region) {
  if (!region) return;
  if (document.hidden && region.id !== "counts") {
    isStale = true;
    return;
  }
  waiting.set(region.id, addressOf(region));
  timer ??= setTimeout(pump, 0);
}

// Fetches all regions.
export function refreshAll() {
  isStale = isAway = false;
  waiting.clear();
  const isOutermost = (region) => !region.parentElement.closest("[data-src]");
  [...document.querySelectorAll("[data-src]")].filter(isOutermost).forEach(refresh);
}

// Stops fetching while the server is unreachable. `refreshAll` starts again.
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
    if (flying.size >= MAX_AT_ONCE) return; // The end of a request calls this again.
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
    // The server is unreachable, which the head shows. After a reconnect, everything is fetched.
  } finally {
    const done = performance.now();
    flying.delete(address);
    if (notBefore.size > 100) notBefore.clear();
    // Slow fragments are fetched less often.
    notBefore.set(address, Math.max(started + MOMENT_MS, done + (done - started)));
    pump();
  }
}

// Replaces regions with the rendered ones, and removes those that the server no longer has. Regions whose address has
// changed meanwhile stay.
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

// Whether the user is selecting text there, to copy it.
function isSelectedIn(element) {
  const selection = getSelection();
  return selection.type === "Range" && selection.containsNode(element, true);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && isStale) refreshAll();
});
