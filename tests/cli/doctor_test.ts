/** doctor: its exit code says whether a run could start, and no broken setting hides the rest. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { lacksBinary, lacksLinux, needing } from "../support/needs.ts";
import { PROGRAM } from "../support/reprise.ts";
import { LACKS_MODES, Place, readsThenAnswers, WITH_MODES } from "./harness.ts";

interface Report {
  readonly ok: boolean;
  readonly exit_code: number;
  readonly checks: readonly { readonly name: string; readonly level: string; readonly detail: string }[];
}

async function report(
  place: Place,
  { env = {}, through = [] }: {
    readonly env?: Record<string, string>;
    readonly through?: readonly string[];
  },
) {
  const called = await place.call(["doctor", "--json"], { env, through });
  const parsed: Report = JSON.parse(called.stdout);
  assert.equal(called.code, parsed.exit_code);
  assert.equal(parsed.ok, called.code === 0);
  const wrong = parsed.checks.filter(({ level }) => level !== "ok").map(({ name }) => name);
  return { code: called.code, wrong, checks: parsed.checks };
}

/** Fails unless doctor and a run of the same settings end with the same code. */
async function assertSameAsRun(
  place: Place,
  expected: { readonly code: number; readonly wrong: readonly string[] },
  env: Record<string, string>,
): Promise<void> {
  const { code, wrong } = await report(place, { env });
  assert.deepEqual({ code, wrong }, expected);
  const run = await place.call(["run", "--json", "Hi"], { env });
  assert.equal(run.code, code, run.stdout);
}

test("doctor exits with 0 if a run could start", async () => {
  await using place = new Place(readsThenAnswers);
  await assertSameAsRun(place, { code: 0, wrong: [] }, {});
  assert.match((await place.call(["doctor"])).stdout, /\nA run could start\n$/);
});

test.process({
  ...needing("doctor reports an executable that differs from what was built", lacksBinary(), lacksLinux()),
  fn: async () => {
    await using place = new Place([]);
    const [program = ""] = PROGRAM;
    const path = `${place.sandbox.directory}/reprise`;
    const bytes = Deno.readFileSync(program);
    const checked = async () => {
      Deno.writeFileSync(path, bytes, { mode: 0o755 });
      // The harness starts the program as the last arguments of this one.
      const { checks, code } = await report(place, {
        through: ["/bin/sh", "-c", `shift; exec ${path} "$@"`, "sh"],
      });
      return { code, level: checks.find(({ name }) => name === "executable")?.level };
    };
    assert.deepEqual(await checked(), { code: 0, level: "ok" });
    // Blank at the end of the index: only the checksum knows it.
    const mark = new TextEncoder().encode("reprise-parts 1\n{");
    const index = bytes.findIndex((_, at) => mark.every((byte, offset) => bytes[at + offset] === byte));
    bytes[index + 1023] = 0x21;
    assert.deepEqual(await checked(), { code: 1, level: "failed" });
  },
});

test("doctor exits as the run that could not start: without a key, a model, a base URL", async () => {
  await using place = new Place([]);
  await assertSameAsRun(place, { code: 2, wrong: ["key"] }, { OPENAI_API_KEY: "" });
  await assertSameAsRun(place, { code: 2, wrong: ["model"] }, { REPRISE_MODEL: "" });
  await assertSameAsRun(place, { code: 2, wrong: ["endpoint"] }, {
    OPENAI_BASE_URL: "",
    REPRISE_PROVIDER: "compatible",
  });
  await assertSameAsRun(place, { code: 2, wrong: ["key"] }, { OPENAI_BASE_URL: "http://far.example/v1" });
  const { stdout } = await place.call(["doctor"], { env: { OPENAI_API_KEY: "" } });
  assert.match(stdout, /\nA run could not start: key\n$/);
});

test("doctor reports a broken configuration and all other checks", async () => {
  await using place = new Place([]);
  Deno.mkdirSync(`${place.sandbox.directory}/.config/reprise`, { recursive: true });
  const file = `${place.sandbox.directory}/.config/reprise/config.json`;
  for (const content of ["{", "[]", '{"api_key":"x"}', '{"profile":"gone"}', '{"allow":["nonsense"]}']) {
    Deno.writeTextFileSync(file, content);
    const { code, wrong, checks } = await report(place, {});
    assert.equal(code, 2, content);
    assert.deepEqual(wrong, [content.includes("allow") ? "permissions" : "configuration"], content);
    assert.ok(checks.some(({ name, level }) => name === "key" && level === "ok"), content);
    assert.equal((await place.call(["run", "--json", "Hi"])).code, 2, content);
  }
});

test.process(needing("doctor reports a home that cannot be written", LACKS_MODES), async () => {
  await using place = new Place([]);
  const home = `${place.sandbox.directory}/closed`;
  Deno.mkdirSync(home, { mode: 0o500 });
  for (const REPRISE_HOME of [home, `${home}/below`]) {
    const { code, wrong } = await report(place, { env: { REPRISE_HOME }, through: WITH_MODES });
    assert.deepEqual({ code, wrong }, { code: 14, wrong: ["home"] });
  }
});
