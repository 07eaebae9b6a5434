/** `record --fault`: the API's whole answer is recorded, then the client gets it with the fault, as from `serve`. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { answering, RawUpstream } from "../../support/raw_upstream.ts";
import { withHome } from "./home.ts";
import { exchangesOf } from "./recording_files.ts";
import { Served } from "./served.ts";
import { ask } from "./shapes.ts";
import { answerEvents, framed } from "./answers.ts";

const WHOLE = framed(answerEvents("0123456789abcdef", { words: ["Hi"] }));
const STREAM = { head: "200 OK\r\ncontent-type: text/event-stream", body: WHOLE };
const [A, B] = [ask("A", { stream: true }), ask("B", { stream: true })];

/** Faults, the requests that a client sends in turn, what it gets each time, and the number of recorded exchanges. */
interface Row {
  readonly faults: readonly string[];
  readonly requests: readonly Json[];
  /** Status, with `broken` for a connection that breaks, and the part of the recorded text that arrived. */
  readonly outcomes: readonly string[];
  readonly recorded: number;
}

const ROWS: Readonly<Record<string, Row>> = {
  "an error, then the answer": {
    ...{ faults: ["fail, ok"], requests: [A, A], recorded: 1 },
    outcomes: ["500 other", "200 whole"],
  },
  "a permanent error": {
    ...{ faults: ["*: 529"], requests: [A, A, A], recorded: 1 },
    outcomes: ["529 other", "529 other", "529 other"],
  },
  "a cut stream, then a broken connection, then the answer": {
    ...{ faults: ["cut after 2 events, reset after 2 events, ok"], requests: [A, A, A], recorded: 1 },
    outcomes: ["200 begin", "broken", "200 whole"],
  },
  "the second of two requests": {
    ...{ faults: ["2: 429 retry-after 1"], requests: [A, B, B], recorded: 2 },
    outcomes: ["200 whole", "429 other", "200 whole"],
  },
  "a fault of an exchange, whenever it comes": {
    ...{ faults: ["exchange 2: 503"], requests: [A, B, B], recorded: 2 },
    outcomes: ["200 whole", "503 other", "200 whole"],
  },
  // A client does not send its request again after these, so the next one is a request of its own.
  "a harmless fault": {
    ...{ faults: ["comments"], requests: [A, A], recorded: 2 },
    outcomes: ["200 other", "200 whole"],
  },
};

async function outcome(answered: Promise<Response>): Promise<string> {
  const answer = await answered;
  const text = await answer.text().catch(() => null);
  if (text === null) return "broken";
  const part = text === WHOLE ? "whole" : text !== "" && WHOLE.startsWith(text) ? "begin" : "other";
  return `${answer.status} ${part}`;
}

for (const [name, { faults, requests, outcomes, recorded }] of Object.entries(ROWS)) {
  withHome(
    `a recording with faults is whole, and its client meets what serve plays: ${name}`,
    async (home) => {
      await using upstream = new RawUpstream(answering(STREAM.head, STREAM.body));
      const flags = faults.flatMap((line) => ["--fault", line]);
      for (const mode of [[], ["--missing"], ["--missing"]]) {
        const out = mode.length === 0 ? "plain" : "missing";
        await using recorder = await home.record(upstream.origin, { out, flags: [...mode, ...flags] });
        const found: string[] = [];
        for (const body of requests) found.push(await outcome(recorder.post("/v1/responses", body)));
        assert.deepEqual(found, outcomes);
        await recorder.end(0);
        const exchanges = exchangesOf(`${home.directory}/${out}`);
        assert.deepEqual(
          exchanges.map(({ body }) => new TextDecoder().decode(body)),
          exchanges.map(() => WHOLE),
        );
        assert.equal(exchanges.length, recorded);
      }
      assert.equal(upstream.requests.length, 2 * recorded, "a recorded request was sent once more");
      await using server = await Served.start(home, ["missing"], { cwd: home.directory, flags });
      const played: string[] = [];
      for (const body of requests) {
        played.push(
          await outcome(
            fetch(`${server.origin}/v1/responses`, { method: "POST", body: JSON.stringify(body) }),
          ),
        );
      }
      const { unused, missed } = await server.end();
      assert.deepEqual([played, unused, missed], [outcomes, [], 0]);
    },
  );
}

withHome(
  "an error of the API reaches the client without the fault, and a fault without effect is reported",
  async (home) => {
    await using upstream = new RawUpstream(
      answering("401 No\r\ncontent-type: application/json", '{"error":{}}'),
    );
    const flags = ["--missing", "--fault", "cut after 0 bytes", "--fault", "9: fail"];
    await using recorder = await home.record(upstream.origin, { flags });
    assert.deepEqual(await recorder.ask("/v1/responses", A), { status: 401, text: '{"error":{}}' });
    const { code, notes } = await recorder.end();
    assert.notEqual(code, 0);
    assert.match(notes, /the fault "9: fail" had no effect/);
  },
);
