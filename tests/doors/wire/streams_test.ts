/** Bytes of a stream, in any cutting, and the turn that they become. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { recordingNames, recordingText } from "../../support/recordings.ts";
import { jsonText, spaced } from "../../support/json_texts.ts";
import { startMessagesServer } from "../../support/messages_server.ts";
import { startResponsesServer } from "../../support/responses_server.ts";
import { test } from "../../support/test.ts";
import { said, SessionHome } from "../sessions/home.ts";
import type { Json } from "../sessions/session_files.ts";

const encoder = new TextEncoder();

/** Pieces of one to thirty bytes: lines, characters and marks are all cut somewhere. */
function pieces(bytes: Uint8Array<ArrayBuffer>, seed: number): Uint8Array<ArrayBuffer>[] {
  const cut: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0, size = seed; at < bytes.length; at += size) {
    size = 1 + (size * 7 + at) % 30;
    cut.push(bytes.slice(at, at + size));
  }
  return cut;
}

/** The same events as a stream: as servers write them, and with all that a stream may have beside that. */
const FORMS: Readonly<Record<string, (events: readonly string[]) => Uint8Array<ArrayBuffer>[]>> = {
  whole: (events) => [encoder.encode(events.map(plain).join(""))],
  "in pieces": (events) => pieces(encoder.encode(events.map(plain).join("")), 3),
  "with CRLF, comments, ids and a mark, in pieces": (events) =>
    pieces(
      encoder.encode(
        `\ufeff${events.map((data, at) => `: ü ${at}\r\nid: ${at}\r\ndata:${data}\r\n\r\n`).join("")}`,
      ),
      5,
    ),
};
const plain = (data: string) => `event: ${/"type":"([^"]*)"/.exec(data)?.[1]}\ndata: ${data}\n\n`;

/** A home whose next requests get these chunks. */
class Streamed extends SessionHome {
  chunks: readonly Uint8Array<ArrayBuffer>[] = [];
  readonly #server;
  readonly #flags: readonly string[];

  constructor(isClaude: boolean) {
    super();
    const script = () => ({ kind: "bytes" as const, chunks: this.chunks });
    this.#server = isClaude
      ? startMessagesServer({ script })
      : startResponsesServer({ script, rules: "none" });
    const of = isClaude ? ["-p", "anthropic", "-m", "claude-opus-5"] : ["-m", "gpt-5.6"];
    this.#flags = ["--base-url", this.#server.baseUrl, "--max-steps", "1", ...of];
  }

  #call(...args: readonly string[]) {
    const env = { OPENAI_API_KEY: "sk-1", ANTHROPIC_API_KEY: "sk-1" };
    return this.call([...args, ...this.#flags, "Go"], { env });
  }

  /** The turn of a new session's answer. */
  async turnOf(id: string): Promise<Json> {
    const called = await this.#call("run", "--json", "--new", "-s", id);
    return this.turns(id).find(({ kind }) => kind === "model") ?? assert.fail(said(called));
  }

  /** The text of that turn's file, and of the next request. */
  async textsOf(id: string): Promise<readonly [string, string]> {
    const { turn } = await this.turnOf(id);
    const path = `${this.home}/sessions/${id}/turns/${String(turn).padStart(6, "0")}.json`;
    const called = await this.#call("run", "--dry-run", "--body", "-s", id);
    assert.equal(called.code, 0, said(called));
    return [Deno.readTextFileSync(path), called.stdout];
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
    await super[Symbol.asyncDispose]();
  }
}

/** Recordings of an error, which the program waits for and tries again, or ends with before any item. */
const ERRORS = /error_event|failed|broken_json/;
const isEnd = (data: string) => /"type":"response\.(completed|incomplete|failed)"/.test(data);

for (
  const name of recordingNames("responses", "messages").filter((each) =>
    each.endsWith(".chunks.txt") && !ERRORS.test(each)
  )
) {
  test.long(`the recorded stream ${name} becomes the same turn however it is cut`, async () => {
    const events = recordingText(name).split("\n").filter((line) => line.trim() !== "");
    await using home = new Streamed(name.startsWith("messages/"));
    const turns = [];
    for (const [at, form] of Object.values(FORMS).entries()) {
      home.chunks = form(events);
      const { events: found, response, model } = await home.turnOf(`s${at}`);
      turns.push({ found, response, model });
    }
    for (const turn of turns) assert.deepEqual(turn, turns[0]);
    if (name.startsWith("messages/")) return;
    const end = events.findIndex(isEnd);
    const done = (end < 0 ? events : events.slice(0, end)).map((data) => JSON.parse(data)).filter((
      { type },
    ) => type === "response.output_item.done");
    const items = turns[0]?.found.filter(({ item }: Json) => item !== undefined).map(({ item }: Json) =>
      item
    );
    assert.equal(JSON.stringify(items), JSON.stringify(done.map(({ item }) => item)));
  });
}

const contains = (text: string, part: string) => assert.ok(text.includes(part), `${part} is not in ${text}`);

test.long("an item of the Responses API is in the turn file and in the request as the stream had it", async () => {
  await using home = new Streamed(false);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(jsonText, jsonText, fc.boolean(), async (one, two, isSpaced) => {
      const blob = '"encrypted_content":"gAAAA"';
      const items = [
        `{"id":"rs_1","type":"reasoning","summary":[{"1":${one},"0":${two}}],${blob},"content":[${two}]}`,
        `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","logprobs":${one}}]}`,
        `{"10":${one},"type":"strange_item","2":${two},"deep":[${one}]}`,
      ];
      const usage = `{"input_tokens":12.0,"cost":${one},"7":${two}}`;
      const done = items.map((item, index) =>
        `{"type":"response.output_item.done","output_index":${index},"item":${item}}`
      );
      const end =
        `{"type":"response.completed","response":{"id":"r","status":"completed","output":[${items}],` +
        `"usage":${usage}}}`;
      home.chunks = FORMS.whole?.([...done, end].map((data) =>
        isSpaced ? `${spaced(data).replaceAll("\n", "")}` : data
      )) ?? [];
      const [file, body] = await home.textsOf(`s${++count}`);
      for (const item of items) {
        contains(file, item);
        contains(body, item);
      }
      contains(file, usage);
    }),
    { seed: 17, numRuns: 30 },
  );
});

test.long("a content block of the Messages API is in the turn file and in the request as the stream had it", async () => {
  await using home = new Streamed(true);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(jsonText, jsonText, fc.nat(), async (one, two, cut) => {
      const input = `{"b":${one},"1":${two},"a":{"10":1.0,"9":${one}}}`;
      const search = `{"5":${one},"type":"web_search_tool_result","tool_use_id":"srv_1","content":[${two}]}`;
      const citation = `{"type":"char_location","0":${one},"start_char_index":1.0}`;
      const usage = `{"input_tokens":12.0,"cost":${one},"output_tokens":3}`;
      const at = cut % input.length;
      const delta = (index: number, text: string) =>
        `{"type":"content_block_delta","index":${index},"delta":${text}}`;
      const json = [input.slice(0, at), input.slice(at)].map((piece) =>
        delta(3, `{"type":"input_json_delta","partial_json":${JSON.stringify(piece)}}`)
      );
      const block = (index: number, text: string, ...deltas: readonly string[]) => [
        `{"type":"content_block_start","index":${index},"content_block":${text}}`,
        ...deltas,
        `{"type":"content_block_stop","index":${index}}`,
      ];
      home.chunks = FORMS.whole?.([
        `{"type":"message_start","message":{"id":"m","model":"claude-opus-5","usage":${usage}}}`,
        ...block(0, '{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"1":1.0,"0":2}}'),
        ...block(1, search),
        ...block(
          2,
          '{"type":"text","text":"Hello"}',
          delta(2, `{"type":"citations_delta","citation":${citation}}`),
        ),
        ...block(3, '{"type":"tool_use","id":"toolu_1","name":"f","input":{}}', ...json),
        '{"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
        '{"type":"message_stop"}',
      ]) ?? [];
      const [file, body] = await home.textsOf(`s${++count}`);
      for (
        const part of [`"input":${input}`, '"input":{"1":1.0,"0":2}', search, `"citations":[${citation}]`]
      ) {
        contains(file, part);
        contains(body, part);
      }
      contains(file, usage);
    }),
    { seed: 19, numRuns: 30 },
  );
});

test.long("half a character is kept in the turn, and made whole in the request", async () => {
  await using home = new Streamed(false);
  const item = '{"type":"strange_item","text":"\\ud800","1":1.0,"b":12345678901234567890,"0":-0}';
  home.chunks = FORMS["in pieces"]?.([
    `{"type":"response.output_item.done","output_index":0,"item":${item}}`,
    '{"type":"response.completed","response":{"id":"r","status":"completed"}}',
  ]) ?? [];
  const [file, body] = await home.textsOf("s");
  contains(file, item);
  contains(body, item.replace("\\ud800", "\ufffd"));
});
