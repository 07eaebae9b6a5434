/** Refusals of an item: the error names it, and its commands lead to a session that answers again. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { shellWords } from "../../src/tools/permission/shell_words.ts";
import { httpError } from "../support/scripted_api/responses.ts";
import { answer, functionCall } from "../support/scripted_api/responses_script.ts";
import { Sandbox } from "../support/reprise.ts";
import { commandsIn } from "../unit/cli/commands_in_texts.ts";
import { PDF, PNG } from "./attached_files.ts";
import { assertError, HELLO, Place } from "./harness.ts";
import { type Behaviour, REFUSING_APIS } from "./refusing_apis.ts";

const BAD = "a forbidden text";

interface Row {
  /** Earlier prompts, all answered. */
  readonly before?: readonly string[];
  /** The prompt that is refused, with its files. */
  readonly args: readonly string[];
  readonly bad: RegExp;
  /** Refusal at a place. */
  readonly refusal: Behaviour["refusal"];
  /** True if the prompt is answered with a call. */
  readonly calls?: boolean;
  /** True for servers without WebSockets. */
  readonly overHttp?: true;
  readonly says: RegExp;
  readonly code?: string;
  readonly exit?: number;
  /** The verbs of the commands in the hint. */
  readonly commands: readonly string[];
}

const IMAGE = ["--attach", "shot.png"];
const IS_IMAGE = /input_image|"type":"image"/;
/** As text, and as base64. */
const IS_BIG = /x{9999}|(?:eHh4){9999}/;
const READ = { before: ["Hi"], args: ["Read a.txt"], calls: true } as const;

const ROWS: Readonly<Record<string, Row>> = {
  "an image of the first prompt, named by its place": {
    args: [...IMAGE, "Look"],
    bad: IS_IMAGE,
    refusal: (param) => ({ status: 400, message: `${param}: The image cannot be decoded.`, param }),
    says: /It names the image "shot\.png" of seq 1 \(turn 1\)/,
    commands: ["omit", "run", "run"],
  },
  "an image of a later prompt, named in the text": {
    before: ["Hi", "And you?"],
    args: ["--attach", "notes.txt", ...IMAGE, "Look"],
    bad: IS_IMAGE,
    refusal: (place) => ({ status: 400, message: `${place}.image: Invalid image.` }),
    says: /It names the image "shot\.png" of seq \d+ \(turn 7\)/,
    commands: ["omit", "fork", "run"],
  },
  "an image that only the words mention": {
    before: ["Hi"],
    args: [...IMAGE, "Look"],
    bad: IS_IMAGE,
    refusal: () => ({ status: 400, message: "Could not process image" }),
    says: /It is likely about the image "shot\.png" of seq \d+ \(turn 4\)/,
    commands: ["omit", "fork", "run"],
  },
  "a document, named by its place": {
    before: ["Hi"],
    args: ["--attach", "spec.pdf", "Read"],
    bad: /input_file|"type":"document"/,
    refusal: (param) => ({ status: 400, message: `${param}: The document cannot be read.`, param }),
    says: /It names the file "spec\.pdf"/,
    commands: ["omit", "fork", "run"],
  },
  "a document, named as servers of FastAPI do": {
    before: ["Hi"],
    args: ["--attach", "spec.pdf", "Read"],
    bad: /input_file|"type":"document"/,
    refusal: (place) => ({ status: 422, message: `${place}: no PDF`, inDetail: true }),
    overHttp: true,
    says: /It names the file "spec\.pdf"/,
    commands: ["omit", "fork", "run"],
  },
  "a call that the server names by its id": {
    ...READ,
    bad: /"type":"(?:function_call|tool_use)"/,
    refusal: () => ({ status: 400, message: "Cannot render the tool call call_b12345" }),
    says: /It names the call of read_file of seq \d+/,
    commands: ["omit", "fork", "run", "run"],
  },
  "a prompt that a filter refuses": {
    before: ["Hi"],
    args: [BAD],
    bad: new RegExp(BAD),
    refusal: () => ({
      status: 400,
      message: "The response was filtered due to the prompt triggering a content management policy.",
      param: "prompt",
      code: "content_filter",
    }),
    says: /It is likely about the prompt of seq \d+ \(turn 4\)/,
    commands: ["omit", "fork", "run"],
  },
  "a first prompt that a filter refuses": {
    args: [BAD],
    bad: new RegExp(BAD),
    refusal: () => ({
      status: 400,
      message: "Invalid prompt: it was flagged by a content filter.",
      code: "invalid_prompt",
    }),
    says: /It is likely about the prompt of seq 1 \(turn 1\)/,
    commands: ["omit", "run", "run"],
  },
  "a result that a filter refuses": {
    ...READ,
    bad: /function_call_output|tool_result/,
    refusal: () => ({
      status: 400,
      message: "The input was flagged by a content filter.",
      code: "content_policy_violation",
    }),
    says: /It is likely about the result of read_file/,
    commands: ["omit", "fork", "run"],
  },
  "a body of 2 MB": {
    before: ["Hi"],
    args: ["--attach", "big.txt", "Read"],
    bad: IS_BIG,
    refusal: () => ({ status: 413, message: "Request body too large", code: "request_too_large" }),
    says: /The largest item is the file "big\.txt" of seq \d+ \(turn 4\), 2\.0 MB/,
    commands: ["omit", "fork", "run"],
  },
  "a first body of 2 MB": {
    args: ["--attach", "big.txt", "Read"],
    bad: IS_BIG,
    refusal: () => ({ status: 413, message: "Request body too large", code: "request_too_large" }),
    says: /The largest item is the file "big\.txt" of seq 1 \(turn 1\), 2\.0 MB/,
    commands: ["omit", "run", "run"],
  },
  "a history that is too long": {
    before: ["Hi"],
    args: ["--attach", "big.txt", "Read"],
    bad: IS_BIG,
    refusal: () => ({
      status: 400,
      message: "prompt is too long: 500000 tokens > 200000 maximum",
      code: "context_length_exceeded",
    }),
    says: /The largest item is the file "big\.txt"/,
    code: "context_overflow",
    exit: 11,
    commands: ["compact", "omit", "run"],
  },
};

for (const [api, start] of Object.entries(REFUSING_APIS)) {
  for (const [name, row] of Object.entries(ROWS)) {
    if (row.overHttp === true && api === "Responses over a WebSocket") continue;
    test(`${api}, ${name}: the error names it, and each command in the hint works as printed`, async () => {
      const { before = [], args, bad, refusal, calls = false } = row;
      await using server = await start({ bad, refusal, calls });
      await using sandbox = new Sandbox();
      const { workspace } = sandbox;
      Deno.writeFileSync(`${workspace}/shot.png`, PNG);
      Deno.writeFileSync(`${workspace}/spec.pdf`, PDF);
      for (
        const [file, text] of [["notes.txt", "notes"], ["a.txt", "alpha"], ["big.txt", "x".repeat(2_000_000)]]
      ) {
        Deno.writeTextFileSync(`${workspace}/${file}`, text as string);
      }
      const call = (given: readonly string[]) => sandbox.call(given, { env: server.env });
      const run = async (...given: readonly string[]) => {
        const called = await call(["run", "--json", ...given]);
        assert.equal(called.code, 0, `${given.join(" ")}: ${called.stdout}${called.stderr}`);
      };
      for (const [index, prompt] of before.entries()) {
        await run(...(index === 0 ? ["--new"] : []), "-s", "s", prompt);
      }
      const refused = await call([
        "run",
        "--json",
        ...(before.length === 0 ? ["--new"] : []),
        "-s",
        "s",
        ...args,
      ]);
      const { code = "request_refused", exit = 13 } = row;
      const error = assertError(refused, { code, exit, says: row.says });
      const commands = commandsIn(String(error.hint)).map((command) => (shellWords(command) ?? []).slice(1));
      assert.deepEqual(commands.map(([verb]) => verb), row.commands, String(error.hint));
      const of = (verb: string) => commands.find(([first]) => first === verb) ?? [];
      if (row.commands.includes("fork")) {
        const forked = await call(of("fork"));
        assert.equal(forked.code, 0, forked.stderr);
        await run("-s", forked.stdout.trim(), "Hi again");
      }
      const omitted = await call(of("omit"));
      assert.equal(omitted.code, 0, omitted.stderr);
      const went = await call(of("run"));
      assert.equal(went.code, 0, went.stderr);
      await run("-s", "s", "And now?");
      assert.doesNotMatch(server.newest(), bad);
      assert.equal((await call(["fsck", "s", "--requests"])).code, 0);
    });
  }
}

test("a refused image in a message that a checkpoint keeps: the checkpoint is withdrawn first", async () => {
  let refuses = false;
  await using place = new Place(({ input }) => {
    if (refuses && IS_IMAGE.test(JSON.stringify(input))) {
      return httpError(400, { message: "Could not process image" });
    }
    return refuses
      ? HELLO
      : answer([functionCall("read_file", { path: "a.txt", offset: null, limit: null })]);
  }, { rules: "none" });
  Deno.writeFileSync(`${place.sandbox.workspace}/shot.png`, PNG);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/a.txt`, "long\n".repeat(4000));
  const long = ["run", "--json", "--new", "-s", "s", "--max-steps", "3", ...IMAGE, "Look"];
  assert.equal((await place.call(long)).code, 4);
  assert.equal((await place.call(["compact", "s", "--tail-events", "2"])).code, 0);
  refuses = true;
  const refused = await place.call(["run", "--json", "-s", "s"]);
  const error = assertError(refused, { code: "request_refused", exit: 13, says: /"shot\.png" of seq 1/ });
  const commands = commandsIn(String(error.hint)).map((command) => (shellWords(command) ?? []).slice(1));
  assert.deepEqual(commands.slice(0, 2).map(([verb]) => verb), ["compact", "omit"]);
  for (const command of commands.filter(([verb]) => verb !== "run")) {
    const called = await place.call(command);
    assert.equal(called.code, 0, `${command.join(" ")}: ${called.stderr}`);
  }
  const went = await place.call(["run", "-s", "s"]);
  assert.equal(went.code, 0, went.stderr);
});
