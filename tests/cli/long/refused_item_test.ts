/** Refusals of an item: the error names it, and its commands lead to a session that answers again. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/domain/json.ts";
import { shellWords } from "../../../src/tools/permission/shell_words.ts";
import {
  answer,
  httpError,
  message,
  reasoning,
  type RecordedRequest,
} from "../../support/responses_server.ts";
import { functionCall, rawItem, type ScriptedResponse } from "../../support/responses_server/script.ts";
import { refuseInDetail } from "../../support/responses_server/refusing.ts";
import { commandsIn } from "../../unit/cli/commands_in_texts.ts";
import { PDF, PNG } from "../attached_files.ts";
import { assertError, Place } from "../harness.ts";

const HELLO = answer([reasoning("Thinking"), message("Hello.")]);
const BAD = "a forbidden text";

interface Row {
  /** Earlier prompts, all answered. */
  readonly before?: readonly string[];
  /** The prompt that is refused, with its files. */
  readonly args: readonly string[];
  /** The refused content; its place in the request is `at`, `part`. */
  readonly bad: (item: JsonObject) => boolean;
  readonly refusal: (at: number, part: number) => ScriptedResponse;
  /** The model's answer to a prompt that is not refused. */
  readonly answer?: (request: RecordedRequest) => ScriptedResponse;
  readonly says: RegExp;
  readonly code?: string;
  readonly exit?: number;
  /** The verbs of the commands in the hint. */
  readonly commands: readonly string[];
}

const holds = (text: string) => (item: JsonObject) => JSON.stringify(item).includes(text);
const IMAGE = ["--attach", "shot.png"];
const isImage = (item: JsonObject) => /input_image|"type":"image"/.test(JSON.stringify(item));
const BIG = "x".repeat(2_000_000);
/** Answers the first prompt to read with `first`, and all else with a message. */
function once(first: ScriptedResponse): (request: RecordedRequest) => ScriptedResponse {
  let isDone = false;
  return ({ input }) => {
    if (isDone || !JSON.stringify(input.at(-1)).includes("Read")) return HELLO;
    isDone = true;
    return first;
  };
}

const ROWS: Readonly<Record<string, Row>> = {
  "an image of the first prompt, named by param": {
    args: [...IMAGE, "Look"],
    bad: isImage,
    refusal: (at, part) =>
      httpError(400, { message: "The image cannot be decoded.", param: `input[${at}].content[${part}]` }),
    says: /It names the image "shot\.png" of seq 1 \(turn 1\)/,
    commands: ["omit", "run", "run"],
  },
  "an image of a later prompt, named in the text": {
    before: ["Hi", "And you?"],
    args: ["--attach", "notes.txt", ...IMAGE, "Look"],
    bad: isImage,
    refusal: (at, part) => httpError(400, { message: `Invalid 'input[${at}].content[${part}].image_url'.` }),
    says: /It names the image "shot\.png" of seq \d+ \(turn 7\)/,
    commands: ["omit", "fork", "run"],
  },
  "an image that only the words mention": {
    before: ["Hi"],
    args: [...IMAGE, "Look"],
    bad: isImage,
    refusal: () => httpError(400, { message: "Could not process image" }),
    says: /It is likely about the image "shot\.png" of seq \d+ \(turn 4\)/,
    commands: ["omit", "fork", "run"],
  },
  "a document that a server of FastAPI refuses": {
    before: ["Hi"],
    args: ["--attach", "spec.pdf", "Read"],
    bad: holds("input_file"),
    refusal: (at, part) =>
      refuseInDetail(422, [{
        type: "value_error",
        loc: ["body", "input", at, "content", part],
        msg: "no PDF",
      }]),
    says: /It names the file "spec\.pdf"/,
    commands: ["omit", "fork", "run"],
  },
  "a prompt that a filter refuses": {
    before: ["Hi"],
    args: [BAD],
    bad: holds(BAD),
    refusal: () =>
      httpError(400, {
        message: "The response was filtered due to the prompt triggering a content management policy.",
        param: "prompt",
        code: "content_filter",
      }),
    says: /It is likely about the prompt of seq \d+ \(turn 4\)/,
    commands: ["omit", "fork", "run"],
  },
  "a first prompt that a filter refuses": {
    args: [BAD],
    bad: holds(BAD),
    refusal: () => httpError(400, { message: "Invalid prompt: it was flagged.", code: "invalid_prompt" }),
    says: /It is likely about the prompt of seq 1 \(turn 1\)/,
    commands: ["omit", "run", "run"],
  },
  "a result that a filter refuses": {
    before: ["Hi"],
    args: ["Read a.txt"],
    bad: (item) => item.type === "function_call_output",
    refusal: () => httpError(400, { message: "The input was flagged.", code: "content_policy_violation" }),
    answer: once(answer([functionCall("read_file", { path: "a.txt", offset: null, limit: null })])),
    says: /It is likely about the result of read_file/,
    commands: ["omit", "fork", "run"],
  },
  "a call that the server names by its id": {
    before: ["Hi"],
    args: ["Read a.txt"],
    bad: ({ type }) => type === "function_call",
    refusal: () => httpError(400, { message: "Cannot render the tool call call_b12345" }),
    answer: once(
      answer([rawItem({
        type: "function_call",
        call_id: "call_b12345",
        name: "read_file",
        arguments: '{"path":"a.txt"}',
        status: "completed",
      })]),
    ),
    says: /It names the call of read_file of seq \d+/,
    commands: ["omit", "fork", "run", "run"],
  },
  "a body of 2 MB": {
    before: ["Hi"],
    args: ["--attach", "big.txt", "Read"],
    bad: (item) => JSON.stringify(item).length > 1_000_000,
    refusal: () => httpError(413, { message: "Request body too large", code: "request_too_large" }),
    says: /The largest item is the file "big\.txt" of seq \d+ \(turn 4\), 2\.0 MB/,
    commands: ["omit", "fork", "run"],
  },
  "a history that is too long": {
    before: ["Hi"],
    args: ["--attach", "big.txt", "Read"],
    bad: (item) => JSON.stringify(item).length > 1_000_000,
    refusal: () => httpError(400, { message: "Too long.", code: "context_length_exceeded" }),
    says: /The largest item is the file "big\.txt"/,
    code: "context_overflow",
    exit: 11,
    commands: ["compact", "omit", "run"],
  },
};

for (const [name, row] of Object.entries(ROWS)) {
  Deno.test(`${name}: the error names it, and each command in the hint works as printed`, async () => {
    await using place = new Place((request) => {
      const at = request.input.findIndex(row.bad);
      if (at < 0) return row.answer?.(request) ?? HELLO;
      const { content } = request.input[at] ?? {};
      const part = Array.isArray(content) ? content.findIndex((one) => row.bad(one as JsonObject)) : 0;
      return row.refusal(at, part);
    }, { rules: "none" });
    const { workspace } = place.sandbox;
    Deno.writeFileSync(`${workspace}/shot.png`, PNG);
    Deno.writeFileSync(`${workspace}/spec.pdf`, PDF);
    Deno.writeTextFileSync(`${workspace}/notes.txt`, "notes");
    Deno.writeTextFileSync(`${workspace}/big.txt`, BIG);
    const run = async (...args: readonly string[]) => {
      const called = await place.call(["run", "--json", ...args]);
      assert.equal(called.code, 0, `${args.join(" ")}: ${called.stdout}${called.stderr}`);
    };
    const prompts = row.before ?? [];
    for (const [index, prompt] of prompts.entries()) {
      await run(...(index === 0 ? ["--new"] : []), "-s", "s", prompt);
    }
    const begins = prompts.length === 0 ? ["--new"] : [];
    const refused = await place.call(["run", "--json", ...begins, "-s", "s", ...row.args]);
    const { code = "request_refused", exit = 13 } = row;
    const error = assertError(refused, { code, exit, says: row.says });
    const commands = commandsIn(String(error.hint)).map((command) => (shellWords(command) ?? []).slice(1));
    assert.deepEqual(commands.map(([verb]) => verb), row.commands, String(error.hint));
    const of = (verb: string) => commands.find(([first]) => first === verb) ?? [];
    if (row.commands.includes("fork")) {
      const forked = await place.call(of("fork"));
      assert.equal(forked.code, 0, forked.stderr);
      await run("-s", forked.stdout.trim(), "Hi again");
    }
    const omitted = await place.call(of("omit"));
    assert.equal(omitted.code, 0, omitted.stderr);
    const went = await place.call(of("run"));
    assert.equal(went.code, 0, went.stderr);
    await run("-s", "s", "And now?");
    assert.ok(place.server.requests.at(-1)?.input.every((item) => !row.bad(item)));
    for (const verb of ["fsck", "verify"]) assert.equal((await place.call([verb, "s"])).code, 0, verb);
  });
}

Deno.test("a refused image in a message that a checkpoint keeps: the checkpoint is withdrawn first", async () => {
  let refuses = false;
  await using place = new Place(({ input }) => {
    if (refuses && input.some(isImage)) return httpError(400, { message: "Could not process image" });
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
  assert.deepEqual(commands.slice(0, 2).map(([verb]) => verb), ["uncompact", "omit"]);
  for (const command of commands.filter(([verb]) => verb !== "run")) {
    const called = await place.call(command);
    assert.equal(called.code, 0, `${command.join(" ")}: ${called.stderr}`);
  }
  const went = await place.call(["run", "-s", "s"]);
  assert.equal(went.code, 0, went.stderr);
});
