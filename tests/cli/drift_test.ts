/** A resume that differs from the run before: reported once, silenced, or refused. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { PinChange } from "../../src/run/pins.ts";
import { type Called, events } from "../support/reprise.ts";
import { assertError, HELLO, Place } from "./harness.ts";

async function begun(): Promise<Place> {
  const place = new Place(() => HELLO);
  await place.session("s");
  return place;
}

function driftOf(called: Called): readonly PinChange[] {
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  return events(called).find((event) => event.type === "run.started")?.drift ?? [];
}

function change(place: Place): Record<Exclude<PinChange["pin"], "provider">, readonly string[]> {
  const elsewhere = `${place.sandbox.directory}/elsewhere`;
  Deno.mkdirSync(elsewhere, { recursive: true });
  return {
    model: ["-m", "gpt-5.6-mini"],
    effort: ["--effort", "high"],
    summary: ["--summary", "auto"],
    endpoint: ["--base-url", `${place.server.baseUrl}/other`],
    instructions: ["--instructions", "Be loud."],
    permissions: ["--allow", "write", "--deny", "write"],
    tools: ["--allow", "write"],
    workspace: ["-w", elsewhere],
  };
}

test("each pin that differs is reported, with what it does: in run.started", async () => {
  for (
    const pin of ["model", "effort", "summary", "endpoint", "instructions", "tools", "workspace"] as const
  ) {
    await using place = await begun();
    const called = await place.call(["run", "--json", "-s", "s", ...change(place)[pin], "Go"]);
    const pins = driftOf(called).map(({ pin }) => pin);
    assert.deepEqual(pins, pin === "tools" ? ["tools", "permissions"] : [pin]);
    for (const { before, now, effect } of driftOf(called)) {
      assert.notDeepEqual(before, now);
      assert.match(effect, /cache/);
    }
  }
});

test("each pin that differs is reported, with what it does: in one line on stderr, which --accept-drift silences", async () => {
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

const STRICT = { env: { REPRISE_STRICT_DRIFT: "1" } };

test("REPRISE_STRICT_DRIFT=1 ends a drifted run with exit 2 before anything is written or sent: for every pin", async () => {
  await using place = await begun();
  const before = place.sandbox.turnNames("s");
  const blobs = () => [...Deno.readDirSync(`${place.path("s")}/blobs`)].length;
  const kept = blobs();
  for (const [pin, flags] of Object.entries(change(place))) {
    const called = await place.call(["run", "--json", "-s", "s", ...flags, "Go"], STRICT);
    const error = assertError(called, {
      code: "drifted",
      exit: 2,
      says: new RegExp(pin),
      hint: /--accept-drift/,
    });
    const { drift } = error.details as unknown as { drift: PinChange[] };
    assert.ok(drift.some((row) => row.pin === pin));
  }
  assert.deepEqual(place.sandbox.turnNames("s"), before);
  assert.equal(blobs(), kept);
  assert.equal(place.server.requests.length, 1);
});

test("effort and summary are kept from run to run, and what changes is drift: until a flag changes them; an empty one takes them back", async () => {
  await using place = await begun();
  const reasoningOf = async (flags: readonly string[], env: Record<string, string> = {}) => {
    const called = await place.call(["run", "--json", "-s", "s", ...flags, "Go"], { env });
    const pins = driftOf(called).map(({ pin, before, now }) => [pin, before, now]);
    const { reasoning } = place.server.requests.at(-1)?.body as { readonly reasoning?: unknown };
    return [reasoning, pins];
  };
  const [high, both] = [{ effort: "high" }, { effort: "high", summary: "auto" }];
  assert.deepEqual(await reasoningOf(["--effort", "high"]), [high, [["effort", null, "high"]]]);
  assert.deepEqual(await reasoningOf([]), [high, []], "kept without the flag");
  assert.deepEqual(await reasoningOf(["--summary", "auto"]), [both, [["summary", null, "auto"]]]);
  assert.deepEqual(
    await reasoningOf([], { REPRISE_EFFORT: "low" }),
    [both, []],
    "the session's counts first",
  );
  assert.deepEqual(
    JSON.parse((await place.call(["run", "-s", "s", "--dry-run", "--body"])).stdout).reasoning,
    both,
  );
  const low = { effort: "low", summary: "auto" };
  assert.deepEqual(await reasoningOf(["--effort", "low"]), [low, [["effort", "high", "low"]]]);
  const taken = await reasoningOf(["--effort", "", "--summary", ""]);
  assert.deepEqual(taken, [undefined, [["effort", "low", null], ["summary", "auto", null]]]);
  assert.equal((await place.call(["fsck", "s", "--requests"])).code, 0);
});
