import assert from "node:assert/strict";
import { ageMs, ageOrDays, byteCount } from "../../../src/cli/flags.ts";
import { when } from "../../../src/cli/inspection/session_flags.ts";
import { localMinute } from "../../../src/cli/local_time.ts";
import { countText, sizeText } from "../../../src/cli/readable.ts";

Deno.test("sizes and counts have three digits and a unit", () => {
  const sizes: readonly [number, string][] = [
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [12_345, "12.3 kB"],
    [99_949, "99.9 kB"],
    [99_951, "100 kB"],
    [999_949, "1.0 MB"],
    [1_234_567_890, "1.2 GB"],
    [5e15, "5000 TB"],
  ];
  for (const [bytes, text] of sizes) assert.equal(sizeText(bytes), text);
  assert.deepEqual([0, 999, 1000, 1_250_000].map(countText), ["0", "999", "1.0k", "1.3M"]);
});

Deno.test("a time is shown in the time zone of the process, to the minute", () => {
  const at = new Date(2026, 10, 21, 8, 5, 59);
  assert.equal(localMinute(at.toISOString()), "2026-11-21 08:05");
  assert.equal(localMinute("no time"), "?");
});

Deno.test("ages have a unit, and a number alone counts days only where it always did", () => {
  assert.deepEqual(["90s", "90m", "1.5h", "7d", "2w"].map(ageMs), [90e3, 54e5, 54e5, 6048e5, 12096e5]);
  for (const text of ["7", "d", "-1d", "1y", "1e3d", ""]) assert.equal(ageMs(text), null);
  assert.equal(ageOrDays("90"), ageOrDays("90d"));
  for (const text of ["-1", "1y", "d", "200000d"]) assert.throws(() => ageOrDays(text), /Expected an age/);
});

Deno.test("sizes are read with decimal and binary units, or as bytes", () => {
  const sizes = {
    "10": 10,
    "1GB": 1e9,
    "500 MB": 5e8,
    "1.5k": 1500,
    "2GiB": 2 ** 31,
    "1kib": 1024,
    "7B": 7,
    "0": 0,
  };
  for (const [text, bytes] of Object.entries(sizes)) assert.equal(byteCount(text), bytes, text);
  for (const text of ["", "GB", "1XB", "-1", "1e9", "9999999TB"]) {
    assert.throws(() => byteCount(text), /Expected a size/, text);
  }
});

Deno.test("a date means midnight here, and an age ends now", () => {
  assert.deepEqual(when("2026-11-21"), { at: new Date(2026, 10, 21).getTime() });
  assert.deepEqual(when("2026-11-21T10:00:00Z"), { at: Date.UTC(2026, 10, 21, 10) });
  assert.deepEqual(when("12h"), { agoMs: 12 * 3600e3 });
  for (const text of ["yesterday", "7", "2026-13-45", "11/21"]) {
    assert.throws(() => when(text), /Give a date/);
  }
});
