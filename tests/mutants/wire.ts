/** Mutants of the wire: streams, refusals, retries, and messages over a WebSocket. */
import type { Mutant } from "./mutants.ts";

/** See the module. */
export const WIRE_MUTANTS: readonly Mutant[] = [
  {
    file: "src/apis/messages/assembler.ts",
    text: "if (this.#message.begun.has(index)) return",
    replacement: "if (false) return",
    promise: "protocol.md: a content block that begins twice shows a doubled stream",
    area: ["doors/wire/streams_test.ts"],
  },
  {
    file: "src/apis/responses/ledger.ts",
    text: "if (this.#begun.has(key)) return undefined;",
    replacement: "",
    promise: "protocol.md: an item that begins twice shows a doubled stream",
    area: ["doors/wire/streams_test.ts"],
  },
  {
    file: "src/apis/responses/ledger.ts",
    text: 'return isSame(before, entry) ? "same" : "different";',
    replacement: 'return "same";',
    promise: "protocol.md: two versions of a finished item show a doubled stream",
    area: ["doors/wire/streams_test.ts"],
  },
  {
    file: "src/apis/responses/deltas.ts",
    text: "return json !== null && place === outputIndex",
    replacement: "return json !== null",
    promise: "protocol.md: deltas are the content of their own item",
    area: ["doors/wire/streams_test.ts"],
  },
  {
    file: "src/fold/history_fold.ts",
    text: "for (const call of this.#asText.values()) this.#pushAsText(call);",
    replacement: "",
    promise: "reasoning.md: a call that ran stays in sight of the model if its pairing is refused",
    area: ["doors/wire/runs_test.ts"],
  },
  {
    file: "src/apis/responses/socket/conversation.ts",
    text: 'failure.code === "request_refused" || mayBeRefusal',
    replacement: 'failure.providerCode === "previous_response_not_found"',
    promise: "run.md: over a WebSocket a refused continuation is sent whole, whatever the reason",
    area: ["doors/wire/sockets_test.ts"],
  },
  {
    file: "src/apis/refusal.ts",
    text: "new Set([400, 404, 422])",
    replacement: "new Set([400, 404, 409, 422])",
    promise: "reasoning.md: a request without reasoning follows only a status that refuses its content",
    area: ["doors/wire/refused_texts_test.ts"],
  },
  {
    file: "src/transport/exchange.ts",
    text: "asked >= options.waitLimit()",
    replacement: "asked >= 10 * options.waitLimit()",
    promise: "run.md: a run ends at once if the API asks to wait beyond --timeout",
    area: ["doors/wire/retries_test.ts"],
  },
  {
    file: "src/transport/exchange.ts",
    text: 'failure.code === "rate_limited" ? waitIn(failure.message) : null',
    replacement: "null",
    promise: "run.md: a run waits as long as the text of a rate limit asks",
    area: ["doors/wire/retries_test.ts"],
  },
  {
    file: "src/transport/sse.ts",
    text: "this.#afterCr ? LF : this.#isFirst ? MARK : NaN",
    replacement: "this.#isFirst ? MARK : NaN",
    promise: "guarantees.md: events do not depend on where a stream was cut, also inside CR LF",
    area: ["doors/wire/streams_test.ts", "unit/transport"],
  },
  {
    file: "src/apis/messages/assembler.ts",
    text: 'return [{ kind: "reset" }, ...this.#takeGiven(items)];',
    replacement: "return this.#takeGiven(items);",
    promise: "protocol.md: a second message_start with another id begins the message again",
    area: ["doors/wire/streams_test.ts"],
  },
  {
    file: "src/apis/responses/socket/conversation.ts",
    text: 'failure.code === "request_refused" || mayBeRefusal',
    replacement: "mayBeRefusal",
    promise: "protocol.md: a response that a connection no longer knows is no failure",
    area: ["doors/wire"],
  },
  {
    file: "src/apis/responses/api.ts",
    text: 'rawArgumentsAt: endpointHashes(new URL("https://api.openai.com/v1")).endpoint,',
    replacement: "rawArgumentsAt: null,",
    promise: "reasoning.md: OpenAI's own endpoint gets the arguments of a call verbatim",
    area: ["doors/wire"],
  },
];
