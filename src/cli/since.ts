import { RepriseError } from "../domain/errors.ts";

const AGE = /^(\d{1,6})([mhdw])$/;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60e3, h: 3600e3, d: 86400e3, w: 604800e3 };

/** `2026-11-21`, a full ISO time, or an age such as `90m`, `12h`, `7d`, `2w`. */
export function parseSince(text: string, now: number): number {
  const age = AGE.exec(text);
  if (age !== null) return now - Number(age[1]) * (UNIT_MS[age[2] as string] as number);
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(time)) {
    throw new RepriseError(
      "usage",
      `Cannot use --since ${JSON.stringify(text)}: it is neither a date nor an age`,
      {
        hint: "Give a date such as 2026-11-21, or an age such as 12h or 7d",
      },
    );
  }
  return time;
}
