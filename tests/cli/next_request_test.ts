/** The preview of a request is the request: the same flags, the same bytes, whatever the session's state. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { sha256Hex } from "../../src/domain/hash.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { answer, message, reasoning, type Script } from "../support/responses_server.ts";
import { says, startMessagesServer, text, toolUse } from "../support/messages_server.ts";
import type { CallOptions } from "../support/reprise.ts";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { shortAnswer } from "./any_api.ts";
import { HELLO, Place, READS_A, readsThenAnswers } from "./harness.ts";

const PROMPT = "And now?";
const SCHEMA = { type: "object", properties: {}, required: [], additionalProperties: false };

/** Reads a file, then answers at length, so that a checkpoint makes the history smaller. */
const atLength: Script = (request) =>
  request.input.at(-1)?.type === "message"
    ? READS_A
    : answer([reasoning("Thinking"), message("The file says more than this line does. ".repeat(40))]);

/** Flags of `run` that may decide about a request's bytes, several at a time. */
const FLAGS: readonly (readonly string[])[] = [
  [],
  [
    ...["--allow", "write", "--allow", "shell:sh check.sh", "--deny", "edit_file"],
    ...["--output-schema", "schema.json"],
  ],
  ["--ask", "--instructions", "@rules.md", "--effort", "high", "--summary", "auto"],
  ["--deny", "read_file", "--instructions", "Be brief.", "--effort", "", "--replay", "last:1"],
  ["--replay", "none", "-m", "gpt-5.6-mini", "--max-tokens", "5000"],
  ["-m", "gpt-5.6", "--replay", "family"],
  ["--replay", "none", "--auto-compact", "1"],
];

/** A place with the files that {@linkcode FLAGS} name. */
function placeOf(script: Script): Place {
  const place = new Place(script);
  const { workspace } = place.sandbox;
  Deno.writeTextFileSync(`${workspace}/schema.json`, JSON.stringify(SCHEMA));
  Deno.writeTextFileSync(`${workspace}/rules.md`, "Answer in rhymes.\n");
  return place;
}

/** The sha256 of the body of each request of a session, oldest first. */
function sentSums(place: Place, session = "s"): string[] {
  return place.sandbox.turns(session).filter(({ kind }) => kind === "model")
    .map(({ request }) => request.body_sha256);
}

interface Compared extends CallOptions {
  /** `null` continues without a prompt. */
  readonly prompt?: string | null;
  /** Names the session. @default {["-s", "s"]} */
  readonly session?: readonly string[];
}

/** Compares what `--body` prints and `--dry-run` reports with the first request that `run` then sends. */
async function comparePreview(place: Place, flags: readonly string[], options: Compared = {}): Promise<void> {
  const { prompt = PROMPT, session = ["-s", "s"], ...call } = options;
  const argument = prompt === null ? [] : [prompt];
  const [input, dry] = await Promise.all([
    place.call(["run", "--dry-run", "--body", ...session, ...flags, ...argument], call),
    place.call(["run", "--dry-run", "--json", ...session, ...flags, ...argument], call),
  ]);
  assert.equal(input.code, 0, input.stderr);
  assert.equal(dry.code, 0, dry.stdout);
  const before = session.includes("--new") ? 0 : sentSums(place).length;
  const ran = await place.call(["run", "--json", ...session, ...flags, ...argument], call);
  const sent = sentSums(place)[before];
  const shown = `${flags.join(" ")}: ${ran.stdout}`;
  assert.equal(sha256Hex(input.stdout), sent, `input ${shown}`);
  assert.equal(JSON.parse(dry.stdout).body_sha256, sent, `--dry-run ${shown}`);
}

/** One test of a state: a step for each set of flags, each in a session of its own. */
function comparing(
  state: string,
  script: Script,
  begin: (place: Place) => Promise<Compared | void>,
  table = FLAGS,
): void {
  test.long(`--body and --dry-run are the request that run sends: ${state}`, async (t) => {
    for (const flags of table) {
      await t.step(flags.join(" ") || "without flags", async () => {
        await using place = placeOf(script);
        await comparePreview(place, flags, await begin(place) ?? {});
      });
    }
  });
}

comparing(
  "in a new session",
  atLength,
  () => Promise.resolve({ session: ["--new", "-s", "s"] }),
  [[], [
    ...["--allow", "write", "--deny", "edit_file", "--effort", "high"],
    ...["--output-schema", "schema.json", "--max-tokens", "5000"],
  ]],
);

comparing("in a resumed session", atLength, async (place) => {
  await place.session("s");
});

comparing("after a run with --allow, whose allowances do not carry over", atLength, async (place) => {
  const first = ["run", "--json", "--new", "-s", "s", "--allow", "write", "Hi"];
  assert.equal((await place.call(first)).code, 0);
}, [[], ["--allow", "write"]]);

const CUT = answer([reasoning("Hm"), ...READS_A.kind === "stream" ? READS_A.items : []], {
  end: { kind: "cut" },
});
comparing(
  "after a failure, with a call that was not run",
  ({ input }) =>
    JSON.stringify(input).includes("first") && input.length === 1 ? CUT : answer([message("Yes")]),
  async (place) => {
    assert.equal((await place.call(["run", "--json", "--new", "-s", "s", "first"])).code, 10);
    return { prompt: null };
  },
  [[], ["--allow", "write", "--replay", "none"], ["--auto-compact", "1"]],
);

comparing("after a checkpoint", atLength, async (place) => {
  await place.session("s");
  await place.session("t");
  const compacted = await place.call(["compact", "s", "--tail-events", "0"]);
  assert.equal(compacted.code, 0, compacted.stderr);
}, [[], ["--allow", "write", "--replay", "last:0", "-m", "gpt-5.6-mini"], ["--auto-compact", "1"]]);

test("--body and --dry-run are the request that run sends: of a played fixture", async (t) => {
  for (const session of [["--new", "-s", "n"], ["-s", "s"]]) {
    await t.step(session.join(" "), async () => {
      await using place = placeOf(readsThenAnswers);
      await place.session("s");
      const fixture = writeFixture(`${place.sandbox.directory}/fixture`, [{
        body: shortAnswer("/responses"),
      }], {
        base_url: "https://recorded.example/v1",
      });
      const env = { REPRISE_EFFORT: "high", OPENAI_API_KEY: "" };
      const id = session.at(-1) ?? "";
      const flags = ["--fixture", fixture, "--allow", "write"];
      const input = await place.call(["run", "--dry-run", "--body", ...session, ...flags, PROMPT], { env });
      assert.equal(input.code, 0, input.stderr);
      const run = ["run", "--json", ...session, ...flags, "--match", "sequence", PROMPT];
      assert.equal((await place.call(run, { env })).code, 0);
      assert.equal(sha256Hex(input.stdout), sentSums(place, id).at(-1));
    });
  }
});

test("--body and --dry-run are the request that run sends: to the Messages API", async (t) => {
  const flagsOf = (...flags: readonly string[]) => ["-p", "anthropic", "-m", "claude-sonnet-4-5", ...flags];
  for (const flags of [[], ["--allow", "write", "--effort", "high", "--max-tokens", "5000"]]) {
    await t.step(flags.join(" ") || "without flags", async () => {
      await using server = startMessagesServer({
        script: ({ blocks }) =>
          blocks.at(-1)?.type === "text"
            ? says([toolUse("read_file", JSON.stringify({ path: "a.txt", offset: null, limit: null }))])
            : says([text("Alpha.")]),
      });
      await using place = placeOf(atLength);
      const env = { ANTHROPIC_BASE_URL: server.baseUrl, ANTHROPIC_API_KEY: "sk-ant" };
      await comparePreview(place, flagsOf(...flags), { session: ["--new", "-s", "s"], env });
      await comparePreview(place, flagsOf(...flags), { env });
    });
  }
});

/** Report of `explain` about the prefix. */
async function prefixOf(place: Place, ...flags: readonly string[]): Promise<JsonObject> {
  return JSON.parse((await place.call(["explain", "s", "--json", ...flags])).stdout).prefix;
}

test("after run --allow, explain raises no false alarm and names the flags that keep the prefix", async (t) => {
  await using place = placeOf(readsThenAnswers);
  const allowed = ["--allow", "write", "--allow", "shell:sh check.sh"];
  const first = ["run", "--json", "--new", "-s", "s", ...allowed, "Hi"];
  assert.equal((await place.call(first)).code, 0);
  const keep = ["--allow", "shell:sh check.sh", "--allow", "write"];
  await t.step("explain", async () => {
    assert.deepEqual(await prefixOf(place), { extends: true, with: keep });
    const shown = (await place.call(["explain", "s"])).stdout.split("\n");
    assert.match(shown[0] ?? "", /^It extends the last request: the prompt cache can serve that part/);
    assert.match(
      shown[1] ?? "",
      /give --allow 'shell:sh check.sh' --allow write again to keep its prompt cache/,
    );
  });
  await t.step("--dry-run with other permissions judges those", async () => {
    const args = ["run", "--dry-run", "--json", "-s", "s", "--allow", "edit_file", PROMPT];
    const { prefix } = JSON.parse((await place.call(args)).stdout);
    assert.deepEqual([prefix.extends, prefix.item], [false, null]);
  });
  await t.step("--body and --dry-run name them too", async () => {
    const line = "--allow 'shell:sh check.sh' --allow write";
    const input = await place.call(["run", "-s", "s", "--dry-run", "--body", PROMPT]);
    assert.ok(input.stderr.includes(line), input.stderr);
    assert.equal(
      (await place.call(["run", "-s", "s", "--dry-run", "--body", PROMPT, ...allowed])).stderr,
      "",
    );
    const dry = await place.call(["run", "--dry-run", "-s", "s", PROMPT]);
    assert.ok(dry.stdout.includes(line), dry.stdout);
    const json = JSON.parse((await place.call(["run", "--dry-run", "--json", "-s", "s", PROMPT])).stdout);
    assert.deepEqual(
      [json.prefix.extends, json.prefix.with],
      [false, keep],
      "it is the request without them",
    );
  });
  await t.step("and with them the run sends that prefix", async () => {
    const last = place.server.requests.at(-1)?.text ?? "";
    const number = place.server.requests.length;
    assert.equal((await place.call(["run", "--json", "-s", "s", ...keep, PROMPT])).code, 0);
    assert.ok(place.server.requests[number]?.text.startsWith(last.slice(0, -2)));
  });
});

test("explain names other flags that keep the prefix: replay, window, schema", async (t) => {
  await t.step("--replay none", async () => {
    await using place = placeOf(readsThenAnswers);
    await place.session("s");
    assert.equal((await place.call(["run", "--json", "-s", "s", "--replay", "none", "Hi"])).code, 0);
    assert.deepEqual(await prefixOf(place), { extends: true, with: ["--replay", "none"] });
    assert.equal(
      (await prefixOf(place, "--replay", "exact")).extends,
      false,
      "a flag of this call counts first",
    );
  });
  await t.step("--replay last:N, for a run that continues without a prompt", async () => {
    const cut = answer([message("Half")], { end: { kind: "cut" } });
    await using place = placeOf(({ input }) =>
      JSON.stringify(input).includes("cut") ? cut : input.at(-1)?.type === "message" ? READS_A : HELLO
    );
    await place.session("s");
    assert.equal((await place.call(["run", "--json", "-s", "s", "--replay", "last:0", "cut"])).code, 10);
    assert.deepEqual(await prefixOf(place), { extends: true, with: ["--replay", "last:0"] });
  });
  await t.step("--output-schema", async () => {
    const fits = answer([message("{}")]);
    await using place = placeOf(({ input }) => input.at(-1)?.type === "message" ? READS_A : fits);
    const flags = ["--output-schema", "schema.json"];
    assert.equal((await place.call(["run", "--json", "--new", "-s", "s", ...flags, "Hi"])).code, 0);
    assert.deepEqual(await prefixOf(place), { extends: true, with: ["--output-schema", "FILE"] });
  });
  await t.step("a token budget is no part of the prompt", async () => {
    await using place = placeOf(readsThenAnswers);
    assert.equal(
      (await place.call(["run", "--json", "--new", "-s", "s", "--max-tokens", "9000", "Hi"])).code,
      0,
    );
    assert.deepEqual(await prefixOf(place), { extends: true });
  });
});
