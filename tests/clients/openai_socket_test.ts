/** The WebSocket client of the `openai` package, recorded by `record` and replayed by `serve`. */
import assert from "node:assert/strict";
import { startResponsesSocket } from "../support/scripted_api/socket.ts";
import type { Json } from "../support/files.ts";
import { streaming } from "./openai.ts";
import { continuing, socketError, warm, whole } from "./openai_socket.ts";
import { MISSES, refusals, responsesStep } from "./script.ts";
import { assertEnded, type Client, conversationTests, record, serving } from "./support.ts";

const api = () => startResponsesSocket({ script: responsesStep });

/** Each use of the connection, and the lengths of the inputs that it sends. */
const USES: readonly (readonly [name: string, client: Client, inputs: readonly number[]])[] = [
  ["whole histories", whole, [1, 7, 10]],
  ["continued responses", continuing, [1, 2, 1]],
  ["a warm-up and continued responses", warm, [0, 1, 2, 1]],
];

for (const [name, client, inputs] of USES) {
  conversationTests({
    name: `openai over WebSocket, ${name}`,
    client,
    api,
    requests: inputs.length,
    read: socketError,
    // New items have no history to make a mistake with.
    ...(client === whole ? { refusals } : {}),
    misses: MISSES,
  });

  Deno.test(`openai over WebSocket, ${name}: each exchange has its transport and what the client sent`, async () => {
    const { exchanges } = await record(api, client, "openai");
    assert.deepEqual(exchanges.map(({ request }) => request.transport), inputs.map(() => "ws"));
    assert.deepEqual(exchanges.map(({ request }) => request.body.input.length), inputs);
  });
}

const CLIENTS: Readonly<Record<string, Client>> = { HTTP: streaming, whole, continuing, warm };

/** The use that is recorded, and those that it replays to. */
const ACROSS: readonly (readonly [recorded: string, replayed: readonly string[]])[] = [
  ["continuing", ["whole", "warm", "HTTP"]],
  ["HTTP", ["whole", "continuing", "warm"]],
  ["warm", ["HTTP"]],
];

/** The items and the usage of each answer; the package adds a text to answers over HTTP only. */
const answersIn = (report: Json) => report.map(({ items, usage }: Json) => ({ items, usage }));
const eventsIn = (report: Json) => report.map(({ heard }: Json) => heard);

for (const [from, uses] of ACROSS) {
  Deno.test(`openai: a recording of ${from} replays to ${uses.join(", ")}`, async (t) => {
    const recorded = await record(api, CLIENTS[from] as Client, "openai");
    for (const use of uses) {
      await t.step(use, async () => {
        await using server = await serving(recorded.path);
        const report = await (CLIENTS[use] as Client)(server.origin);
        assert.deepEqual(answersIn(report), answersIn(recorded.report));
        if (from === "HTTP") assert.deepEqual(eventsIn(report), eventsIn(recorded.report));
        await assertEnded(server, [3]);
      });
    }
  });
}
