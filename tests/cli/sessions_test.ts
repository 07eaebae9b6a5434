/** The stories of tests/sessions: which promises they show, and what their requests hold. The API's rules accepted each. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { checkStepArguments } from "../../src/cli/step_arguments.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { readFixture } from "../../src/fixture/read.ts";
import { readSessionFile } from "../../src/fixture/session/session_file.ts";
import { denoFiles } from "../../src/store/deno_files.ts";

const SUITE = new URL("../sessions/", import.meta.url).pathname;
const NAMES = [...Deno.readDirSync(SUITE)].map(({ name }) => name);

/** One request of a session, and the finished items of its answer. */
interface Exchange {
  readonly body: JsonObject & {
    readonly input?: readonly JsonObject[];
    readonly tools?: readonly JsonObject[];
  };
  readonly text: string;
  readonly finished: readonly JsonObject[];
}

/** The exchanges of a session, by its steps that ask. */
function stepsOf(name: string): Exchange[][] {
  return readSessionFile(denoFiles, `${SUITE}${name}`, checkStepArguments).steps.flatMap(({ fixture }) =>
    fixture === undefined ? [] : [
      readFixture(denoFiles, `${SUITE}${name}/${fixture}`).exchanges.map(({ request, response }) => {
        const text = textOf(request.body);
        return { body: JSON.parse(text), text, finished: finishedItems(textOf(response.body)) };
      }),
    ]
  );
}

function textOf(bytes: Uint8Array | null): string {
  return new TextDecoder().decode(bytes ?? new Uint8Array());
}

function finishedItems(stream: string): JsonObject[] {
  return [...stream.matchAll(/^data: (\{.*\})$/gm)].flatMap(([, data = ""]) => {
    const event = JSON.parse(data);
    return event.type === "response.output_item.done" ? [event.item] : [];
  });
}

function inputOf({ body }: Exchange): readonly JsonObject[] {
  return body.input ?? [];
}

const reasoningOf = (exchange: Exchange) => inputOf(exchange).filter(({ type }) => type === "reasoning");

/** Number of reasoning items in each request, a list for each step. */
const REASONING: Readonly<Record<string, readonly (readonly number[])[]>> = {
  "loop-xai": [[0, 1]],
  "refused-by-name": [[0], [2], [0], [4]],
  "refused-without-name": [[0], [2, 0], [4, 0], [4]],
  "refused-for-good": [[0], [2, 0], [2]],
};

test("reasoning is in each request of the sessions as far as it may go, and no further", () => {
  for (const [name, counts] of Object.entries(REASONING)) {
    assert.deepEqual(stepsOf(name).map((step) => step.map((each) => reasoningOf(each).length)), counts, name);
  }
});

test("a request without reasoning holds no item ids, which would ask for it", () => {
  for (const name of Object.keys(REASONING)) {
    for (const exchange of stepsOf(name).flat().filter((each) => reasoningOf(each).length === 0)) {
      assert.ok(inputOf(exchange).every(({ id }) => id === undefined), name);
    }
  }
});

const READING = ["read_file", "list_files", "search_text"];
const CHANGING = ["write_file", "edit_file", "shell"];
/** The tools that the first request of each step offers. */
const OFFERED: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "allow": [[...READING, ...CHANGING], READING],
  "deny": [READING, [...READING, "write_file", "shell"]],
};

test("the model is offered what may be allowed, in each session about permissions", () => {
  for (const [name, offered] of Object.entries(OFFERED)) {
    const tools = stepsOf(name).map(([first]) => (first?.body.tools ?? []).map((tool) => tool.name));
    assert.deepEqual(tools, offered, name);
  }
});

test("no opaque byte of one provider is in a request to the other, and each gets its own back", () => {
  const [first = [], second = [], third = [], fourth = []] = stepsOf("provider-switch");
  const blobs = [...first, ...third].flatMap(({ finished }) =>
    finished.flatMap(({ encrypted_content }) =>
      encrypted_content === undefined ? [] : [`${encrypted_content}`]
    )
  );
  assert.equal(blobs.length, 3);
  const signatures = fourth[0]?.text.match(/"signature":"[^"]+"/g) ?? [];
  assert.equal(signatures.length, 2, "both that Anthropic had made until then");
  for (const { text } of [...second, ...fourth]) {
    assert.ok(!text.includes("encrypted_content") && !blobs.some((blob) => text.includes(blob)));
  }
  for (const { text } of [...first, ...third]) assert.doesNotMatch(text, /"signature"|"thinking"/);
  assert.equal(blobs.filter((blob) => third[0]?.text.includes(blob)).length, 2);
  const calls = inputOf(third[0] as Exchange).filter(({ type }) => type === "function_call");
  assert.equal(calls[0]?.call_id, "call.one|1", "its own ids are unchanged");
  assert.match(String(calls[1]?.call_id), /^toolu_/);
  const [use] = second[0]?.text.match(/"type":"tool_use","id":"[^"]+"/) ?? [];
  assert.match(String(use), /"id":"[a-zA-Z0-9_-]{1,64}"$/);
});

test("each request of a loop has the one before as an exact prefix, and asks the server to keep nothing", () => {
  const requests = stepsOf("loop").flat();
  assert.equal(requests.length, 4);
  // Only the ends of its list and of the body follow the input.
  const inputText = ({ text }: Exchange) => text.slice(text.indexOf('"input":['), -2);
  for (const [index, request] of requests.entries()) {
    const before = index === 0 ? "" : inputText(requests[index - 1] as Exchange);
    assert.equal(inputText(request).slice(0, before.length), before, `request ${index + 1}`);
    const { store, include, stream_options, prompt_cache_key } = request.body;
    assert.deepEqual([store, include], [false, ["reasoning.encrypted_content"]]);
    assert.deepEqual([stream_options, prompt_cache_key], [{ include_obfuscation: false }, "s"]);
    for (const item of inputOf(request)) {
      if (item.type === "function_call") assert.equal("id" in item, false);
      if (item.role === "assistant") assert.match(String(item.phase), /^(commentary|final_answer)$/);
      if (item.role === "user") assert.equal("phase" in item, false);
    }
  }
});

test("in a loop reasoning goes back unaltered and in order, and results follow their calls in call order", () => {
  const requests = stepsOf("loop").flat();
  const opaque = (items: readonly JsonObject[]) =>
    items.filter(({ type }) => type === "reasoning").map(({ id, summary, encrypted_content }) => ({
      id,
      summary,
      encrypted_content,
    }));
  const made = requests.slice(0, 3).flatMap(({ finished }) => finished);
  assert.deepEqual(opaque(reasoningOf(requests[3] as Exchange)), opaque(made));
  assert.equal(opaque(made).length, 4);
  const third = inputOf(requests[2] as Exchange);
  assert.deepEqual(third.map(({ type }) => type), [
    ...["message", "reasoning", "message", "function_call", "function_call_output"],
    ...["reasoning", "function_call", "function_call", "function_call_output", "function_call_output"],
  ]);
  const [callA, callB, outA, outB] = third.slice(-4);
  assert.deepEqual([outA?.call_id, outB?.call_id], [callA?.call_id, callB?.call_id]);
  assert.match(String(outA?.output), /hello$/m);
  assert.match(String(outB?.output), /hello too$/m);
});

test("the stories show checkpoints, forks, faults, a switch of provider and a resumption after a kill", () => {
  const steps = NAMES.flatMap((name) =>
    readSessionFile(denoFiles, `${SUITE}${name}`, checkStepArguments).steps
  );
  const verbs = new Set(steps.map(({ args }) => args[0]));
  for (const verb of ["run", "compact", "fork", "interrupt", "repair"]) {
    assert.ok(verbs.has(verb), verb);
  }
  const resumed = steps.filter(({ exit }, index) => exit === 137 && steps[index + 1]?.state === "completed");
  assert.ok(resumed.length >= 2);
  const exits = new Set(steps.map(({ exit }) => exit));
  for (const exit of [0, 4, 9, 10, 13, 124, 130, 137]) assert.ok(exits.has(exit), String(exit));
});

test("each story says its promise in one line of its own", () => {
  const notes = NAMES.map((name) => readSessionFile(denoFiles, `${SUITE}${name}`, checkStepArguments).note);
  assert.ok(NAMES.length >= 29);
  assert.equal(new Set(notes).size, NAMES.length);
  for (const note of notes) assert.match(note ?? "", /^.{11,109}$/);
});
