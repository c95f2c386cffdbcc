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

// What is told where the browser gives no notices although somebody wants them.
const REFUSED = {
  denied: "the browser allows no notices here; its settings for this page can",
  default: "no notices: the browser was not given an answer",
};

const isPossible = () => "Notification" in window && Notification.permission !== "denied";

export const givesNotice = () => isPossible() && Notification.permission === "granted" && remembered();

export function prepareNotices() {
  const button = document.getElementById("notify");
  if (!button || !isPossible()) return;
  const told = document.getElementById("notify-told");
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
    told.textContent = wanted ? (REFUSED[Notification.permission] ?? "") : "";
    told.hidden = !told.textContent;
    show();
  });
  show();
}

// The reason comes as it was sent, and a notice shows nothing but letters.
const plain = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");

// Of all pages that hear of it, one gives notice: whoever is first keeps the others from it for as long as it is news.
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

// What the agent is called and where it works, as the strip of those who wait has it.
async function nameOf(agentId) {
  const answer = await fetch("/fragments/needs", { cache: "no-store" }).catch(() => null);
  const rendered = new DOMParser().parseFromString(answer?.ok ? await answer.text() : "", "text/html");
  const told = rendered.getElementById(`need-${agentId}`);
  if (!told) return `Agent ${agentId}`;
  return ["strong.name", ".project"].map((part) => told.querySelector(part).textContent).join(" in ");
}

async function give(change) {
  const name = await nameOf(change.agent_id);
  const shown = new Notification(`${name} needs you`, { body: plain(change.why), tag: `snell-${change.agent_id}` });
  shown.onclick = () => {
    focus();
    location.assign(`/agents/${change.agent_id}`);
  };
}
