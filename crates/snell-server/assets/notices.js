// A notice of the browser when an agent begins to wait, for those who want it. It is asked for by a click, never by itself.
import { now } from "./times.js";

const KEY = "snell.notices";
const RECENT_MS = 60000; // Who comes back is not told what was long ago.

// Private windows may keep nothing.
const remembered = () => {
  try {
    return localStorage.getItem(KEY) === "on";
  } catch {
    return false;
  }
};

const remember = (on) => {
  try {
    localStorage.setItem(KEY, on ? "on" : "off");
  } catch {
    // Then it is forgotten.
  }
};

const isPossible = () => "Notification" in window && Notification.permission !== "denied";

export const givesNotice = () => isPossible() && Notification.permission === "granted" && remembered();

export function prepareNotices() {
  const button = document.getElementById("notify");
  if (!button || !isPossible()) return;
  const show = () => {
    const on = givesNotice();
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Notices on" : "Notify me";
    button.hidden = !isPossible();
  };
  button.addEventListener("click", async () => {
    const wanted = !givesNotice();
    remember(wanted);
    if (wanted && Notification.permission === "default") await Notification.requestPermission();
    show();
  });
  show();
}

export function notice(kind, change) {
  if (kind !== "state_changed" || change.state !== "awaiting_input" || change.previous_state === "awaiting_input") return;
  if (!givesNotice() || now() - Date.parse(change.state_since) > RECENT_MS) return;
  const name = document.getElementById(`name-${change.agent_id}`)?.textContent ?? `Agent ${change.agent_id}`;
  const shown = new Notification(`${name} needs you`, { body: change.why, tag: `snell-${change.agent_id}` });
  shown.onclick = () => {
    focus();
    location.assign(`/agents/${change.agent_id}`);
  };
}
