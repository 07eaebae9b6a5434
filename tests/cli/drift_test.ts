/** A resume that differs from the run before: reported once, silenced, or refused. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { type Called, events } from "../support/reprise.ts";
import { assertError, HELLO, ok, Place } from "./harness.ts";

async function begun(): Promise<Place> {
  const place = new Place(() => HELLO);
  await place.session("s");
  return place;
}

function driftOf(called: Called): Json[] {
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  const started: Json = events(called).find(({ type }) => type === "run.started");
  return started.drift;
}

/** Flags that change each pin. */
const changes = (place: Place): Readonly<Record<string, readonly string[]>> => ({
  model: ["-m", "gpt-5.6-mini"],
  effort: ["--effort", "high"],
  summary: ["--summary", "auto"],
  endpoint: ["--base-url", `${place.server.baseUrl}/other`],
  instructions: ["--instructions", "Be loud."],
  permissions: ["--allow", "write", "--deny", "write"],
  tools: ["--allow", "write"],
  workspace: ["-w", place.sandbox.directory],
});

test("each pin that differs is reported in run.started, with what it does; REPRISE_STRICT_DRIFT=1 ends the run with exit 2 before anything is written or sent", async () => {
  await using place = await begun();
  const files = () => [
    place.sandbox.turnNames("s"),
    [...Deno.readDirSync(`${place.path("s")}/blobs`)].length,
    place.server.requests.length,
  ];
  const before = files();
  for (const [pin, flags] of Object.entries(changes(place))) {
    const called = await place.call(["run", "--json", "-s", "s", ...flags, "Go"], {
      env: { REPRISE_STRICT_DRIFT: "1" },
    });
    const says = new RegExp(pin);
    const { details } = assertError(called, { code: "drifted", exit: 2, says, hint: /--accept-drift/ });
    assert.ok(details.drift.some((row: Json) => row.pin === pin));
  }
  assert.deepEqual(files(), before);
  for (const [pin, flags] of Object.entries(changes(place))) {
    await using fresh = await begun();
    const moved = flags.map((flag) => flag.replace(place.server.baseUrl, fresh.server.baseUrl));
    const drift = driftOf(await fresh.call(["run", "--json", "-s", "s", ...moved, "Go"]));
    assert.ok(drift.some((row) => row.pin === pin), pin);
    for (const { before, now, effect } of drift) {
      assert.notDeepEqual(before, now);
      assert.match(effect, /cache/);
    }
  }
});

test("each pin that differs is reported in one line on stderr, which --accept-drift silences", async () => {
  await using place = await begun();
  const changed = ["-m", "gpt-5.6-mini", "--instructions", "Be loud.", "--replay", "none"];
  const shown = await place.call(["run", "-s", "s", ...changed, "Go"]);
  const lines = shown.stderr.split("\n").filter((line) => line.includes("changed since the last run"));
  assert.equal(lines.length, 1, shown.stderr);
  assert.match(String(lines[0]), /^notice: changed since the last run: model \(.+\); instructions \(.+\)$/);
  const silent = await place.call(["run", "-s", "s", "-m", "gpt-5.6", "--accept-drift", "Go"]);
  assert.equal(silent.code, 0);
  assert.ok(!silent.stderr.includes("changed since"), silent.stderr);
  const json = await place.call(["run", "--json", "-s", "s", "-m", "gpt-5.6-mini", "--accept-drift", "Go"]);
  assert.deepEqual(driftOf(json).map(({ pin }) => pin), ["model"], "the event is there all the same");
});

/** Flags and variables of one run after another, the reasoning in its request, and its drift. */
const RUNS:
  readonly (readonly [flags: readonly string[], env: Record<string, string>, sent: Json, drift: Json])[] = [
    [["--effort", "high"], {}, { effort: "high" }, [["effort", null, "high"]]],
    [[], {}, { effort: "high" }, []],
    [["--summary", "auto"], {}, { effort: "high", summary: "auto" }, [["summary", null, "auto"]]],
    // The session's counts first.
    [[], { REPRISE_EFFORT: "low" }, { effort: "high", summary: "auto" }, []],
    [["--effort", "low"], {}, { effort: "low", summary: "auto" }, [["effort", "high", "low"]]],
    [["--effort", "", "--summary", ""], {}, undefined, [["effort", "low", null], ["summary", "auto", null]]],
  ];

test("effort and summary are kept from run to run until a flag changes them; an empty one takes them back", async () => {
  await using place = await begun();
  for (const [flags, env, sent, drift] of RUNS) {
    const called = await place.call(["run", "--json", "-s", "s", ...flags, "Go"], { env });
    assert.deepEqual(driftOf(called).map(({ pin, before, now }) => [pin, before, now]), drift);
    assert.deepEqual((place.server.requests.at(-1)?.body as Json).reasoning, sent);
    const next = JSON.parse(await ok(place, ["run", "-s", "s", "--dry-run", "--body", "Go"]));
    assert.deepEqual(next.reasoning, sent);
  }
  await ok(place, ["fsck", "s", "--requests"]);
});
