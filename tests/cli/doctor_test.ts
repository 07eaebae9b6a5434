/** doctor: its exit code says whether a run could start, and no broken setting hides the rest. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { lacksBinary, lacksLinux, needing } from "../support/needs.ts";
import { PROGRAM } from "../support/reprise.ts";
import { configure, HELLO, KEY, LACKS_MODES, ok, Place, WITH_MODES } from "./harness.ts";

interface Options {
  readonly env?: Record<string, string>;
  readonly through?: readonly string[];
}

/** Runs doctor: its exit code, its checks by their names, and the names of those that failed. */
async function report(place: Place, flags: readonly string[] = [], options: Options = {}) {
  const called = await place.call(["doctor", ...flags, "--json"], options);
  const { exit_code, ok, checks } = JSON.parse(called.stdout);
  assert.deepEqual([called.code, ok], [exit_code, called.code === 0]);
  assert.ok(!`${called.stdout}${called.stderr}`.includes(KEY), "the key is never shown");
  const wrong: string[] = checks.filter(({ level }: Json) => level !== "ok").map(({ name }: Json) => name);
  const byName = new Map<string, Json>(checks.map((check: Json) => [check.name, check]));
  return { code: called.code, wrong, byName };
}

/** Checks that every report has. */
const ALWAYS = ["home", "endpoint", "model", "permissions", "key", "network"];

/** Variables, or a configuration, without which no run starts, and the checks that fail. */
const BROKEN: readonly (readonly [env: Record<string, string>, config: string, wrong: readonly string[]])[] =
  [
    [{ OPENAI_API_KEY: "" }, "{}", ["key"]],
    [{ REPRISE_MODEL: "" }, "{}", ["model"]],
    [{ OPENAI_BASE_URL: "", REPRISE_PROVIDER: "compatible" }, "{}", ["endpoint"]],
    [{ REPRISE_RESPONSE_TIMEOUT: "abc", OPENAI_BASE_URL: "no url" }, "{}", ["endpoint", "settings"]],
    [{}, "{", ["configuration"]],
    [{}, '{"allow":["nonsense"]}', ["permissions"]],
  ];

test("doctor exits as a run would: with 0, or as the run that could not start, and with all other checks", async () => {
  await using place = new Place(() => HELLO);
  const { code, wrong } = await report(place);
  assert.deepEqual({ code, wrong }, { code: 0, wrong: [] });
  assert.match(await ok(place, ["doctor"]), /\nA run could start\n$/);
  await ok(place, ["run", "--json", "Hi"]);
  for (const [env, config, expected] of BROKEN) {
    configure(place.sandbox, {});
    Deno.writeTextFileSync(`${place.sandbox.directory}/.config/reprise/config.json`, config);
    const { code, wrong, byName } = await report(place, [], { env });
    assert.deepEqual([code, wrong], [2, expected], config);
    assert.deepEqual(ALWAYS.filter((name) => !byName.has(name)), []);
    assert.equal((await place.call(["run", "--json", "Hi"], { env })).code, 2, config);
  }
  const { stdout } = await place.call(["doctor"]);
  assert.match(stdout, /\nA run could not start: permissions\n$/);
});

test.process({
  ...needing(
    "an executable that differs from what was built says so, at its start or to doctor",
    lacksBinary(),
    lacksLinux(),
  ),
  fn: async () => {
    await using place = new Place([]);
    const path = `${place.sandbox.directory}/reprise`;
    const bytes = Deno.readFileSync(PROGRAM[0] ?? "");
    const checked = async () => {
      Deno.writeFileSync(path, bytes, { mode: 0o755 });
      // The harness starts the program as the last arguments of this one.
      const through = ["/bin/sh", "-c", `shift; exec ${path} "$@"`, "sh"];
      const { byName, code } = await report(place, [], { through });
      return [code, byName.get("executable")?.level];
    };
    assert.deepEqual(await checked(), [0, "ok"]);
    // Blank at the end of the index: only the checksum knows it.
    const mark = new TextEncoder().encode("reprise-parts 1\n{");
    const index = bytes.findIndex((_, at) => mark.every((byte, offset) => bytes[at + offset] === byte));
    bytes[index + 1023] = 0x21;
    assert.deepEqual(await checked(), [1, "failed"]);
    // A part that was not written: its code cannot be told from blanks.
    const [, places = ""] = new TextDecoder().decode(bytes.subarray(index, index + 1024)).split("\n");
    const [at, length] = JSON.parse(places)["listing.js"];
    bytes.fill(0, index + 1024 + at, index + 1024 + at + length);
    Deno.writeFileSync(path, bytes, { mode: 0o755 });
    const through = ["/bin/sh", "-c", `shift; exec ${path} "$@"`, "sh"];
    const says = /^error: Cannot run ".*reprise": its file was cut or changed \(.*\)\nhint: Install .*\n$/;
    const starts = async () => {
      const ls = await place.start(["ls"], { through }).ended();
      assert.deepEqual([ls.code, ls.stdout], [1, ""]);
      assert.match(ls.stderr, says);
    };
    await starts();
    bytes[index] = 0;
    Deno.writeFileSync(path, bytes, { mode: 0o755 });
    await starts();
    Deno.truncateSync(path, bytes.length - 1);
    const cut = await place.start(["--version"], { through }).ended();
    assert.deepEqual([cut.code, cut.stdout], [1, ""]);
    assert.match(cut.stderr, /Could not find standalone binary section/);
  },
});

test.process(needing("doctor reports a home that cannot be written", LACKS_MODES), async () => {
  await using place = new Place([]);
  const home = `${place.sandbox.directory}/closed`;
  Deno.mkdirSync(home, { mode: 0o500 });
  for (const REPRISE_HOME of [home, `${home}/below`]) {
    const { code, wrong } = await report(place, [], { env: { REPRISE_HOME }, through: WITH_MODES });
    assert.deepEqual({ code, wrong }, { code: 14, wrong: ["home"] });
  }
});
