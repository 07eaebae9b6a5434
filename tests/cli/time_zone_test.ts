/** Times and days that people read: in the local time zone, or in that of --tz; JSON has UTC. */
import type { Json } from "../support/files.ts";
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { bytesOf, ImportHome } from "../doors/transcripts/transcripts.ts";
import { assertError } from "./harness.ts";

const item = (timestamp: string, role: string, type: string, text: string) => ({
  timestamp,
  type: "response_item",
  payload: { type: "message", role, content: [{ type, text }] },
});
const counted = (input_tokens: number) => ({
  type: "event_msg",
  payload: { type: "token_count", info: { last_token_usage: { input_tokens, output_tokens: 1 } } },
});
const run = (at: string, input: number) => [
  item(at, "user", "input_text", "Look"),
  item(at, "assistant", "output_text", "Seen"),
  counted(input),
];

/** Requests before and after midnight, in summer and in winter. */
const LINES = [
  ...run("2026-07-01T21:59:59Z", 1),
  ...run("2026-07-01T22:00:00Z", 2),
  ...run("2026-01-15T22:59:59Z", 4),
  ...run("2026-01-15T23:00:00Z", 8),
];

/** Time zones, and the input tokens of each day. */
const DAYS: readonly (readonly [string, Json])[] = [
  ["Europe/Berlin", { "2026-07-01": 1, "2026-07-02": 2, "2026-01-15": 4, "2026-01-16": 8 }],
  ["UTC", { "2026-07-01": 3, "2026-01-15": 12 }],
  ["Asia/Kathmandu", { "2026-07-02": 3, "2026-01-16": 12 }],
  ["America/St_Johns", { "2026-07-01": 3, "2026-01-15": 12 }],
];

/** Asserts the days of each view. */
async function requireDays(
  flags: readonly string[],
  env: Record<string, string>,
  wanted: Json,
): Promise<void> {
  await using home = new ImportHome();
  const { session } = await home.import(bytesOf(LINES));
  for (const args of [["stats"], ["stats", session], ["show", session]]) {
    const { stdout } = await home.call([...args, ...flags, "--json"], { env });
    const { days } = args[0] === "show" ? JSON.parse(stdout).spending : JSON.parse(stdout);
    const sums = days.map(({ day, input_tokens }: Json) => [day, input_tokens]);
    assert.deepEqual(Object.fromEntries(sums), wanted, `${JSON.stringify([flags, env])} ${args[0]}`);
  }
}

test("stats and show count days in the time zone of --tz", async () => {
  for (const [zone, wanted] of DAYS) await requireDays(["--tz", zone], {}, wanted);
});

test.process("stats and show count days in the local time zone, if --tz names no other", async () => {
  for (const [TZ, wanted] of DAYS.slice(0, 2)) await requireDays([], { TZ }, wanted);
  await requireDays(["--tz", "UTC"], { TZ: "Europe/Berlin" }, DAYS[1]?.[1]);
});

/** `--since` with its time zone, and the input tokens from then on. */
const SINCE: readonly (readonly [string, string, number | null])[] = [
  ["2026-07-02", "Europe/Berlin", 2],
  ["2026-07-01", "Europe/Berlin", 3],
  ["2026-07-02", "UTC", 0],
  ["2026-01-16", "Europe/Berlin", 11],
  ["2026-07-01T22:00:00Z", "Asia/Tokyo", 2],
];

test("a day of --since begins at midnight in the time zone", async () => {
  await using home = new ImportHome();
  await home.import(bytesOf(LINES));
  for (const [since, tz, input] of SINCE) {
    const { stdout } = await home.call(["stats", "--json", "--since", since, "--tz", tz]);
    assert.equal(JSON.parse(stdout).total.input_tokens, input, `${since} ${tz}`);
  }
});

test.process("show, ls and search have times in the time zone, each with its offset", async () => {
  await using home = new ImportHome();
  const { session } = await home.import(bytesOf(LINES.slice(0, 3)));
  const berlin = ["--tz", "Europe/Berlin"];
  const text = async (...args: string[]) => (await home.call(args, { env: { TZ: "Asia/Tokyo" } })).stdout;
  const { at } = home.turns(session).at(-1);
  const shown = (zone: string) => new Date(at).toLocaleString("sv-SE", { timeZone: zone });
  const show = await text("show", session, ...berlin);
  const offset = /GMT(.*)/.exec(
    new Date(at).toLocaleString("en", { timeZone: "Europe/Berlin", timeZoneName: "longOffset" }),
  )?.[1];
  const label = offset === "+02:00" ? "" : " UTC+02:00";
  assert.ok(show.includes(`2026-07-01 23:59:59${label} to ${shown("Europe/Berlin")} UTC${offset}\n`), show);
  assert.match(show, /── 1 · run 1 · user · 2026-07-01 23:59:59 · seq 1\n/);
  assert.match(await text("show", session), /── 1 · run 1 · user · 2026-07-02 06:59:59 · seq 1\n/);
  assert.match(await text("show", session, "--tz", "utc"), /^time +2026-07-01 21:59:59 to .* UTC$/m);
  for (const [flags, zone] of [[berlin, "Europe/Berlin"], [[], "Asia/Tokyo"]] as const) {
    for (const args of [["ls"], ["search", "Seen"]]) {
      assert.ok((await text(...args, ...flags)).includes(shown(zone).slice(0, 16)), `${args[0]} ${zone}`);
    }
  }
  assertError(await home.call(["ls", "--json", "--tz", "Nowhere"]), { code: "usage", exit: 2 });
});
