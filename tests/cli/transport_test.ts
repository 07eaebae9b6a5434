/** Runs over a WebSocket: the same sessions as over HTTP, also if the connection is lost at any message. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { test } from "../support/test.ts";
import type { Json } from "../support/files.ts";
import { scaled } from "../support/scale.ts";
import type { Break } from "../support/scripted_api/socket.ts";
import { type Called, ending, events } from "../support/reprise.ts";
import {
  answer,
  httpError,
  message,
  rateLimited,
  type ScriptedResponse,
} from "../support/scripted_api/responses_script.ts";
import {
  comparableTurns,
  LOOP,
  loop,
  requireWhole,
  SESSION,
  TransportPlace,
} from "../support/transport_place.ts";

/** The model turns, and the turns without their transport. */
function withoutTransport(turns: readonly Json[]) {
  const transports: unknown[] = [];
  const plain = turns.map((turn) => {
    if (turn.kind !== "model") return turn;
    const { transport, ...request } = turn.request;
    transports.push(transport);
    return { ...turn, request };
  });
  return { transports, plain };
}

type Answers = readonly ScriptedResponse[] | typeof loop;

const UNREADABLE = httpError(400, {
  message: "The encrypted content for item rs_1 could not be verified.",
  code: "invalid_encrypted_content",
});

for (
  // Over a WebSocket, a refused continuation is sent whole before anything else is tried: its refusal comes twice.
  const [name, script, code, overSocket = script] of [
    ["a loop of tool calls", loop, 0],
    ["an error before a failed answer", [
      answer([message("a")], {
        end: { kind: "error_then_failed", error: { code: "rate_limit_exceeded", message: "No." } },
      }),
    ], 9],
    ["a rate limit, then an answer", [rateLimited(), ...LOOP.slice(2)], 0],
    [
      "refused reasoning in a second step",
      [LOOP[0], UNREADABLE, ...LOOP.slice(1)],
      0,
      [LOOP[0], UNREADABLE, UNREADABLE, ...LOOP.slice(1)],
    ],
  ] as readonly (readonly [string, Answers, number, Answers?])[]
) {
  test.long(`${name} leaves the same session over a WebSocket as over HTTP`, async () => {
    const [http, socket] = await Promise.all(["sse", "ws"].map(async (transport) => {
      await using place = await TransportPlace.open({ script: transport === "ws" ? overSocket : script });
      const called = await place.first("--transport", transport);
      strictEqual(called.code, code, called.stdout + called.stderr);
      await requireWhole(place);
      ok(
        place.server.requests.every((request) => request.transport === (transport === "ws" ? "ws" : "http")),
      );
      const { state, text, usage } = ending(called);
      return { ...withoutTransport(comparableTurns(place)), ended: { state, text, usage } };
    }));
    ok(http !== undefined && socket !== undefined);
    deepStrictEqual(socket.plain, http.plain);
    deepStrictEqual(socket.ended, http.ended);
    ok(http.transports.every((transport) => transport === undefined));
    ok(socket.transports.every((transport) => transport === "ws"));
  });
}

test("the transport comes from the flag, the environment or the configuration", async () => {
  await using place = await TransportPlace.open({ script: loop });
  const requireTransport = async (transport: string, args: readonly string[], variable = "") => {
    const called = await place.run(["--dry-run", ...args, "Hello"], { env: { REPRISE_TRANSPORT: variable } });
    strictEqual(called.code, 0, called.stdout + called.stderr);
    strictEqual(JSON.parse(called.stdout).transport, transport, `${args} ${variable}`);
  };
  await requireTransport("sse", []);
  await requireTransport("ws", ["--transport", "ws"]);
  await requireTransport("ws", [], "ws");
  await requireTransport("sse", ["--transport", "sse"], "ws");
  strictEqual((await place.call(["config", "set", "transport", "ws"])).code, 0);
  await requireTransport("ws", []);
  await requireTransport("sse", [], "sse");
  match((await place.call(["run", "--dry-run", "Hello"])).stdout, /over a WebSocket/);
  match((await place.call(["doctor"])).stdout, /ok +transport: one WebSocket \(config\)/);
  strictEqual((await place.run(["--dry-run", "Hello"], { env: { REPRISE_TRANSPORT: "udp" } })).code, 2);
  strictEqual(place.server.upgrades.length, 0);
});

test("an API without a WebSocket refuses the flag, and ignores the variable", async () => {
  await using place = await TransportPlace.open({ script: loop });
  const env = { ANTHROPIC_API_KEY: "sk-ant-test", REPRISE_TRANSPORT: "ws" };
  const args = ["--new", "-p", "anthropic", "-m", "claude-sonnet-5"];
  const refused = await place.run([...args, "--transport", "ws", "Hello"], { env });
  strictEqual(refused.code, 2);
  match(refused.stdout + refused.stderr, /its API has no WebSocket/);
  const ignored = await place.run([...args, "--dry-run", "Hello"], { env });
  strictEqual(JSON.parse(ignored.stdout).transport, "sse");
});

/** Requires that all turns that `called` reported as saved are there, unchanged. */
function requireSaved(place: TransportPlace, { stdout }: Pick<Called, "stdout">): void {
  const lines = stdout.split("\n").filter((line) => line.includes('"type":"turn.saved"'));
  const turns = place.sandbox.turns(SESSION);
  for (const line of lines) {
    // The last line of a killed process may be incomplete.
    if (!line.endsWith("}")) continue;
    const { turn, sum } = JSON.parse(line);
    strictEqual(turns[turn - 1]?.sum, sum, `turn ${turn}`);
  }
}

/** Continues the run, which must complete with requests that break no rule. */
async function requireContinued(place: TransportPlace): Promise<void> {
  const called = await place.run(["-c", "--transport", "ws"]);
  strictEqual(called.code, 0, called.stdout + called.stderr);
  strictEqual(ending(called).text, "Three files.");
  deepStrictEqual(place.server.refusals, []);
  await requireWhole(place);
}

/** Messages, and lines of output, from one loss to the next: a few losses in each part of an answer, or all. */
const STRIDE = scaled(5, 1);
const WAYS: readonly Break["how"][] = ["cut", "frame", { code: 1011, reason: "Internal error" }];

for (const step of [1, 2, 3]) {
  test.long(`a connection lost at any message of answer ${step} loses no turn, and the run continues`, async () => {
    let completed = 0;
    for (let [afterMessages, losses] = [0, 0]; completed < 2; afterMessages += STRIDE, losses++) {
      const how = WAYS[losses % WAYS.length] ?? "cut";
      const label = `after message ${afterMessages}: ${JSON.stringify(how)}`;
      let answers = 0;
      await using place = await TransportPlace.open({
        script: loop,
        breakAt: () => ++answers === step ? { afterMessages, how } : undefined,
      });
      const called = await place.first("--transport", "ws");
      ok(answers >= step, label);
      requireSaved(place, called);
      if (called.code === 0) {
        // A loss before the first message is tried again; one after the last message was not missed.
        completed++;
        await requireWhole(place);
        continue;
      }
      strictEqual(completed, 1, label);
      strictEqual(called.code, 10, label);
      const error = events(called).find((event) => event.type === "error");
      strictEqual(error?.type === "error" && error.code, "stream_cut", label);
      await requireContinued(place);
    }
  });
}
