// Live updates. The server renders everything; this fetches changed fragments and replaces them.
import { connect } from "./connection.js";
import { touched, refreshAll, refresh, stayAway } from "./regions.js";
import { startTicking } from "./times.js";
import { prepareNotices, notice } from "./notices.js";
import { listenToKeys } from "./keys.js";
import { missed, prepareTimeline } from "./timeline.js";
import { prepareLog } from "./log.js";
import { prepareSearch } from "./search.js";

const ownTitle = document.title.replace(/^\(\d+\) /, "");

// Shows the number of waiting agents in the title and the icon, and reloads the page if the server has another version.
function readCounts() {
  const counts = document.getElementById("counts");
  if (!counts) return;
  const waiting = Number(counts.dataset.waiting);
  document.title = waiting > 0 ? `(${waiting}) ${ownTitle}` : ownTitle;
  const icon = document.getElementById("icon");
  const shown = waiting > 0 ? icon.dataset.waiting : icon.dataset.quiet;
  if (icon.getAttribute("href") !== shown) icon.href = shown;
  const ours = new URL(import.meta.url).pathname.split("/")[2];
  if (counts.dataset.version !== ours) location.reload();
}

// Content outside the window is laid out when the browser is idle.
const whenIdle = globalThis.requestIdleCallback ?? setTimeout;
whenIdle(() => document.documentElement.classList.add("whole"));

const connection = document.getElementById("connection");
if (connection) {
  startTicking(connection.dataset.now);
  prepareNotices();
  prepareTimeline();
  prepareLog();
  prepareSearch();
  listenToKeys();
  document.addEventListener("swapped", (event) => {
    if (event.target.id === "counts") readCounts();
  });
  connect(connection, {
    change(kind, change) {
      touched(kind, change);
      missed(change);
      notice(kind, change);
    },
    anew: refreshAll,
    away: stayAway,
    glance: () => refresh(document.getElementById("counts")),
  });
}
