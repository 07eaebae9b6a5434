/** Refusals of an item: the error names it, and its commands lead to a session that answers again. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import * as claude from "../support/scripted_api/messages.ts";
import { answer, httpError, message, reasoning, type Script } from "../support/scripted_api/responses.ts";
import { functionCall } from "../support/scripted_api/responses_script.ts";
import { Sandbox } from "../support/reprise.ts";
import { PNG } from "./attached_files.ts";
import { assertError, HELLO, KEY, ok, Place } from "./harness.ts";

/** A refusal of either API. */
interface Refusal {
  readonly status: number;
  readonly message: string;
  /** Members of OpenAI's errors only. */
  readonly param?: string;
  readonly code?: string;
}

interface Row {
  /** Earlier prompts, all answered. */
  readonly before?: readonly string[];
  /** The prompt that is refused, with its files. A prompt "Read a.txt" is answered with a call. */
  readonly args: readonly string[];
  /** Matches the JSON of the refused content. */
  readonly bad: RegExp;
  /** The refusal; `place` names the content as the API does. */
  readonly refusal: (place: string) => Refusal;
  readonly says: RegExp;
  readonly code?: string;
  readonly exit?: number;
  /** The verbs of the commands in the hint. */
  readonly commands: readonly string[];
}

const IMAGE = ["--attach", "shot.png"];
const IS_IMAGE = /input_image|"type":"image"/;
const FORK = ["omit", "run", "fork"];

const ROWS: Readonly<Record<string, Row>> = {
  "an image of a later prompt, named in the text": {
    before: ["Hi", "And you?"],
    args: ["--attach", "notes.txt", ...IMAGE, "Look"],
    bad: IS_IMAGE,
    refusal: (place) => ({ status: 400, message: `${place}.image: Invalid image.` }),
    says: /It names the image "shot\.png" of seq \d+ \(turn 7\)/,
    commands: FORK,
  },
  "a call that the server names by its id": {
    before: ["Hi"],
    args: ["Read a.txt"],
    bad: /"type":"(?:function_call|tool_use)"/,
    refusal: () => ({ status: 400, message: "Cannot render the tool call call_b12345" }),
    says: /It names the call of read_file of seq \d+/,
    commands: [...FORK, "run"],
  },
  "a result that the server cannot read": {
    before: ["Hi"],
    args: ["Read a.txt"],
    bad: /"output":".*alpha/,
    refusal: (place) => ({ status: 400, message: `${place}: Invalid output` }),
    says: /It names the result of read_file of seq \d+/,
    commands: FORK,
  },
  "a prompt that a filter refuses": {
    before: ["Hi"],
    args: ["a forbidden text"],
    bad: /a forbidden text/,
    refusal: () => ({
      ...{ status: 400, param: "prompt", code: "content_filter" },
      message: "The response was filtered due to the prompt triggering a content management policy.",
    }),
    says: /It is likely about the prompt of seq \d+ \(turn 4\)/,
    commands: FORK,
  },
  "a first body of 2 MB": {
    args: ["--attach", "big.txt", "Read"],
    // As text, and as base64.
    bad: /x{9999}|(?:eHh4){9999}/,
    refusal: () => ({ status: 413, message: "Request body too large", code: "request_too_large" }),
    says: /The largest item is the file "big\.txt" of seq 1 \(turn 1\), 2\.0 MB/,
    commands: ["omit", "run", "run"],
  },
  "a history that is too long": {
    before: ["Hi"],
    args: ["--attach", "big.txt", "Read"],
    bad: /x{9999}|(?:eHh4){9999}/,
    refusal: () => ({
      ...{ status: 400, code: "context_length_exceeded" },
      message: "prompt is too long: 500000 tokens > 200000 maximum",
    }),
    says: /The largest item is the file "big\.txt"/,
    code: "context_overflow",
    exit: 11,
    commands: ["compact", "omit", "run"],
  },
};

/** The place of refused content in a list of items or messages; `null` without any. */
function placeOf(list: readonly Json[], bad: RegExp): readonly [number, number] | null {
  const isBad = (one: Json) => bad.test(JSON.stringify(one));
  const at = list.findIndex(isBad);
  if (at < 0) return null;
  const { content } = list[at];
  return [at, Array.isArray(content) ? content.findIndex(isBad) : 0];
}

const ARGS = { path: "a.txt", offset: null, limit: null };
/** True once, for a history that ends with the prompt that asks for a call. */
const asksForCall = () => {
  let isDone = false;
  return (last: Json) => !isDone && JSON.stringify(last).includes("Read a.txt") && (isDone = true);
};

/** Refuses what a row calls bad; a prompt "Read a.txt" is answered once with a call. */
function refusing({ bad, refusal }: Row): Script {
  const isCall = asksForCall();
  return ({ input }) => {
    const place = placeOf(input, bad);
    if (place !== null) {
      const { status, ...error } = refusal(`input[${place[0]}].content[${place[1]}]`);
      return httpError(status, error);
    }
    const call = { ...functionCall("read_file", ARGS), callId: "call_b12345" };
    return answer([reasoning("Thinking"), isCall(input.at(-1)) ? call : message("Hello.")]);
  };
}

/** The commands that a hint names, as lists of words without the program's name. */
function commandsOf({ hint }: Json): string[][] {
  return Array.from(
    String(hint).matchAll(/reprise ((?:'[^']*'|[^'"\n,;)])+)/g),
    ([, command = ""]) =>
      (command.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", "")),
  );
}

for (const [name, row] of Object.entries(ROWS)) {
  test(`${name}: the error names it, and each command in the hint works as printed`, async () => {
    const { before = [], args, bad, says, code = "request_refused", exit = 13 } = row;
    await using place = new Place(refusing(row), { rules: "none" });
    const { workspace } = place.sandbox;
    Deno.writeFileSync(`${workspace}/shot.png`, PNG);
    const texts = { "notes.txt": "notes", "a.txt": "alpha", "big.txt": "x".repeat(2_000_000) };
    for (const [file, text] of Object.entries(texts)) Deno.writeTextFileSync(`${workspace}/${file}`, text);
    const session = (index: number) => [...index === 0 ? ["--new"] : [], "-s", "s"];
    for (const [index, prompt] of before.entries()) await ok(place, ["run", ...session(index), prompt]);
    const refused = await place.call(["run", "--json", ...session(before.length), ...args]);
    const error = assertError(refused, { code, exit, says });
    const commands = commandsOf(error);
    assert.deepEqual(commands.map(([verb]) => verb), row.commands, String(error.hint));
    const follow = async (verb: string) =>
      (await ok(place, commands.find(([first]) => first === verb) ?? [])).trim();
    if (row.commands.includes("fork")) await ok(place, ["run", "-s", await follow("fork"), "Hi again"]);
    await follow("omit");
    await follow("run");
    await ok(place, ["run", "-s", "s", "And now?"]);
    const calls = place.sandbox.turns("s").flatMap((turn): Json[] => turn.events)
      .filter(({ type }) => type === "tool_call");
    assert.equal(calls.length, args[0] === "Read a.txt" ? 1 : 0, "the model called again");
    assert.doesNotMatch(JSON.stringify(place.server.requests.at(-1)?.input), bad);
    await ok(place, ["fsck", "s", "--requests"]);
  });
}

test("a refusal of the Messages API names an image by its place", async () => {
  await using server = claude.startMessagesServer({
    key: KEY,
    script: ({ body }: Json) => {
      const [at, part] = placeOf(body.messages, IS_IMAGE) ?? [];
      return claude.apiError(400, "invalid_request_error", `messages.${at}.content.${part}: Invalid image`);
    },
  });
  await using sandbox = new Sandbox();
  Deno.writeFileSync(`${sandbox.workspace}/shot.png`, PNG);
  const flags = ["-p", "anthropic", "-m", "claude-opus-4-6", "--base-url", server.baseUrl];
  const env = { ANTHROPIC_API_KEY: KEY };
  const called = await sandbox.call(["run", "--json", "--new", "-s", "s", ...flags, ...IMAGE, "Look"], {
    env,
  });
  const error = assertError(called, {
    code: "request_refused",
    exit: 13,
    says: /image "shot\.png" of seq 1/,
  });
  assert.deepEqual(commandsOf(error).map(([verb]) => verb), ["omit", "run", "run"]);
});

test("a refused image in a message that a checkpoint keeps: the checkpoint is withdrawn first", async () => {
  let refuses = false;
  await using place = new Place(({ input }) => {
    if (!refuses) return answer([functionCall("read_file", ARGS)]);
    const isRefused = IS_IMAGE.test(JSON.stringify(input));
    return isRefused ? httpError(400, { message: "Could not process image" }) : HELLO;
  }, { rules: "none" });
  Deno.writeFileSync(`${place.sandbox.workspace}/shot.png`, PNG);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/a.txt`, "long\n".repeat(4000));
  const long = ["run", "--json", "--new", "-s", "s", "--max-steps", "3", ...IMAGE, "Look"];
  assert.equal((await place.call(long)).code, 4);
  assert.equal((await place.call(["compact", "s", "--tail-events", "2"])).code, 0);
  refuses = true;
  const refused = await place.call(["run", "--json", "-s", "s"]);
  const error = assertError(refused, { code: "request_refused", exit: 13, says: /"shot\.png" of seq 1/ });
  const commands = commandsOf(error).filter(([verb]) => verb !== "run");
  assert.deepEqual(commands.slice(0, 2).map(([verb]) => verb), ["compact", "omit"]);
  for (const command of [...commands, ["run", "-s", "s"]]) {
    const called = await place.call(command);
    assert.equal(called.code, 0, `${command.join(" ")}: ${called.stderr}`);
  }
});
