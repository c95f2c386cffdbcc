// The stream of changes, and what the page says about it.
//
// A browser resumes a stream by itself with the number of the last event that it has seen; where it gives up, this goes on.
// A page that nobody looks at lets go of the stream after a while, because a browser has few connections for one server, and
// glances at how many wait instead. One that gives notice keeps it.
import { clock, now } from "./times.js";
import { givesNotice } from "./notices.js";

const KINDS = [
  "turn_created", "turn_updated", "state_changed", "session_created", "session_ended", "card_refresh", "hook_run",
  "guard_verdict",
];
const AGAIN_AFTER_MS = [1000, 2000, 5000, 10000];
const ASLEEP_MS = 15000; // A timer that is late by so much has slept.
const LET_GO_AFTER_MS = 60000;
const GLANCE_MS = 30000;
const BACK_SHOWN_MS = 10000;

export function connect(status, { change, anew, away, glance }) {
  let source = null;
  let seen = status.dataset.seen;
  let lostAt = null;
  let attempts = 0;
  let hiddenAt = document.hidden ? Date.now() : null;
  let lookedAt = Date.now();
  let glancedAt = 0;

  const say = (state, text) => {
    status.dataset.connection = state;
    if (status.textContent !== text) status.textContent = text;
  };

  const lost = () => {
    lostAt ??= now();
    away();
    say("lost", `reconnecting… since ${clock(lostAt)}`);
  };

  const opened = () => {
    attempts = 0;
    if (lostAt === null) return say("live", "live");
    const seconds = Math.max(1, Math.round((now() - lostAt) / 1000));
    lostAt = null;
    say("live", `live again after ${seconds} s`);
    setTimeout(() => lostAt === null && source && say("live", "live"), BACK_SHOWN_MS);
    anew();
  };

  const failed = () => {
    lost();
    if (source.readyState !== EventSource.CLOSED) return;
    lookForLogin();
    const wait = AGAIN_AFTER_MS[Math.min(attempts++, AGAIN_AFTER_MS.length - 1)];
    const gone = source;
    setTimeout(() => source === gone && open(), wait);
  };

  // A stream does not say why it is refused. Whoever has to log in again is shown where.
  const lookForLogin = async () => {
    const answer = await fetch("/fragments/counts", { method: "HEAD", cache: "no-store" }).catch(() => null);
    if (answer?.status === 401) location.reload();
  };

  const open = () => {
    source?.close();
    source = new EventSource(`/api/events/stream?last_event_id=${encodeURIComponent(seen)}`);
    source.onopen = opened;
    source.onerror = failed;
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => {
        seen = event.lastEventId || seen;
        change(kind, JSON.parse(event.data));
      });
    }
    source.addEventListener("gap", (event) => {
      seen = event.lastEventId || seen;
      anew();
    });
  };

  const close = () => {
    source?.close();
    source = null;
  };

  // What happened meanwhile is told by the stream, but the connection may be dead without knowing it.
  const wake = () => {
    open();
    anew();
  };

  const letGo = () => {
    close();
    say("resting", "resting while out of sight");
  };

  setInterval(() => {
    const time = Date.now();
    const slept = time - lookedAt > ASLEEP_MS;
    lookedAt = time;
    if (!document.hidden) {
      if (slept) wake();
      return;
    }
    if (source && !givesNotice() && hiddenAt !== null && time - hiddenAt > LET_GO_AFTER_MS) letGo();
    if (!source && time - glancedAt > GLANCE_MS) {
      glancedAt = time;
      glance();
    }
  }, 1000);

  document.addEventListener("visibilitychange", () => {
    lookedAt = Date.now();
    hiddenAt = document.hidden ? lookedAt : null;
    if (document.hidden) return;
    if (!source) wake();
    else if (lostAt === null) anew();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => event.persisted && wake());

  say("opening", "connecting…");
  open();
}
