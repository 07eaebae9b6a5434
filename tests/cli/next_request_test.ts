/** The preview of a request is the request: the same flags, the same bytes, whatever the session's state. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { type Json, sha256 } from "../support/files.ts";
import { answer, message, reasoning, type Script } from "../support/scripted_api/responses.ts";
import { says, startMessagesServer, text } from "../support/scripted_api/messages.ts";
import type { CallOptions } from "../support/reprise.ts";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { shortAnswer } from "./any_api.ts";
import { ok, Place, READS_A, readsThenAnswers } from "./harness.ts";

const PROMPT = "And now?";
const SCHEMA = { type: "object", properties: {}, required: [], additionalProperties: false };
const CUT = answer([reasoning("Hm"), ...READS_A.kind === "stream" ? READS_A.items : []], {
  end: { kind: "cut" },
});

/** Cuts off the answer to the prompt "cut"; otherwise reads a file, then answers so long that a checkpoint shortens the history. */
const script: Script = ({ input }) => {
  if (JSON.stringify(input.at(-1)).includes('"cut"')) return CUT;
  return input.at(-1)?.type === "message"
    ? READS_A
    : answer([reasoning("Thinking"), message("The file says more than this line does. ".repeat(40))]);
};

/** Flags of `run` that may decide about a request's bytes, several at a time. */
const FLAGS: readonly (readonly string[])[] = [
  [],
  [
    ...["--allow", "write", "--allow", "shell:sh check.sh", "--deny", "edit_file"],
    ...["--effort", "high", "--output-schema", "schema.json", "--max-tokens", "5000"],
  ],
  ["--ask", "--instructions", "@rules.md", "--summary", "auto", "--replay", "last:1"],
  ["--replay", "none", "-m", "gpt-5.6-mini", "--auto-compact", "1"],
  ["-m", "gpt-5.6", "--replay", "family"],
];

function newPlace(): Place {
  const place = new Place(script);
  const { workspace } = place.sandbox;
  Deno.writeTextFileSync(`${workspace}/schema.json`, JSON.stringify(SCHEMA));
  Deno.writeTextFileSync(`${workspace}/rules.md`, "Answer in rhymes.\n");
  return place;
}

/** The sha256 of the body of each request of a session, oldest first. */
function sentSums(place: Place): string[] {
  return place.sandbox.turns("s").filter(({ kind }) => kind === "model")
    .map(({ request }) => request.body_sha256);
}

interface Compared extends CallOptions {
  /** Arguments of `run` without those that preview it. */
  readonly args: readonly string[];
  /** Flags that the run alone takes. */
  readonly more?: readonly string[];
}

/** Compares what `--body` prints and `--dry-run` reports with the first request that `run` then sends. */
async function comparePreview(place: Place, { args, more = [], ...options }: Compared): Promise<void> {
  const input = await place.call(["run", "--dry-run", "--body", ...args], options);
  const dry = await place.call(["run", "--dry-run", "--json", ...args], options);
  assert.deepEqual([input.code, dry.code], [0, 0], input.stderr + dry.stdout);
  const before = args.includes("--new") ? 0 : sentSums(place).length;
  const ran = await place.call(["run", "--json", ...more, ...args], options);
  const sent = sentSums(place)[before];
  assert.deepEqual([sha256(input.stdout), JSON.parse(dry.stdout).body_sha256], [sent, sent], ran.stdout);
}

/** States of a session `s`: what comes before, and the arguments of the next run. */
const STATES: Readonly<
  Record<string, readonly [begin: (place: Place) => Promise<unknown>, args: readonly string[]]>
> = {
  "in a new session": [() => Promise.resolve(), ["--new", "-s", "s", PROMPT]],
  "after a run whose allowances do not carry over": [
    (place) => ok(place, ["run", "--new", "-s", "s", "--allow", "write", "Hi"]),
    ["-s", "s", PROMPT],
  ],
  "after a failure, with a call that was not run": [
    (place) => place.call(["run", "--new", "-s", "s", "cut"]),
    ["-s", "s"],
  ],
  "after a checkpoint": [async (place) => {
    await place.session("s");
    await ok(place, ["compact", "s", "--tail-events", "0"]);
  }, ["-s", "s", PROMPT]],
};

for (const [state, [begin, args]] of Object.entries(STATES)) {
  test.long(`--body and --dry-run are the request that run sends: ${state}`, async (t) => {
    for (const flags of FLAGS) {
      await t.step(flags.join(" ") || "without flags", async () => {
        await using place = newPlace();
        await begin(place);
        await comparePreview(place, { args: [...flags, ...args] });
      });
    }
  });
}

test("--body and --dry-run are the request that run sends: of a played fixture", async () => {
  await using place = newPlace();
  await place.session("s");
  const fixture = writeFixture(`${place.sandbox.directory}/fixture`, [{ body: shortAnswer("/responses") }], {
    base_url: "https://recorded.example/v1",
  });
  const args = ["-s", "s", "--fixture", fixture, "--allow", "write", PROMPT];
  const env = { REPRISE_EFFORT: "high", OPENAI_API_KEY: "" };
  await comparePreview(place, { args, more: ["--match", "sequence"], env });
});

test("--body and --dry-run are the request that run sends: to the Messages API", async () => {
  await using server = startMessagesServer({ script: () => says([text("Alpha.")]) });
  await using place = newPlace();
  const env = { ANTHROPIC_BASE_URL: server.baseUrl, ANTHROPIC_API_KEY: "sk-ant" };
  const flags = ["-p", "anthropic", "-m", "claude-sonnet-4-5", "--effort", "high", "--max-tokens", "5000"];
  for (const session of [["--new", "-s", "s"], ["-s", "s"]]) {
    await comparePreview(place, { args: [...flags, ...session, PROMPT], env });
  }
});

/** Report of `explain` about the prefix. */
async function prefixOf(place: Place, ...flags: readonly string[]): Promise<Json> {
  return JSON.parse(await ok(place, ["explain", "s", "--json", ...flags])).prefix;
}

test("after run --allow, explain and the previews name the flags that keep the prefix", async () => {
  await using place = new Place(readsThenAnswers);
  const keep = ["--allow", "shell:sh check.sh", "--allow", "write"];
  await ok(place, ["run", "--new", "-s", "s", "--allow", "write", "--allow", "shell:sh check.sh", "Hi"]);
  assert.deepEqual(await prefixOf(place), { extends: true, with: keep });
  const named = "give --allow 'shell:sh check.sh' --allow write again to keep its prompt cache";
  const run = ["run", "-s", "s", PROMPT, "--dry-run"];
  assert.ok((await ok(place, ["explain", "s"])).includes(named));
  assert.ok((await ok(place, run)).includes("--allow 'shell:sh check.sh' --allow write"));
  assert.match((await place.call([...run, "--body"])).stderr, /--allow 'shell:sh check.sh' --allow write/);
  assert.equal((await place.call([...run, "--body", ...keep])).stderr, "");
  for (const [flags, named] of [[[], keep], [["--allow", "edit_file"], undefined]] as const) {
    const { prefix } = JSON.parse(await ok(place, [...run, "--json", ...flags]));
    assert.deepEqual([prefix.extends, prefix.with], [false, named], "it is the request with these flags");
  }
  const last = place.server.requests.at(-1)?.text ?? "";
  const { length } = place.server.requests;
  await ok(place, ["run", "-s", "s", ...keep, PROMPT]);
  assert.ok(place.server.requests[length]?.text.startsWith(last.slice(0, -2)));
});
