// Replaces an old element with a fresh one and keeps as much as possible: equal parts, open folds and the focus.

const FOCUSABLE = "a, button, summary, input, select, [tabindex]";

export function merge(old, fresh) {
  const most = Number(fresh.dataset.grow);
  if (most) {
    copyAttributes(old, fresh);
    grow(old, fresh, most);
  } else if (old.hasAttribute("data-keyed") && fresh.hasAttribute("data-keyed")) {
    copyAttributes(old, fresh);
    mergeChildren(old, fresh);
  } else {
    keepUnfolded(old, fresh);
    if (!old.isEqualNode(fresh)) replace(old, fresh);
  }
}

// Changes an element and keeps the focus: on the element with the same id, or on the one in its place.
export function keepFocus(within, change) {
  const { id } = within;
  const focused = document.activeElement;
  const place = within.contains(focused) ? placeOf(within, focused) : null;
  change();
  if (!place || (document.activeElement && document.activeElement !== document.body)) return;
  const now = (id && document.getElementById(id)) || within;
  const left = [...now.querySelectorAll(FOCUSABLE)];
  const next = (place.id && document.getElementById(place.id)) || left[Math.min(place.index, left.length - 1)] || now;
  if (next === now) now.tabIndex = -1;
  next.focus({ preventScroll: true });
}

function mergeChildren(old, fresh) {
  const known = new Map([...old.children].map((child) => [child.id, child]));
  let place = old.firstElementChild;
  for (const child of [...fresh.children]) {
    const match = known.get(child.id);
    known.delete(child.id);
    if (!match) {
      old.insertBefore(child, place);
      continue;
    }
    if (match === place) place = place.nextElementSibling;
    else old.insertBefore(match, place);
    merge(match, child);
  }
  for (const gone of known.values()) gone.remove();
}

// `fresh` has the newest children, in order. Older ones stay, up to `most` in all. If none is in both, too much has
// happened, and the list starts again.
function grow(old, fresh, most) {
  const known = new Map([...old.children].map((child) => [child.id, child]));
  const rows = [...fresh.children];
  const first = rows.find((row) => known.has(row.id));
  if (!first) {
    if (mayForget(old)) old.replaceChildren(...rows);
    return;
  }
  const inFresh = new Set(rows.map((row) => row.id));
  for (let row = known.get(first.id); row; ) {
    const next = row.nextElementSibling;
    if (!inFresh.has(row.id)) row.remove();
    row = next;
  }
  let after = null;
  for (const row of rows.reverse()) {
    const match = known.get(row.id);
    if (match) merge(match, row);
    else old.insertBefore(row, after);
    after = match?.isConnected ? match : row;
  }
  if (old.children.length > most && mayForget(old)) {
    while (old.children.length > most) old.firstElementChild.remove();
  }
}

// Whether old rows may be removed: someone may be reading them.
const mayForget = (element) => element.dispatchEvent(new CustomEvent("forgetting", { bubbles: true, cancelable: true }));

function copyAttributes(old, fresh) {
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
}

function keepUnfolded(old, fresh) {
  const folds = (element) => [...(element.matches("details") ? [element] : []), ...element.querySelectorAll("details")];
  const [before, after] = [folds(old), folds(fresh)];
  after.forEach((fold, index) => {
    const same = fold.id ? before.find((other) => other.id === fold.id) : before.length === after.length && before[index];
    if (same) fold.open = same.open;
  });
}

function replace(old, fresh) {
  const focused = document.activeElement;
  const place = old.contains(focused) ? placeOf(old, focused) : null;
  old.replaceWith(fresh);
  if (place) find(fresh, place)?.focus({ preventScroll: true });
}

const placeOf = (within, element) => ({
  id: element.id,
  index: [...within.querySelectorAll(FOCUSABLE)].indexOf(element),
});

const find = (within, { id, index }) =>
  (id && document.getElementById(id)) || within.querySelectorAll(FOCUSABLE)[index] || null;
