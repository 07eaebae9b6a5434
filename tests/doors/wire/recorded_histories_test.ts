/**
 * Recorded loops of other clients: the request that follows from the recorded responses is the recorded one, but for
 * what each client writes in its own way.
 */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { type Interaction, interactionsIn } from "../../support/recordings.ts";
import { type SessionHome, withHome } from "../sessions/home.ts";
import { nextRequest } from "./next_request.ts";
import { asks, type Beat, claude, says, tell } from "./story.ts";

/** Recordings of loops. */
const LOOPS = [
  "responses/encrypted_loop.yaml",
  "responses/streamed_loop.yaml",
  "responses/phase_loop.yaml",
  "responses/tool_loop.yaml",
  "responses/web_search.yaml",
  "responses/custom_tool_loop.yaml",
  "responses/retried_call.yaml",
  "responses/status_null.yaml",
  "messages/redacted.yaml",
  "messages/tool_loop.yaml",
  "messages/other_model.yaml",
  "messages/stream.yaml",
];

const without = (element: Json, ...names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(element).filter(([name]) => !names.includes(name)));
const textOf = ({ string }: Json) =>
  typeof string === "string" ? string : new TextDecoder().decode(gunzipSync(string));

/** A recorded request and the items of its answer. */
function exchangeOf({ request, response }: Interaction) {
  const text = (request as Json).body?.string ?? request.body;
  const body = (request.parsed_body ?? JSON.parse(text)) as Json;
  const answer = response.parsed_body === undefined ? textOf(response.body) : response.parsed_body as Json;
  const events = typeof answer !== "string" || !answer.startsWith("event: ") ? [] : answer.split("\n")
    .filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)));
  const whole = typeof answer === "string" && events.length === 0 ? JSON.parse(answer) : answer;
  const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
  return {
    body,
    items: (whole.output ?? whole.content ?? done) as Json[],
    isClaude: /\/messages\b/.test(request.uri),
  };
}

const elementsOf = ({ input, messages }: Json): Json[] =>
  Array.isArray(messages ?? input) ? messages ?? input : [{ role: "user", content: input }];

const blocksOf = (element: Json): Json[] =>
  element.role === "user" && Array.isArray(element.content) ? element.content : [element];

/** Texts and results that a client added to a history. */
function added(elements: readonly Json[]): Beat[] {
  const beats: Beat[] = [];
  const results: Json[] = [];
  const flush = () => {
    const got = results.splice(0);
    if (got.length > 0) beats.push(answered(got));
  };
  for (const element of elements.flatMap(blocksOf)) {
    if ((element.output ?? element.tool_use_id) !== undefined) results.push(element);
    else {
      flush();
      beats.push(asks(element.text ?? element.content));
    }
  }
  flush();
  return beats;
}

/** Results with the recorded outputs. */
const answered = (results: readonly Json[]): Beat => (story) => {
  const events = results.map(({ call_id, tool_use_id, output, content }) => {
    const id = call_id ?? tool_use_id;
    const call_seq = story.seqOf(id);
    return { type: "tool_result", call_id: id, call_seq, tool: "t", status: "ok", output: output ?? content };
  });
  story.add({ kind: "tools", events });
};

/** One form for what clients and we write differently: nothing that a server reads otherwise. */
function plain(element: Json): Json {
  const { type, role, content } = element;
  if (role === "assistant" && content === "") return [];
  if (/_call$/.test(type) && type !== "web_search_call") {
    const own = without(element, "id", "status");
    if (type === "custom_tool_call" && own.input.startsWith("{")) {
      own.input = Object.values(JSON.parse(own.input))[0];
    }
    if (own.arguments !== undefined) own.arguments = JSON.parse(own.arguments);
    return own;
  }
  if (type === "web_search_call") return { ...element, action: without(element.action, "sources") };
  if (type === "reasoning") return without(element, "status");
  if (role === undefined) return element;
  const parts = (typeof content === "string" ? [{ text: content }] : content)
    .map((part: Json) => without(part, "logprobs", "is_error", ...(part.text === undefined ? [] : ["type"])))
    // Thoughts of another provider as text: we leave them out.
    .filter(({ text }: Json) => !String(text).startsWith("<thinking>"));
  return { ...without(element, "status", "type"), content: parts };
}

async function compare(home: SessionHome, file: string): Promise<void> {
  const beats: Beat[] = [];
  let known = 0;
  for (const [index, interaction] of interactionsIn(file).entries()) {
    const { body, items, isClaude } = exchangeOf(interaction);
    const by = (made: readonly Json[]) => isClaude ? claude(made) : says(made);
    const given = elementsOf(body).filter(({ type, role }) => role === "user" || /_output$/.test(type));
    beats.push(...added(given.slice(known)));
    known = given.length;
    if (items.length > 0 && isClaude !== file.startsWith("messages/")) {
      beats.push(by(items));
      continue;
    }
    home.session(tell(...beats), `s${index}`);
    const flags = isClaude ? ["-p", "anthropic", "-m", "claude-opus-5"] : ["-p", "openai", "-m", "gpt-5.6"];
    const own = JSON.parse(await nextRequest(home, flags, { id: `s${index}` }));
    const [ours, theirs] = [own, body].map((request) => elementsOf(request).flatMap(plain));
    assert.deepEqual(ours, theirs, `request ${index + 1}`);
    if (items.length > 0) beats.push(by(items));
  }
}

for (const file of LOOPS) {
  withHome(`the responses of ${file} give the next recorded request`, (home) => compare(home, file));
}
