// A form that filters a region. Input applies at once, and the address changes as if the form had been submitted.
import { refresh } from "./regions.js";

const PAUSE_MS = 150; // after the last key

export function prepareSearch() {
  const form = document.querySelector("form[data-narrows]");
  const region = form && document.getElementById(form.dataset.narrows);
  if (!region) return;
  let timer = null;

  const follow = () => {
    clearTimeout(timer);
    const fields = [...new FormData(form)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value);
    const query = fields.length ? `?${new URLSearchParams(fields)}` : "";
    history.replaceState(null, "", location.pathname + query);
    const address = region.dataset.src.split("?")[0] + query;
    if (region.dataset.src === address) return;
    region.dataset.src = address;
    refresh(region);
  };

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(follow, PAUSE_MS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    follow();
  });
}
