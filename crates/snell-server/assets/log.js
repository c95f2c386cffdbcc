// The log of events. At its top, new events are added. Further down, only their number is shown, so that nothing moves
// while someone reads. The receiver's state also changes without events, so it is polled.
import { refresh } from "./regions.js";
import { withZone } from "./times.js";

const LOOK_MS = 3000;

const element = (id) => document.getElementById(id);

const rest = (region) => {
  region?.removeAttribute("data-src");
  region?.removeAttribute("data-when");
};

const follow = (region, address) => {
  region.dataset.src = address;
  region.dataset.when = "*";
};

export function prepareLog() {
  element("log-form")?.addEventListener("submit", ({ target: { elements } }) => {
    for (const field of [elements.since, elements.until]) field.value = withZone(field.value);
  });
  if (element("receiver")) setInterval(() => ["receiver-mode", "receiver"].forEach((id) => refresh(element(id))), LOOK_MS);
  const address = element("log")?.dataset.src;
  if (!address) return;
  let isBelow = false;

  const settle = () => {
    const [log, news] = [element("log"), element("log-new")];
    if (isBelow && news) {
      rest(log);
      const counted = new URL(news.dataset.follow, location);
      counted.searchParams.set("after", log.dataset.newest);
      follow(news, counted.pathname + counted.search);
    } else {
      rest(news);
      if (news) news.hidden = true;
      follow(log, address);
    }
  };

  const look = () => {
    const wasBelow = isBelow;
    isBelow = element("log-top").getBoundingClientRect().bottom < 0;
    if (isBelow === wasBelow) return;
    settle();
    if (!isBelow) refresh(element("log"));
  };

  addEventListener("scroll", look, { passive: true });
  document.addEventListener("swapped", (event) => ["log", "log-new"].includes(event.target.id) && settle());
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("#log-new a") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    element("log-title").scrollIntoView();
    look();
  });
  look();
}
