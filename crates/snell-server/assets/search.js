// A form that narrows a region. What is typed is followed at once, and stands in the address as if it had been sent.
import { refresh } from "./regions.js";

const PAUSE_MS = 150; // after the last key

export function prepareSearch() {
  const form = document.querySelector("form[data-narrows]");
  const region = form && document.getElementById(form.dataset.narrows);
  if (!region) return;
  let timer = null;

  const follow = () => {
    clearTimeout(timer);
    const told = [...new FormData(form)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value);
    const query = told.length ? `?${new URLSearchParams(told)}` : "";
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
