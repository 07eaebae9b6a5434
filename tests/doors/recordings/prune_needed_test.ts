/** `fixture prune` keeps unused exchanges that used ones need, over HTTP and over a WebSocket. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { agentLoop, PROMPT, responseEvents, socketExchange } from "../../support/socket_fixture.ts";
import { answerEvents, ASKED, exchange } from "./answers.ts";
import { withHome } from "./home.ts";
import { lists, pruned, useOf } from "./prune_lists.ts";
import { exchangesOf, type GivenExchange } from "./recording_files.ts";

/** A request that continues the conversation after an answer, with this copy of its reasoning. */
function continuing(mark: string, copy: string): Json {
  const items = answerEvents(mark).filter(({ type }) => type === "response.output_item.done")
    .map(({ item }) =>
      item.type === "reasoning" ? { ...item, encrypted_content: `gAAAA${copy}${mark}` } : item
    );
  const output = { type: "function_call_output", call_id: `call_${mark}`, output: "Rain" };
  return { ...ASKED, input: [...ASKED.input, ...items, output] };
}

const single = answerEvents("one").map((event) =>
  JSON.parse(JSON.stringify(event).replaceAll(/gAAAA(?:added|completed)/g, "gAAAAdone"))
);
const other = exchange({ ...ASKED, instructions: "Be long." }, answerEvents("zero"));
const over = (message: Json, events: readonly Json[], connection = 1) =>
  socketExchange({
    message: { type: "response.create", model: "m", input: [PROMPT], ...message },
    events,
    request: { connection },
  });
const again = { previous_response_id: "resp_1", input: [] };
const FAILURE = {
  type: "error",
  status: 500,
  error: { type: "server_error", code: null, message: "no", param: null },
};
const [warmUp, ...steps] = agentLoop() as [GivenExchange, ...GivenExchange[]];

/** Exchanges, those that are used, and those that stay beside them: number, by which it is needed, and the reason. */
const NEEDED: Readonly<
  Record<string, readonly [readonly GivenExchange[], number[], ...(readonly [number, number, string])[]]>
> = {
  "a blob of which it issued several copies": [
    [other, exchange(ASKED, answerEvents("one")), exchange(continuing("one", "done"), answerEvents("two"))],
    [3],
    [2, 3, "blob"],
  ],
  "a blob of one copy": [
    [exchange(ASKED, single), exchange(continuing("one", "done"), answerEvents("two"))],
    [2],
  ],
  "a response that it continues over a WebSocket, over several steps": [
    [over({}, responseEvents("resp_9", [])), warmUp, ...steps],
    [4],
    [2, 3, "continued"],
    [3, 4, "continued"],
  ],
  "a failure after which a response was forgotten": [
    [over({}, responseEvents("resp_1", [])), over(again, [FAILURE]), over(again, [FAILURE])],
    [1, 3],
    [2, 3, "continued"],
  ],
  "a response of its own connection alone": [
    [{ ...warmUp, request: { ...warmUp.request, connection: 2 } }, warmUp, ...steps],
    [4],
    [2, 3, "continued"],
    [3, 4, "continued"],
  ],
};

for (const [name, [exchanges, used, ...issuers]] of Object.entries(NEEDED)) {
  withHome(`an unused exchange stays if a used one needs it: ${name}`, async (home) => {
    const path = home.fixture("f", exchanges);
    const before = exchangesOf(path);
    const items = async () =>
      (await home.json(["show", "f"])).exchanges.map(({ request }: Json) => request.items.length);
    const counts = await items();
    const { fixtures: [{ needed_issuers }] } = await pruned(home, "f", lists(home, [[useOf(path, ...used)]]));
    assert.deepEqual(
      needed_issuers.map(({ number, needed_by, reason }: Json) => [number, needed_by, reason]),
      issuers,
    );
    const kept = [...used, ...issuers.map(([number]) => number)].sort();
    assert.deepEqual(exchangesOf(path), kept.map((number) => before[number - 1]));
    // What a request over a WebSocket means depends on the exchanges before it.
    assert.deepEqual(await items(), kept.map((number) => counts[number - 1]));
  });
}
