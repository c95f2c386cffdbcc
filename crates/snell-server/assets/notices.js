// Browser notices when an agent begins to wait. Permission is requested only after a click.
import { now } from "./times.js";

const KEY = "snell.notices";
const RECENT_MS = 60000; // After a reconnect, older waits cause no notices.

// Private windows may have no storage.
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
    // Then the choice is not stored.
  }
};

// Messages if the browser does not allow notices.
const REFUSED = {
  denied: "the browser blocks notices from this page; allow them in its settings",
  default: "no notices: you did not answer the question of the browser",
};

const isPossible = () => "Notification" in window && Notification.permission !== "denied";

export const givesNotice = () => isPossible() && Notification.permission === "granted" && remembered();

export function prepareNotices() {
  const button = document.getElementById("notify");
  if (!button || !isPossible()) return;
  const status = document.getElementById("notify-status");
  const show = () => {
    const on = givesNotice();
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Notices on" : "Notify me";
    button.hidden = !isPossible();
  };
  button.addEventListener("click", async () => {
    const wanted = !givesNotice();
    if (wanted && Notification.permission === "default") await Notification.requestPermission();
    remember(wanted && Notification.permission === "granted");
    status.textContent = wanted ? (REFUSED[Notification.permission] ?? "") : "";
    status.hidden = !status.textContent;
    show();
  });
  show();
}

// The reason is raw text; a notice shows only visible characters.
const plain = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");

// Only one page sends each notice: the first one holds a lock for as long as the notice is new.
const byOneOnly = (what, give) => {
  const meanwhile = async (isFirst) => {
    if (!isFirst) return;
    give();
    await new Promise((over) => setTimeout(over, RECENT_MS));
  };
  if (navigator.locks) navigator.locks.request(`snell.notice.${what}`, { ifAvailable: true }, meanwhile);
  else give();
};

export function notice(kind, change) {
  if (kind !== "state_changed" || change.state !== "awaiting_input" || change.previous_state === "awaiting_input") return;
  if (!givesNotice() || now() - Date.parse(change.state_since) > RECENT_MS) return;
  byOneOnly(`${change.agent_id}.${change.state_since}`, () => give(change));
}

// The name and the project of an agent, from the list of waiting agents.
async function nameOf(agentId) {
  const answer = await fetch("/fragments/needs", { cache: "no-store" }).catch(() => null);
  const rendered = new DOMParser().parseFromString(answer?.ok ? await answer.text() : "", "text/html");
  const row = rendered.getElementById(`need-${agentId}`);
  if (!row) return `Agent ${agentId}`;
  return ["strong.name", ".project"].map((part) => row.querySelector(part).textContent).join(" in ");
}

async function give(change) {
  const name = await nameOf(change.agent_id);
  const shown = new Notification(`${name} needs you`, { body: plain(change.why), tag: `snell-${change.agent_id}` });
  shown.onclick = () => {
    focus();
    location.assign(`/agents/${change.agent_id}`);
  };
}
