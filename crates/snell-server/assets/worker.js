// The one stream for all pages in this browser.
//
// Pages may disappear without a message. A page that does not answer for a while gets nothing more, and has to listen
// again when it answers. Without pages there is no stream.
import { followStream } from "./stream.js";

const ASK_MS = 20000;
const MAX_UNANSWERED = 3;

const pages = new Map(); // by port, the number of unanswered questions in a row

const stream = followStream((message) => {
  for (const port of pages.keys()) port.postMessage(message);
});

const forget = (port) => {
  pages.delete(port);
  if (pages.size === 0) stream.close();
};

// Messages from pages.
const HANDLERS = {
  listen(port, { seen, isAnew }) {
    pages.set(port, 0);
    const isOpen = stream.isOpen() && !isAnew;
    if (!isOpen) stream.open(seen);
    if (Number(seen) < Number(stream.seen())) port.postMessage({ say: "gap", seen: stream.seen() });
    if (isOpen) port.postMessage({ say: "opened" });
  },
  here(port) {
    if (pages.has(port)) pages.set(port, 0);
    else port.postMessage({ say: "forgotten" });
  },
  leave: forget,
};

addEventListener("connect", ({ ports: [port] }) => {
  port.onmessage = ({ data }) => HANDLERS[data.say]?.(port, data);
});

setInterval(() => {
  for (const [port, unanswered] of [...pages]) {
    if (unanswered >= MAX_UNANSWERED) {
      forget(port);
      continue;
    }
    pages.set(port, unanswered + 1);
    port.postMessage({ say: "are you here" });
  }
}, ASK_MS);
