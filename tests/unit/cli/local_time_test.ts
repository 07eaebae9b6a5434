import assert from "node:assert/strict";
import { clockTime, localTime, secondsBetween, zoneOf } from "../../../src/cli/local_time.ts";

/** The local time zone of this process: tests of the program set another one. */
const local = new Date("2026-11-21T20:18:00.000Z");

Deno.test("a time is shown with the date, and without it after a time of the same day", () => {
  const shown = localTime("2026-11-21T20:18:00.000Z");
  assert.match(shown, /^2026-11-2[12] \d\d:\d\d:00$/);
  assert.equal(shown.slice(11, 13), String(local.getHours()).padStart(2, "0"));
  assert.equal(clockTime("2026-11-21T20:18:00.000Z", "2026-11-21T20:17:59.000Z"), shown.slice(11));
  assert.equal(clockTime("2026-11-21T20:18:00.000Z", "2026-11-11T20:17:59.000Z"), shown);
});

Deno.test("a text that is no time is shown verbatim, and has no zone and no duration", () => {
  assert.deepEqual([localTime("soon"), clockTime("soon", ""), zoneOf("soon")], ["soon", "soon", ""]);
  assert.deepEqual([
    secondsBetween("soon", "later"),
    secondsBetween("2026-11-21T20:18:01Z", "2026-11-21T20:18:00Z"),
  ], [
    null,
    null,
  ]);
  assert.equal(secondsBetween("2026-11-21T20:18:00.000Z", "2026-11-21T20:18:01.250Z"), "1.3");
});
