// The one stream of all pages in this browser, told to each of them.
//
// Pages come and go, and not all of them say so: whoever does not answer for a while is told nothing more, and asked to listen
// anew once it answers. Where nobody listens there is no stream.
import { followStream } from "./stream.js";

const ASK_MS = 20000;
const MAX_UNANSWERED = 3;

const pages = new Map(); // by port, how many questions in a row it has not answered

const stream = followStream((message) => {
  for (const port of pages.keys()) port.postMessage(message);
});

const forget = (port) => {
  pages.delete(port);
  if (pages.size === 0) stream.close();
};

// What pages say.
const SAID = {
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
  port.onmessage = ({ data }) => SAID[data.say]?.(port, data);
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
