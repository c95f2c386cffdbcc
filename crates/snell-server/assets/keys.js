// Keyboard shortcuts: j and k go to the next and previous agent, and / to the search field.

const STOPS = "#needs-list a, .card a.name";

export function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select")) return;
    const search = event.key === "/" && document.querySelector("input[type=search]");
    if (search) {
      search.focus();
      event.preventDefault();
      return;
    }
    const step = { j: 1, k: -1 }[event.key];
    if (!step) return;
    const stops = [...document.querySelectorAll(STOPS)];
    if (!stops.length) return;
    const current = stops.indexOf(document.activeElement);
    const next = current < 0 ? (step > 0 ? 0 : stops.length - 1) : current + step;
    stops[Math.min(Math.max(next, 0), stops.length - 1)].focus();
    event.preventDefault();
  });
}
