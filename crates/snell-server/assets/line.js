// How a page hears of changes.
//
// A browser has few connections for one server, six as a rule, and a stream holds one for as long as it is listened to. So all
// pages share one, which a worker holds for them. Where there are no such workers, each page holds its own.
import { followStream } from "./stream.js";

const LOOK_MS = 20000;
const MAX_SILENT = 4; // A worker asks that often; one that does not is gone.

export function openLine(seen, hear) {
  let isListening = false;
  let silent = 0;

  const told = (message) => {
    if (!isListening) return;
    seen = message.seen ?? seen;
    hear(message);
  };

  const ownLine = () => {
    const stream = followStream(told);
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
      else if (data.say !== "forgotten") told(data);
      else if (isListening) mine.listen(false);
    };
    return mine;
  };

  const change = (other) => {
    line = other;
    if (isListening) line.listen(true);
  };

  // Where a browser has such workers but allows none.
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

    // Begins to listen, or does so anew, because the connection may be dead without knowing it.
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
