import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { test } from "../support/test.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { SocketRequest } from "../support/responses_socket.ts";
import { ending, events } from "../support/reprise.ts";
import { httpError, rateLimited, unauthorized } from "../support/responses_server/faults.ts";
import { answer, message, rawItem, type ScriptedResponse } from "../support/responses_server/script.ts";
import { comparableTurns, LOOP, loop, requireWhole, TransportPlace } from "../support/transport_place.ts";

test("a run over a WebSocket sends only new items, on one connection", async () => {
  await using place = await TransportPlace.open({ script: loop });
  const called = await place.first("--transport", "ws");
  strictEqual(called.code, 0, called.stdout + called.stderr);
  strictEqual(ending(called).text, "Three files.");
  const { requests, upgrades, refusals } = place.server;
  deepStrictEqual(refusals, []);
  strictEqual(upgrades.length, 1);
  deepStrictEqual(requests.map(({ transport, connection }) => [transport, connection]), [
    ["ws", 1],
    ["ws", 1],
    ["ws", 1],
  ]);
  const sent = requests.map(({ message }) => message);
  strictEqual(sent[0]?.previous_response_id, undefined);
  strictEqual(sent[0]?.stream, undefined);
  deepStrictEqual(sent.map(({ input }) => (input as JsonObject[]).map(({ type }) => type)), [
    ["message"],
    ["function_call_output", "function_call_output"],
    ["function_call_output"],
  ]);
  ok(sent.slice(1).every(({ previous_response_id: id }) => typeof id === "string"));
});

/** The model turns, and the turns without their transport. */
function withoutTransport(turns: readonly JsonObject[]) {
  const transports: unknown[] = [];
  const plain = turns.map((turn) => {
    if (turn.kind !== "model") return turn;
    const { transport, ...request } = turn.request as JsonObject;
    transports.push(transport);
    return { ...turn, request };
  });
  return { transports, plain };
}

for (
  const [name, script, code] of [
    ["a loop of tool calls", loop, 0],
    ["an incomplete answer", [
      answer([message("Half")], { end: { kind: "incomplete", reason: "max_output_tokens" } }),
    ], 6],
    ["a failed answer", [
      answer([message("a")], { end: { kind: "failed", error: { code: "server_error", message: "No." } } }),
    ], 10],
    ["an error inside an answer", [
      answer([message("a")], { end: { kind: "error", error: { code: "server_error", message: "No." } } }),
    ], 10],
    ["an error before a failed answer", [
      answer([message("a")], {
        end: { kind: "error_then_failed", error: { code: "rate_limit_exceeded", message: "No." } },
      }),
    ], 9],
    ["a wrong key", [unauthorized()], 8],
    ["a refused request", [httpError(400, { message: "Unknown parameter: 'x'.", param: "x" })], 13],
    ["a context overflow", [
      httpError(400, { message: "Too long.", code: "context_length_exceeded", param: "input" }),
    ], 11],
    [
      "an unknown model",
      [httpError(404, { message: "The model does not exist.", code: "model_not_found" })],
      13,
    ],
    ["a rate limit, then an answer", [rateLimited(), ...LOOP.slice(2)], 0],
    ["an overload in the stream, once as an error, then an answer", [
      answer([], { end: { kind: "failed", error: { code: "server_is_overloaded", message: "Later." } } }),
      answer([], { end: { kind: "error", error: { code: "server_is_overloaded", message: "Later." } } }),
      ...LOOP.slice(2),
    ], 0],
    ["refused reasoning in a second step", [
      LOOP[0],
      httpError(400, {
        message: "The encrypted content for item rs_1 could not be verified.",
        code: "invalid_encrypted_content",
      }),
      ...LOOP.slice(1),
    ], 0],
    ["a call with cut arguments", ({ input }: SocketRequest) => {
      const calls = input.filter(({ type }) => type === "function_call");
      if (calls.length === 0) {
        const call = { type: "function_call", call_id: "call_1", name: "read_file", arguments: '{"path":' };
        return answer([rawItem({ ...call, id: "fc_1", status: "completed" })]);
      }
      return calls.every((call) => String(call.arguments).endsWith("}"))
        ? answer([message("Done.")])
        : httpError(400, { message: "`arguments` must be valid JSON", param: "arguments" });
    }, 0],
    ...(["failed", "error"] as const).map((kind) =>
      [`a second step that is ${kind} by an unknown code`, [
        LOOP[0],
        answer([], { end: { kind, error: { code: "stale_blob", message: "Gone." } } }),
        ...LOOP.slice(1),
      ], 0] as const
    ),
  ] as readonly (readonly [string, readonly ScriptedResponse[] | typeof loop, number])[]
) {
  test.long(`${name} leaves the same session over a WebSocket as over HTTP`, async () => {
    const [overHttp, overSocket] = await Promise.all(["sse", "ws"].map(async (transport) => {
      await using place = await TransportPlace.open({ script });
      const called = await place.first("--transport", transport);
      strictEqual(called.code, code, called.stdout + called.stderr);
      await requireWhole(place);
      ok(
        place.server.requests.every((request) => request.transport === (transport === "ws" ? "ws" : "http")),
      );
      const { state, text, usage } = ending(called);
      return { ...withoutTransport(comparableTurns(place)), ended: { state, text, usage } };
    }));
    ok(overHttp !== undefined && overSocket !== undefined);
    deepStrictEqual(overSocket.plain, overHttp.plain);
    deepStrictEqual(overSocket.ended, overHttp.ended);
    ok(overHttp.transports.every((transport) => transport === undefined));
    ok(overSocket.transports.every((transport) => transport === "ws"));
  });
}

for (const status of [401, 404, 426, 503]) {
  test(`a server that refuses the WebSocket with ${status} is asked over HTTP`, async () => {
    await using place = await TransportPlace.open({ script: loop, refusal: { status } });
    const called = await place.first("--transport", "ws");
    strictEqual(called.code, 0, called.stdout + called.stderr);
    const notices = events(called).filter((event) => event.type === "notice");
    deepStrictEqual(notices.map(({ kind }) => kind), ["transport"]);
    strictEqual(place.server.upgrades.length, 1);
    deepStrictEqual(withoutTransport(comparableTurns(place)).transports, [undefined, undefined, undefined]);
  });
}

test("the transport comes from the flag, the environment, a profile or the configuration", async () => {
  await using place = await TransportPlace.open({ script: loop });
  const dryRun = async (args: readonly string[], env: Record<string, string> = {}) => {
    const called = await place.run(["--dry-run", ...args, "Hello"], { env });
    strictEqual(called.code, 0, called.stdout + called.stderr);
    return JSON.parse(called.stdout).transport;
  };
  const variable = { REPRISE_TRANSPORT: "ws" };
  deepStrictEqual([await dryRun([]), await dryRun(["--transport", "ws"])], ["sse", "ws"]);
  deepStrictEqual([await dryRun([], variable), await dryRun(["--transport", "sse"], variable)], [
    "ws",
    "sse",
  ]);
  strictEqual((await place.call(["config", "set", "profiles.fast.transport", "ws"])).code, 0);
  deepStrictEqual([await dryRun([]), await dryRun(["--profile", "fast"])], ["sse", "ws"]);
  strictEqual((await place.call(["config", "set", "transport", "ws"])).code, 0);
  deepStrictEqual([await dryRun([]), await dryRun([], { REPRISE_TRANSPORT: "sse" })], ["ws", "sse"]);
  const text = await place.call(["run", "--dry-run", "Hello"]);
  match(text.stdout, /over a WebSocket/);
  const wrong = await place.run(["--dry-run", "Hello"], { env: { REPRISE_TRANSPORT: "udp" } });
  strictEqual(wrong.code, 2);
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

test("doctor names the transport and its source", async () => {
  await using place = await TransportPlace.open({ script: loop });
  const called = await place.call(["doctor"], { env: { REPRISE_TRANSPORT: "ws" } });
  match(called.stdout, /ok +transport: one WebSocket \(environment\)/);
  match((await place.call(["doctor"])).stdout, /ok +transport: HTTP \(default\)/);
});
