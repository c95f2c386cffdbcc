// Times in the same format as the server's, updated as they pass.

let ahead = 0; // The difference between the server's clock and the browser's.

export const now = () => Date.now() + ahead;

const two = (number) => String(number).padStart(2, "0");

// The time of day, with the date if it is not today.
export function clock(at) {
  const [day, today] = [new Date(at), new Date(now())];
  const date = `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())} `;
  const time = `${two(day.getHours())}:${two(day.getMinutes())}:${two(day.getSeconds())}`;
  return day.toDateString() === today.toDateString() ? time : date + time;
}

// A typed time with the browser's zone if it has none, because all times are shown in that zone.
export function withZone(text) {
  const [, day, time = "00:00", seconds = ":00"] = text.trim().match(/^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?)?$/) ?? [];
  const minutes = -new Date(`${day}T${time}${seconds}`).getTimezoneOffset();
  if (Number.isNaN(minutes)) return text;
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${day}T${time}${seconds}${minutes < 0 ? "-" : "+"}${two(hours)}:${two(rest)}`;
}

const howLong = (from) => inUnits(now() - from);

function inUnits(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

const FORMS = { ago: (at) => `${howLong(at)} ago`, for: howLong, left: (at) => inUnits(at - now()), clock };

// Updates all times within an element. Only text nodes change, so screen readers do not repeat them.
export function wordTimes(within) {
  for (const time of within.querySelectorAll("time[data-form]")) {
    const text = FORMS[time.dataset.form]?.(Date.parse(time.dateTime));
    const node = time.firstChild;
    if (text && node && node.data !== text) node.data = text;
  }
}

export function startTicking(serverTime) {
  ahead = Date.parse(serverTime) - Date.now() || 0;
  wordTimes(document);
  setInterval(() => document.hidden || wordTimes(document), 1000);
  document.addEventListener("visibilitychange", () => document.hidden || wordTimes(document));
}
