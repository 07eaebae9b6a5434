/** Responses that continue others on a WebSocket: each resolves to what a client over HTTP sends. */
import assert from "node:assert/strict";
import { Dice } from "../../support/dice.ts";
import type { Json } from "../../support/files.ts";
import { SocketClient } from "../../support/socket_client.ts";
import { AGENT_FIELDS, responseEvents } from "../../support/socket_fixture.ts";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";
import { exchangeOf, sent, Served } from "./served.ts";
import { stream } from "./shapes.ts";

const CREATE = { type: "response.create", ...AGENT_FIELDS };
const recorded = (input: readonly Json[], events: readonly Json[]) =>
  exchangeOf(sent({ ...AGENT_FIELDS, stream: true, input }, { answer: stream(events) }));
const user = (content: string): Json => ({ role: "user", content });
const continues = (previous: string | undefined) =>
  previous === undefined ? {} : { previous_response_id: previous };

withHome("any tree of continuations plays, and after an error its response is unknown", async (home) => {
  for (let seed = 0; seed < 5; seed++) {
    const dice = new Dice(seed);
    const histories = new Map<string, readonly Json[]>();
    const exchanges = [];
    const asked: Json[] = [];
    for (let step = 0; step < 20; step++) {
      const previous = dice.chance(0.2) ? undefined : [...histories.keys()][dice.count(0, histories.size)];
      const input = Array.from({ length: dice.count(1, 2) }, (_, at) => user(`${step}.${at}`));
      const whole = [...histories.get(previous ?? "") ?? [], ...input];
      const items = Array.from({ length: dice.count(0, 2) }, (_, at) => ({
        ...{ type: "reasoning", id: `rs_${step}_${at}`, summary: [], encrypted_content: `${step} ${at}` },
      }));
      const events = responseEvents(`resp_${step}`, items);
      // The last event may lack the items, which then count in the order of their places.
      if (dice.chance(0.5)) {
        events.at(-1).response.output = [];
        events.splice(1, items.length, ...events.slice(1, -1).reverse());
      }
      exchanges.push(recorded(whole, events));
      asked.push({ ...CREATE, ...continues(previous), input });
      histories.set(`resp_${step}`, [...whole, ...items]);
    }
    home.fixture(`f${seed}`, exchanges);
    await using server = await Served.start(home, [`f${seed}`], {
      ...{ cwd: home.directory, flags: ["--rules", "none"] },
    });
    await using client = await SocketClient.open(`${server.origin}/v1`);
    for (const [step, message] of asked.entries()) {
      const last = (await client.ask(message)).at(-1) as Json;
      assert.equal(last.response?.id, `resp_${step}`, `seed ${seed}: ${JSON.stringify(last)}`);
    }
    const other = { ...CREATE, previous_response_id: "resp_9", input: [user("other")] };
    for (const code of ["fixture_miss", "previous_response_not_found"]) {
      assert.equal(((await client.ask(other))[0] as Json).error.code, code);
    }
  }
}, test.long);

withHome("a connection takes 32 named lanes, also one after the other", async (home) => {
  home.fixture("a", [recorded([user("a")], responseEvents("resp_1", []))]);
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--repeat"] });
  await using client = await SocketClient.open(`${server.origin}/v1`);
  const outcome = async (lane: string | null) => {
    const last: Json =
      (await client.ask({ ...CREATE, ...(lane === null ? {} : { stream_id: lane }), input: [user("a")] }))
        .at(-1);
    return last.error?.code ?? last.type;
  };
  for (let lane = 0; lane < 32; lane++) assert.equal(await outcome(`A-z_0.${lane}`), "response.completed");
  assert.equal(await outcome("one-more"), "websocket_stream_limit_reached");
  for (const lane of ["A-z_0.7", null]) assert.equal(await outcome(lane), "response.completed");
  for (const lane of ["", "a b", "é", "x".repeat(257)]) {
    assert.equal(await outcome(lane), "invalid_stream_id", lane);
  }
});

withHome("a connection takes 16 responses in flight", async (home) => {
  home.fixture("a", [recorded([user("a")], responseEvents("resp_1", []))]);
  const flags = ["--repeat", "--fault", "stall after 1 event"];
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
  await using client = await SocketClient.open(`${server.origin}/v1`);
  for (let number = 0; number < 17; number++) client.send({ ...CREATE, input: [user("a")] });
  client.send({ ...CREATE, stream_id: "?", input: [] });
  await client.until((events) => events.some(({ error }) => (error as Json)?.code === "invalid_stream_id"));
  const codes = client.events.flatMap(({ error }) => error === undefined ? [] : [(error as Json).code]);
  assert.deepEqual(codes, ["websocket_stream_limit_reached", "invalid_stream_id"]);
});
