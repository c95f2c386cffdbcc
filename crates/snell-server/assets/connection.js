// What the page says about the stream of changes, and what it does when that is lost.
//
// A page that nobody looks at stops listening after a while and glances at how many wait instead; at once, where it holds a
// stream of its own, because a browser has few connections for one server. One that gives notice goes on.
import { clock, now } from "./times.js";
import { openLine } from "./line.js";
import { givesNotice } from "./notices.js";

const ASLEEP_MS = 15000; // A timer that is late by so much has slept.
const LET_GO_AFTER_MS = 60000;
const GLANCE_MS = 30000;
const BACK_SHOWN_MS = 10000;

export function connect(status, { change, anew, away, glance }) {
  let lostAt = null;
  let hiddenAt = document.hidden ? Date.now() : null;
  let lookedAt = Date.now();
  let glancedAt = 0;

  const say = (state, text) => {
    status.dataset.connection = state;
    if (status.textContent !== text) status.textContent = text;
  };

  // While nobody looks, nothing is fetched but how many wait.
  const sayHow = () => (document.hidden ? say("resting", "resting while out of sight") : say("live", "live"));

  const sayLost = (ms) => {
    lostAt ??= now() - ms;
    say("lost", `reconnecting… since ${clock(lostAt)}`);
  };

  const opened = () => {
    if (lostAt === null) {
      if (status.dataset.connection !== "live") sayHow();
      return;
    }
    const seconds = Math.max(1, Math.round((now() - lostAt) / 1000));
    lostAt = null;
    say("live", `live again after ${seconds} s`);
    setTimeout(() => lostAt === null && line.isListening() && sayHow(), BACK_SHOWN_MS);
    anew();
  };

  // A stream does not say why it is refused. Whoever has to log in again is shown where.
  const lookForLogin = async () => {
    const answer = await fetch("/fragments/counts", { method: "HEAD", cache: "no-store" }).catch(() => null);
    if (answer?.status === 401) location.reload();
  };

  const HEARD = {
    opened,
    lost({ lostMs, isRefused }) {
      away();
      sayLost(lostMs);
      if (isRefused) lookForLogin();
    },
    gap: anew,
    change: (told) => change(told.kind, told.change),
  };
  const line = openLine(status.dataset.seen, (message) => HEARD[message.say]?.(message));

  // What happened meanwhile is told by the stream, but the connection may be dead without knowing it.
  const wake = () => {
    line.listen();
    anew();
  };

  const letGoAfterMs = () => (line.isShared() ? LET_GO_AFTER_MS : 0);

  setInterval(() => {
    const time = Date.now();
    const sleptMs = time - lookedAt;
    lookedAt = time;
    if (!document.hidden) {
      if (sleptMs > ASLEEP_MS) {
        sayLost(sleptMs);
        wake();
      }
      return;
    }
    if (line.isListening() && !givesNotice() && hiddenAt !== null && time - hiddenAt > letGoAfterMs()) line.leave();
    if (!line.isListening() && time - glancedAt > GLANCE_MS) {
      glancedAt = time;
      glance();
    }
  }, 1000);

  document.addEventListener("visibilitychange", () => {
    const slept = Date.now() - lookedAt > ASLEEP_MS;
    lookedAt = Date.now();
    hiddenAt = document.hidden ? lookedAt : null;
    if (line.isListening() && lostAt === null) sayHow();
    if (document.hidden) return;
    if (!line.isListening() || slept) wake();
    else if (lostAt === null) anew();
  });
  addEventListener("pagehide", line.leave);
  addEventListener("pageshow", (event) => event.persisted && wake());

  say("opening", "connecting…");
  line.listen();
}
