/** Times for people, in the local time zone or in a given one. */

/** Time zone in which times are shown. Texts that are no instants stay unchanged. */
export class TimeZone {
  static readonly local = new TimeZone(null);
  readonly #offsets: Intl.DateTimeFormat | null;

  /** `name` is that of a zone, such as `Europe/Berlin`; `null` for the local one. @throws {RangeError} for any other name. */
  constructor(name: string | null) {
    this.#offsets = name === null
      ? null
      : new Intl.DateTimeFormat("en", { timeZone: name, timeZoneName: "longOffset" });
  }

  /** Date and time of an ISO 8601 instant, such as `2026-11-23 08:00:12`. */
  time(instant: string): string {
    return this.#textOf(instant) ?? instant;
  }

  /** As {@linkcode TimeZone.time}, to the minute; `?` for other texts. */
  minute(instant: string): string {
    return this.#textOf(instant)?.slice(0, -":00".length) ?? "?";
  }

  /** As {@linkcode TimeZone.time}, without the date if `before` is an instant of the same day. */
  clock(instant: string, before: string): string {
    const [day, time] = this.time(instant).split(" ");
    return time !== undefined && this.time(before).startsWith(`${day} `) ? time : this.time(instant);
  }

  day(instant: string): string {
    return this.time(instant).split(" ", 1)[0] as string;
  }

  /** Two instants with their offsets from UTC, which summer time may change between them. */
  span(first: string, last: string): string {
    const [before, after] = [this.#labelOf(first), this.#labelOf(last)];
    return `${this.time(first)}${before === after ? "" : ` ${before}`} to ${this.time(last)} ${after}`.trim();
  }

  /** The beginning of a day such as `2026-11-21`, in milliseconds since the epoch. */
  startOf(day: string): number {
    const midnight = Date.parse(`${day}T00:00Z`);
    const guess = midnight - this.#offsetAt(midnight) * 60_000;
    return midnight - this.#offsetAt(guess) * 60_000;
  }

  /** Offset from UTC in minutes. */
  #offsetAt(time: number): number {
    if (this.#offsets === null) return -new Date(time).getTimezoneOffset();
    const { value = "" } = this.#offsets.formatToParts(time).find(({ type }) => type === "timeZoneName") ??
      {};
    const [, sign, hours = "0", minutes = "0"] = /^GMT([+-])(\d\d):(\d\d)/.exec(value) ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  }

  /** The offset at an instant, such as `UTC+01:00`; empty if the text is no instant. */
  #labelOf(instant: string): string {
    const time = Date.parse(instant);
    if (Number.isNaN(time)) return "";
    const minutes = this.#offsetAt(time);
    if (minutes === 0) return "UTC";
    const parts = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    return `UTC${minutes < 0 ? "-" : "+"}${parts.map((part) => String(part).padStart(2, "0")).join(":")}`;
  }

  #textOf(instant: string): string | null {
    const time = Date.parse(instant);
    if (Number.isNaN(time)) return null;
    const shown = new Date(time + this.#offsetAt(time) * 60_000);
    return Number.isNaN(shown.getTime())
      ? null
      : shown.toISOString().slice(0, -".000Z".length).replace("T", " ");
  }
}

/** Seconds from one instant to a later one, with one decimal; `null` if they are not that. */
export function secondsBetween(from: string, to: string): string | null {
  const milliseconds = new Date(to).getTime() - new Date(from).getTime();
  return milliseconds >= 0 ? (milliseconds / 1000).toFixed(1) : null;
}
