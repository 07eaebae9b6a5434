/** Two hundred clients on one replay server, each in a conversation of its own. */
import assert from "node:assert/strict";
import { lacksBinary, needing } from "../support/needs.ts";
import { memoryNow } from "../../bench/servers.ts";
import { type GivenExchange, writeFixture } from "../doors/recordings/recording_files.ts";
import { answerText, responseStream } from "../doors/wire/streams_answers.ts";
import { Sandbox } from "../support/reprise.ts";
import { withServer } from "./listening.ts";
import { scaled } from "../support/scale.ts";

const CLIENTS = 200;
/** Each takes about a second, because the recording did. */
const TURNS = scaled(5, 60);
/** Arrival time of each third of an answer. */
const TIMES_MS = [0, 400, 900];
/**
 * Memory that V8 has not collected yet: the runtime keeps each request until a full collection, 4 KB with its headers,
 * and that comes when the heap has grown to a multiple of what lives. So it levels off: after these answers, 48,000 more
 * requests added nothing. `collected_test.ts` measures memory that is never collected.
 */
const MEMORY_GROWTH = 32e6 + 8e3 * CLIENTS * TURNS;

function messageItem(client: number, turn: number) {
  const text = `Client ${client} hears answer ${turn}: ${"word ".repeat(20)}${client * 1000 + turn}`;
  return { ...answerText(text), id: `msg_${client}_${turn}` };
}

/** The answer of one turn as it was recorded. */
function answerOf(client: number, turn: number): string {
  return responseStream([messageItem(client, turn)], { id: `resp_${client}_${turn}` });
}

/** The request of one turn: everything said before, and a question. */
function requestBody(client: number, turn: number) {
  const input = Array.from({ length: turn + 1 }, (_, at) => [
    ...at > 0 ? [messageItem(client, at - 1)] : [],
    { role: "user", content: `Client ${client} asks question ${at}` },
  ]).flat();
  return { model: "gpt-5.6", instructions: "Be brief.", input, stream: true, store: false };
}

/** All exchanges, the clients taking turns as they did while recording. */
function exchanges(): GivenExchange[] {
  return Array.from({ length: TURNS }, (_, turn) =>
    Array.from({ length: CLIENTS }, (_, client) => {
      const body = answerOf(client, turn);
      const chunks = TIMES_MS.map((ms, index) =>
        [Math.floor(body.length * index / TIMES_MS.length), ms] as [number, number]
      );
      return { request: { body: requestBody(client, turn) }, response: { chunks }, body };
    })).flat();
}

Deno.test({
  ...needing(
    "200 clients at a time get each their own recorded answers, byte for byte, and the server's memory stays",
    lacksBinary(),
  ),
  fn: async () => {
    await using sandbox = new Sandbox();
    const fixture = writeFixture(`${sandbox.directory}/fixture`, exchanges());
    const wrong: string[] = [];
    const asked = CLIENTS * TURNS;
    let answered = 0;
    const flags = ["--pace", "real", "--match", "semantic", "--strict-usage"];
    const { value: memory, called } = await withServer(
      sandbox,
      ["serve", fixture, ...flags],
      async (origin, { process }) => {
        let early: number | null = null;
        await Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
          for (let turn = 0; turn < TURNS; turn++) {
            const { status, text } = await ask(origin, requestBody(client, turn));
            if (status !== 200 || text !== answerOf(client, turn)) {
              wrong.push(`client ${client}, turn ${turn}: ${status}, ${text.length} bytes`);
            }
            if (++answered === asked / 5) early = memoryNow(process.pid);
          }
        }));
        return { early, end: memoryNow(process.pid) };
      },
    );
    assert.deepEqual(wrong.slice(0, 5), [], `${wrong.length} of ${asked} answers are wrong`);
    // With --strict-usage also: every exchange was played, none missed, no rule broken.
    assert.equal(called.code, 0, called.stderr.slice(-2000));
    assert.ok(memory.early !== null && memory.end !== null);
    const grown = memory.end - memory.early;
    assert.ok(grown < MEMORY_GROWTH, `memory grew by ${(grown / 1e6).toFixed(0)} MB in ${asked} answers`);
  },
});

async function ask(origin: string, body: unknown) {
  const response = await fetch(`${origin}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer test" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}
