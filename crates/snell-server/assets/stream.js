// The stream of changes, held by the shared worker or by a page.
//
// The browser resumes a stream after the last event by itself; if it gives up, this continues.

const KINDS = [
  "turn_created", "turn_updated", "state_changed", "session_created", "session_ended", "card_refresh", "hook_run",
  "guard_verdict", "request_opened", "request_closed",
];
const AGAIN_AFTER_MS = [1000, 2000, 5000, 10000];
const JUST_NOW_MS = 2000;

// Messages: "opened"; "lost", with the time and whether the server refused; "gap"; "change", with its kind. The last
// two have the number of the last seen change.
export function followStream(tell) {
  let source = null;
  let seen = "0";
  let attempts = 0;
  let startedAt = 0;
  let lostAt = null;

  const opened = () => {
    attempts = 0;
    lostAt = null;
    tell({ say: "opened" });
  };

  const failed = () => {
    lostAt ??= Date.now();
    const isRefused = source.readyState === EventSource.CLOSED;
    tell({ say: "lost", lostMs: Date.now() - lostAt, isRefused });
    if (!isRefused) return;
    const wait = AGAIN_AFTER_MS[Math.min(attempts++, AGAIN_AFTER_MS.length - 1)];
    const gone = source;
    setTimeout(() => source === gone && start(), wait);
  };

  const start = () => {
    source?.close();
    startedAt = Date.now();
    source = new EventSource(`/api/events/stream?last_event_id=${encodeURIComponent(seen)}`);
    source.onopen = opened;
    source.onerror = failed;
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => {
        seen = event.lastEventId || seen;
        tell({ say: "change", seen, kind, change: JSON.parse(event.data) });
      });
    }
    source.addEventListener("gap", (event) => {
      seen = event.lastEventId || seen;
      tell({ say: "gap", seen });
    });
  };

  const isBegun = () => source?.readyState === EventSource.CONNECTING && Date.now() - startedAt < JUST_NOW_MS;

  return {
    seen: () => seen,
    isOpen: () => source?.readyState === EventSource.OPEN,

    // Reconnects even if the stream seems open: it may be dead without an error. A new stream starts at `from`.
    open(from) {
      if (!source) seen = from;
      if (!isBegun()) start();
    },

    close() {
      source?.close();
      source = lostAt = null;
    },
  };
}
