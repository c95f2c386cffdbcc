// Shows the state of the stream of changes, and handles a lost connection.
//
// A hidden page closes its stream after a while and polls how many agents wait. If it has its own stream, it does so at
// once, because a browser has few connections per server. A page that sends notices stays connected.
import { clock, now } from "./times.js";
import { openLine } from "./line.js";
import { givesNotice } from "./notices.js";

const ASLEEP_MS = 15000; // A timer that is this late means that the machine slept.
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

  // A hidden page fetches only how many agents wait.
  const sayHow = () => (document.hidden ? say("resting", "paused in a hidden tab") : say("live", "live"));

  const sayLost = (ms) => {
    lostAt ??= now() - ms;
    say("lost", `not live: no connection since ${clock(lostAt)}`);
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

  // A stream does not report why it was refused. If the login has ended, reload to show the form.
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
    change: (message) => change(message.kind, message.change),
  };
  const line = openLine(status.dataset.seen, (message) => HEARD[message.say]?.(message));

  // The stream sends missed changes, but the connection may be dead without an error.
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
