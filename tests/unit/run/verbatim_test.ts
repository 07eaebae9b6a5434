/** Items of a provider, to the letter: from the stream to the turn file, and from there into the request. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import type { Item } from "../../../src/domain/event.ts";
import { encodeTurn, type ModelTurn, type Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { FoldTarget } from "../../../src/fold/guard.ts";
import { messagesApi } from "../../../src/apis/messages/api.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import type { RunApi } from "../../../src/apis/api.ts";
import { eventsOfResponse } from "../../../src/run/request_step.ts";
import { openEnvelope } from "../../../src/store/read/turn_file.ts";
import { judgeTurn } from "../../../src/store/read/turn.ts";
import { History, TARGET } from "../../support/history.ts";
import { jsonText, spaced } from "../../support/json_texts.ts";
import { test } from "../../support/test.ts";

const CLAUDE: FoldTarget = {
  ...TARGET,
  model: "claude-opus-5",
  fingerprint: { ...TARGET.fingerprint, provider: "anthropic" },
  needs: foldNeedsOf("anthropic"),
};

/** Turns a stream of events, given as JSON texts, into a turn file and the request that is made from it. */
function journey(api: RunApi, events: readonly string[], target: FoldTarget) {
  const assembler = api.newAssembler();
  const updates = [
    ...events.flatMap((data) => assembler.feed({ event: undefined, data })),
    ...assembler.end(),
  ];
  const items = updates.flatMap((update) => update.kind === "item" ? [update.item as Item] : []);
  const finished = updates.find((update) => update.kind === "finished");
  assert.ok(finished?.kind === "finished" && finished.response.status === "completed");
  assert.deepEqual(finished.response.notices, []);
  const history = new History().user("x").model([{ type: "message", role: "assistant", content: "" }], {
    fingerprint: target.fingerprint,
    asked: target.model,
  });
  const [opening, model] = history.turns as [Turn, ModelTurn];
  const { bytes } = encodeTurn({ ...model, events: eventsOfResponse(items, finished.response) }, {
    session: "s",
    turn: 2,
    firstSeq: 2,
    prev: opening.sum,
    at: model.at,
  });
  const envelope = openEnvelope(bytes);
  assert.ok(envelope.status === "ok");
  const judged = judgeTurn(envelope.value);
  assert.ok(judged.status === "ok", JSON.stringify(judged));
  const { entries } = foldHistory([opening, judged.turn], target);
  return {
    file: new TextDecoder().decode(bytes),
    body: api.bodyOf({ model: target.model }, entries),
    usage: api.usageOf(finished.response.usage ?? {}),
  };
}

function contains(text: string, part: string, where: string): void {
  assert.ok(text.includes(part), `${part} is not in the ${where}: ${text}`);
}

const BLOB = '"encrypted_content":"gAAAA"';

test.long("an item of the Responses API is in the turn file and in the request as the stream had it", () => {
  fc.assert(
    fc.property(jsonText, jsonText, fc.boolean(), (one, two, isSpaced) => {
      const items = [
        `{"id":"rs_1","type":"reasoning","summary":[{"1":${one},"0":${two}}],${BLOB},"content":[${two}]}`,
        `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","logprobs":${one}}]}`,
        `{"type":"function_call","call_id":"c","name":"f","arguments":"{\\"a\\":1.0}"}`,
        `{"10":${one},"type":"strange_call","2":${two},"deep":[${one}]}`,
      ];
      const usage = `{"input_tokens":12.0,"cost":${one},"7":${two}}`;
      const done = items.map((item, index) =>
        `{"type":"response.output_item.done","output_index":${index},"item":${item}}`
      );
      const output = `[${items.join(",")}]`;
      const end =
        `{"type":"response.completed","response":{"id":"r","status":"completed","output":${output},` +
        `"usage":${usage}}}`;
      const events = [...done, end].map((data) => isSpaced ? spaced(data) : data);
      const found = journey(responsesApi, events, TARGET);
      for (const item of items) {
        contains(found.file, item, "turn file");
        contains(found.body, item, "request");
      }
      contains(found.file, usage, "turn file");
      assert.equal(found.usage.input_tokens, 12);
    }),
    { seed: 17, numRuns: 300 },
  );
});

Deno.test("an item that only the terminal event lists is kept to the letter too", () => {
  const item = '{"type":"strange_call","b":1.0,"1":-0}';
  const end = `{"type":"response.completed","response":{"id":"r","status":"completed","output":[${item}]}}`;
  const assembler = responsesApi.newAssembler();
  const [update] = assembler.feed({ event: undefined, data: end });
  assert.ok(update?.kind === "item");
  assert.equal(JSON.stringify(update.item), item);
});

test.long("a content block of the Messages API is in the turn file and in the request as the stream had it", () => {
  fc.assert(
    fc.property(jsonText, jsonText, fc.nat(), fc.boolean(), (one, two, cut, isSpaced) => {
      const input = `{"b":${one},"1":${two},"a":{"10":1.0,"9":${one}}}`;
      const search = `{"5":${one},"type":"web_search_tool_result","tool_use_id":"srv_1","content":[${two}]}`;
      const citation = `{"type":"char_location","0":${one},"start_char_index":1.0}`;
      const at = cut % input.length;
      const pieces = [input.slice(0, at), input.slice(at)].map((piece) =>
        `{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":${
          JSON.stringify(piece)
        }}}`
      );
      const start = (index: number, block: string) =>
        `{"type":"content_block_start","index":${index},"content_block":${block}}`;
      const stop = (index: number) => `{"type":"content_block_stop","index":${index}}`;
      const usage = `{"input_tokens":12.0,"cost":${one},"output_tokens":3}`;
      const events = [
        `{"type":"message_start","message":{"id":"m","model":"claude-opus-5","usage":${usage}}}`,
        start(0, '{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"1":1.0,"0":2}}'),
        stop(0),
        start(1, search),
        stop(1),
        start(2, '{"type":"text","text":"Hello"}'),
        `{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":${citation}}}`,
        stop(2),
        start(3, '{"type":"tool_use","id":"toolu_1","name":"f","input":{}}'),
        ...pieces,
        stop(3),
        '{"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
        '{"type":"message_stop"}',
      ];
      const found = journey(messagesApi, events.map((data) => isSpaced ? spaced(data) : data), CLAUDE);
      for (
        const part of [`"input":${input}`, '"input":{"1":1.0,"0":2}', search, `"citations":[${citation}]`]
      ) {
        contains(found.file, part, "turn file");
        contains(found.body, part, "request");
      }
      contains(found.file, usage, "turn file");
      assert.deepEqual([found.usage.input_tokens, found.usage.output_tokens], [12, 3]);
    }),
    { seed: 19, numRuns: 300 },
  );
});

Deno.test("text with half a character is made well-formed around unchanged numbers", () => {
  const item = '{"type":"strange_call","text":"\\ud800","1":1.0,"b":12345678901234567890,"0":-0}';
  const events = [
    `{"type":"response.output_item.done","output_index":0,"item":${item}}`,
    '{"type":"response.completed","response":{"id":"r","status":"completed"}}',
  ];
  const { file, body } = journey(responsesApi, events, TARGET);
  contains(file, item, "turn file");
  contains(body, item.replace("\\ud800", "\ufffd"), "request");
});
