/** Fixtures over a WebSocket, and the same conversations over HTTP; continued responses, lanes and limits. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { SocketClient } from "../../support/socket_client.ts";
import {
  AGENT_FIELDS,
  agentLoop,
  LAST_MESSAGE,
  PROMPT,
  responseEvents,
  SHELL_CALL,
  SHELL_OUTPUT,
  socketExchange,
} from "../../support/socket_fixture.ts";
import { framed } from "./answers.ts";
import { withHome } from "./home.ts";
import { BAD_FRAMES, closeCodeAfter, DEEP } from "./raw_http.ts";
import type { GivenExchange } from "./recording_files.ts";
import { exchangeOf, outcomeOf, sent, Served } from "./served.ts";

import { Dice } from "../../support/dice.ts";
import { test } from "../../support/test.ts";

const CREATE = { type: "response.create", ...AGENT_FIELDS };
const request = (...input: Json[]) => ({ ...AGENT_FIELDS, stream: true, input });
const { id: _id, status: _status, ...bare } = SHELL_CALL as Json;

/** The agent's exchanges over HTTP, without the warm-up. */
const OVER_HTTP: readonly GivenExchange[] = [
  exchangeOf(sent(request(PROMPT), { answer: framed(responseEvents("resp_1", [SHELL_CALL])) })),
  exchangeOf(
    sent(request(PROMPT, bare, SHELL_OUTPUT), { answer: framed(responseEvents("resp_2", [LAST_MESSAGE])) }),
  ),
];

/** A test with a server of these exchanges. */
function served(
  name: string,
  exchanges: readonly GivenExchange[],
  check: (server: Served, baseUrl: string) => Promise<void>,
  flags: readonly string[] = [],
): void {
  withHome(name, async (home) => {
    home.fixture("a", exchanges);
    await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
    await check(server, `${server.origin}/v1`);
  });
}

/** Talks as the agent of these exchanges does. */
async function agent(client: SocketClient, warmUp: string): Promise<void> {
  const [first] = await client.ask({ ...CREATE, generate: false, input: [] });
  assert.equal((first?.response as Json).id, warmUp);
  await client.ask({ ...CREATE, previous_response_id: warmUp, input: [PROMPT] });
  const last = await client.ask({ ...CREATE, previous_response_id: "resp_1", input: [SHELL_OUTPUT] });
  assert.equal(last.at(-1)?.type, "response.completed");
}

const types = (server: Served) => server.news().map(({ type }) => type);

served(
  "a recording over WebSocket plays its messages byte for byte",
  agentLoop(),
  async (server, baseUrl) => {
    await using client = await SocketClient.open(baseUrl);
    await agent(client, "resp_0");
    const recorded = [[], [SHELL_CALL], [LAST_MESSAGE]];
    const events = recorded.flatMap((output, index) => responseEvents(`resp_${index}`, output));
    assert.deepEqual(client.texts, events.map((event) => JSON.stringify(event)));
    assert.deepEqual(types(server), ["played", "played", "played"]);
    assert.deepEqual((await server.end()).unused, []);
  },
);

served(
  "a recording over HTTP plays over a WebSocket, and a warm-up needs no recording",
  OVER_HTTP,
  async (server, baseUrl) => {
    await using client = await SocketClient.open(baseUrl);
    await agent(client, "resp_warm_up_1");
    assert.deepEqual(types(server), ["skipped", "played", "played"]);
    assert.deepEqual((await server.end()).unused, []);
  },
);

served(
  "a client over HTTP that sends a call back with members without a value plays a recording over WebSocket, and needs no warm-up",
  agentLoop(),
  async (server) => {
    const first = await server.ask(request(PROMPT));
    assert.match(outcomeOf(first), /^2 /);
    assert.match(first.headers.get("content-type") ?? "", /^text\/event-stream/);
    const call = { ...SHELL_CALL, namespace: null, caller: null, status: null };
    assert.match(outcomeOf(await server.ask(request(PROMPT, call, SHELL_OUTPUT))), /^3 /);
    assert.deepEqual((await server.end()).unused, []);
  },
);

/** Histories that mean something else. */
const OTHERS: readonly Json[] = [
  request(PROMPT, SHELL_CALL),
  request(PROMPT, { ...SHELL_CALL, arguments: "{}" }, SHELL_OUTPUT),
  request(PROMPT, SHELL_CALL, { ...SHELL_OUTPUT, output: "b.txt" }),
  { ...request(PROMPT, SHELL_CALL, SHELL_OUTPUT), generate: false },
];
served("a history that means something else does not match", agentLoop(), async (server) => {
  for (const [index, body] of OTHERS.entries()) {
    assert.match(outcomeOf(await server.ask(body)), /^miss/, `${index}`);
  }
}, ["--rules", "none"]);

/** A recording that has grown: the WebSockets of each recording have numbers of their own. */
const GROWN = [
  ...agentLoop(),
  socketExchange({
    message: { ...CREATE, previous_response_id: "resp_1", input: [{ ...SHELL_OUTPUT, output: "b.txt" }] },
    events: [{ type: "error", status: 400, error: { code: "previous_response_not_found", message: "gone" } }],
  }),
];
withHome("a WebSocket of a later recording continues no response of an earlier one", async (home) => {
  const created = new Date().toISOString();
  const recordings = [[1, 3], [4, 4]].map((exchanges) => ({ created, producer: "reprise", exchanges }));
  home.fixture("a", GROWN, { recordings });
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--rules", "none"] });
  await using client = await SocketClient.open(`${server.origin}/v1`);
  // A response that the connection does not know, as in the recording.
  const [answer] = await client.ask({
    ...CREATE,
    previous_response_id: "resp_1",
    input: [{ ...SHELL_OUTPUT, output: "b.txt" }],
  });
  assert.equal((answer as Json).error.code, "previous_response_not_found");
  assert.deepEqual(server.news().map(({ type, number }) => [type, number]), [["played", 4]]);
});

const text = { type: "output_text", text: "hello", annotations: [], logprobs: [] };
const bareMessage = { type: "message", role: "assistant", phase: "final_answer" };
const message = { ...bareMessage, id: "msg_1", status: "completed", content: [text] };
const bareReasoning = { type: "reasoning", summary: [], content: null, encrypted_content: "blob" };
const reasoning = { ...bareReasoning, id: "rs_1", status: null, content: [] };
const cited = { ...text, annotations: [{ type: "url_citation" }] };
/** Histories between two prompts, and whether they are the recorded one. */
const HISTORIES: readonly (readonly [readonly Json[], boolean])[] = [
  [[reasoning, message], true],
  [[bareReasoning, { ...bareMessage, content: [{ type: "output_text", text: "hello" }] }], true],
  [[message], false],
  [[reasoning, { ...message, phase: "commentary" }], false],
  [[reasoning, { ...message, content: [cited] }], false],
];
served("messages and reasoning match in each form in which clients send them back", [
  socketExchange({
    message: { ...CREATE, input: [PROMPT] },
    events: responseEvents("resp_1", [reasoning, message]),
  }),
  socketExchange({
    message: { ...CREATE, previous_response_id: "resp_1", input: [PROMPT] },
    events: responseEvents("resp_2", []),
  }),
], async (server) => {
  for (const [index, [items, same]] of HISTORIES.entries()) {
    assert.match(
      outcomeOf(await server.ask(request(PROMPT, ...items, PROMPT))),
      same ? /^2 / : /^miss/,
      `${index}`,
    );
  }
}, ["--rules", "none", "--repeat"]);

served(
  "misses, unknown messages and unknown responses are error events, and the connection stays open",
  agentLoop(),
  async (server, baseUrl) => {
    await using client = await SocketClient.open(baseUrl);
    const refused = async (message: Json, code: string, lane?: string) => {
      const [event] = await client.ask(message);
      const error = event?.error as Json;
      assert.deepEqual([event?.type, event?.status, error.code, event?.stream_id], [
        "error",
        400,
        code,
        lane,
      ]);
    };
    await refused({ ...CREATE, input: "other", stream_id: "a" }, "fixture_miss", "a");
    await refused({ type: "response.novelty" }, "fixture_miss");
    await refused({ ...CREATE, previous_response_id: "resp_9", input: [] }, "previous_response_not_found");
    await refused({ ...CREATE, stream_id: "?", input: [] }, "invalid_stream_id");
    assert.deepEqual(types(server), ["miss", "miss", "skipped"]);
    await refused(DEEP, "fixture_miss");
    server.news();
    await agent(client, "resp_0");
    client.sendBinary(new Uint8Array(2));
    assert.equal((await client.closed).code, 1003);
    assert.equal(server.news().at(-1)?.code, "binary_message");
  },
);

served(
  "a message over the cap, and one that is not UTF-8, end their own connection alone",
  agentLoop(),
  async (server, baseUrl) => {
    await using client = await SocketClient.open(baseUrl);
    for (const [code, frame] of Object.entries(BAD_FRAMES)) {
      assert.equal(await closeCodeAfter(server.port, frame), Number(code));
    }
    await agent(client, "resp_0");
  },
);

const said = (content: string) => [{ role: "user", content }];
served(
  "several lanes play at a time, each event with the lane of its request",
  ["a", "b"].map((text) =>
    socketExchange({ message: { ...CREATE, input: said(text) }, events: responseEvents(`resp_${text}`, []) })
  ),
  async (_server, baseUrl) => {
    await using client = await SocketClient.open(baseUrl);
    client.send({ ...CREATE, stream_id: "one", input: said("a") });
    client.send({ ...CREATE, stream_id: "two", input: said("b") });
    await client.until(() => client.events.length === 4);
    const lanes = client.events.map(({ stream_id, response }) => `${stream_id},${(response as Json).id}`);
    assert.deepEqual(new Set(lanes), new Set(["one,resp_a", "two,resp_b"]));
  },
);

/** Flags for a client in another directory than the recorder. */
const ELSEWHERE = ["--rewrite-context", "--context", "cwd=/opt/shop", "--rules", "none"];
withHome("an answer with the client's own paths ends as the recorded connection did", async (home) => {
  const message = { ...CREATE, instructions: "<cwd>/srv/shop</cwd>", input: [PROMPT] };
  const call = { ...SHELL_CALL, arguments: '{"command":"ls /srv/shop"}' };
  const events = responseEvents("resp_1", [call]).slice(0, -1);
  const response = { ended: "cut", terminal: false, close: { code: 1011, reason: "" } };
  const header = { match: { normalize: ["cwd"] }, context: { cwd: "/srv/shop" } };
  home.fixture("a", [socketExchange({ message, events, response })], header);
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ELSEWHERE });
  await using client = await SocketClient.open(`${server.origin}/v1`);
  client.send({ ...message, instructions: "<cwd>/opt/shop</cwd>" });
  assert.equal((await client.closed).code, 1011);
  assert.match(client.texts.at(-1) ?? "", /ls \/opt\/shop/);
});

/** Faults, the events that a client gets, and the code with which the connection closes. */
const ENDS: readonly (readonly [fault: string, events: readonly string[], code: number | null])[] = [
  ["close 1011 after 1 event", ["response.created"], 1011],
  ["websocket_connection_limit_reached", ["error"], 1000],
  ["previous_response_not_found", ["error"], null],
  ["429 retry-after 2", ["error"], null],
  // Without a close frame.
  ["drop", [], 0],
];
for (const [fault, expected, code] of ENDS) {
  served(`the fault "${fault}" over a WebSocket`, OVER_HTTP, async (_server, baseUrl) => {
    await using client = await SocketClient.open(baseUrl);
    client.send({ ...CREATE, input: [PROMPT] });
    await client.until(() => client.events.length >= expected.length);
    assert.deepEqual(client.events.map(({ type }) => type), expected);
    if (fault.startsWith("429")) {
      assert.deepEqual((client.events[0]?.error as Json).headers, { "retry-after": "2" });
    }
    if (code !== null) assert.equal((await client.closed).code, code);
  }, ["--fault", fault]);
}

served("without WebSockets an upgrade is refused", OVER_HTTP, async (_server, baseUrl) => {
  await assert.rejects(SocketClient.open(baseUrl), /426/);
}, ["--no-websocket"]);

const recorded = (input: readonly Json[], events: readonly Json[]) =>
  exchangeOf(sent({ ...AGENT_FIELDS, stream: true, input }, { answer: framed(events) }));
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
