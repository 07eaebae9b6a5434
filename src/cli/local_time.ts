/** Local times for people. */

/** Date and time of an ISO 8601 instant in the local time zone, such as `2026-11-23 08:00:12`; other texts unchanged. */
export function localTime(instant: string): string {
  return localTextOf(instant) ?? instant;
}

/** As {@linkcode localTime}, to the minute; `?` for other texts. */
export function localMinute(instant: string): string {
  return localTextOf(instant)?.slice(0, -":00".length) ?? "?";
}

/** As {@linkcode localTime}, without the date if `before` is an instant of the same day. */
export function clockTime(instant: string, before: string): string {
  const [day, time] = localTime(instant).split(" ");
  return time !== undefined && localTime(before).startsWith(`${day} `) ? time : localTime(instant);
}

/** The local time zone at an instant, such as `UTC+01:00`; empty if the text is no instant. */
export function zoneOf(instant: string): string {
  const minutes = -new Date(instant).getTimezoneOffset();
  if (Number.isNaN(minutes)) return "";
  if (minutes === 0) return "UTC";
  const [whole, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? "-" : "+"}${twoDigits(whole)}:${twoDigits(rest)}`;
}

/** Seconds from one instant to a later one, with one decimal; `null` if they are not that. */
export function secondsBetween(from: string, to: string): string | null {
  const milliseconds = new Date(to).getTime() - new Date(from).getTime();
  return milliseconds >= 0 ? (milliseconds / 1000).toFixed(1) : null;
}

function localTextOf(instant: string): string | null {
  const date = new Date(instant);
  return Number.isNaN(date.getTime()) ? null : `${dayOf(date)} ${timeOf(date)}`;
}

function dayOf(date: Date): string {
  const year = String(date.getFullYear()).padStart(4, "0");
  return `${year}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

function timeOf(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(":");
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
