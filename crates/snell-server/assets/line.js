// How a page receives changes.
//
// A browser has few connections per server, usually six, and a stream uses one. So all pages share a stream through a
// worker. Without shared workers, each page has its own.
import { followStream } from "./stream.js";

const LOOK_MS = 20000;
const MAX_SILENT = 4; // A worker that is silent for this many intervals is gone.

export function openLine(seen, hear) {
  let isListening = false;
  let silent = 0;

  const receive = (message) => {
    if (!isListening) return;
    seen = message.seen ?? seen;
    hear(message);
  };

  const ownLine = () => {
    const stream = followStream(receive);
    return { isShared: false, listen: () => stream.open(seen), leave: stream.close };
  };

  const sharedLine = () => {
    const worker = new SharedWorker(new URL("./worker.js", import.meta.url), { type: "module" });
    const { port } = worker;
    const mine = {
      isShared: true,
      listen: (isAnew) => port.postMessage({ say: "listen", seen, isAnew }),
      leave: () => port.postMessage({ say: "leave" }),
    };
    worker.onerror = () => line === mine && change(ownLine());
    port.onmessage = ({ data }) => {
      if (line !== mine) return;
      silent = 0;
      if (data.say === "are you here") port.postMessage({ say: "here" });
      else if (data.say !== "forgotten") receive(data);
      else if (isListening) mine.listen(false);
    };
    return mine;
  };

  const change = (other) => {
    line = other;
    if (isListening) line.listen(true);
  };

  // Some browsers have shared workers but do not allow them.
  const someLine = () => {
    try {
      return globalThis.SharedWorker ? sharedLine() : ownLine();
    } catch {
      return ownLine();
    }
  };

  let line = someLine();
  setInterval(() => {
    if (!line.isShared || !isListening || ++silent < MAX_SILENT) return;
    silent = 0;
    line.leave();
    change(someLine());
  }, LOOK_MS);

  return {
    isListening: () => isListening,
    isShared: () => line.isShared,

    // Starts to listen, or reconnects, because the connection may be dead without an error.
    listen() {
      const isAnew = isListening;
      isListening = true;
      silent = 0;
      line.listen(isAnew);
    },

    leave() {
      isListening = false;
      line.leave();
    },
  };
}
