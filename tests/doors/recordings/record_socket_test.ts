/** Recordings of WebSockets: each message with its answer is an exchange, byte for byte. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import type { Duplex } from "node:stream";
import { type SocketServer, startSocketServer } from "../../support/scripted_api/socket_server.ts";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";
import type { Recorder, RecordOptions } from "./recorder.ts";
import { BAD_FRAMES, closeCodeAfter, DEEP } from "./raw_http.ts";
import { exchangesOf, type ReadExchange } from "./recording_files.ts";

class Peer {
  readonly #queue: string[] = [];
  readonly closed = Promise.withResolvers<{ code: number; reason: string }>();
  #wake = () => {};
  readonly send: (...texts: readonly (string | Uint8Array)[]) => void;
  readonly close: (code?: number, reason?: string) => void;

  constructor(socket: Pick<WebSocket, "close"> & { send(data: Json): void }) {
    this.send = (...texts) => texts.forEach((text) => socket.send(text));
    this.close = (code, reason) => socket.close(code, reason);
  }

  arrived(text: string): void {
    this.#queue.push(text);
    this.#wake();
  }

  /** Returns the texts of the next messages. */
  async take(count = 1): Promise<string[]> {
    while (this.#queue.length < count) await new Promise<void>((resolve) => this.#wake = resolve);
    return this.#queue.splice(0, count);
  }
}

/** Both sides of a connection, and the bytes below that of the server. */
interface Connection {
  readonly client: Peer;
  readonly upstream: Peer;
  readonly raw: Duplex;
}

interface Relay {
  readonly recorder: Recorder;
  readonly server: SocketServer;
  connect(headers?: Readonly<Record<string, string>>): Promise<Connection>;
}

/** Registers a test for each list of options, with a recorder in front of a server of WebSockets. */
function relayed(
  name: string,
  fn: (relay: Relay, index: number) => Promise<void>,
  ...all: RecordOptions[]
): void {
  withHome(name, async (home) => {
    for (const [index, options] of (all.length === 0 ? [{}] : all).entries()) {
      const opened: Omit<Connection, "client">[] = [];
      await using server = await startSocketServer({
        onSocket(socket, _number, raw) {
          const upstream = new Peer(socket as never);
          socket.on("message", (data) => upstream.arrived(data.toString()));
          socket.on("close", (code, reason) => upstream.closed.resolve({ code, reason: reason.toString() }));
          opened.push({ upstream, raw });
        },
      });
      await using recorder = await home.record(`http://127.0.0.1:${server.port}`, {
        out: `${index}`,
        ...options,
      });
      const connect: Relay["connect"] = async (headers = {}) => {
        const socket = new WebSocket(`${recorder.origin.replace("http", "ws")}/v1/responses`, { headers });
        const client = new Peer(socket);
        socket.onmessage = ({ data }) => client.arrived(data);
        socket.onclose = ({ code, reason }) => client.closed.resolve({ code, reason });
        await new Promise((resolve, reject) => [socket.onopen, socket.onerror] = [resolve, reject]);
        socket.onerror = null;
        return { client, ...opened.at(-1) ?? assert.fail() };
      };
      await fn({ recorder, server, connect }, index);
    }
  }, test.long);
}

/** Waits for exchanges, ends the recording, and reads them. */
async function recorded({ recorder }: Relay, count: number): Promise<ReadExchange[]> {
  await recorder.reported(count);
  await recorder.end(0);
  return exchangesOf(recorder.out);
}

function answerOf(
  id: string,
  { lane, text = "hello" }: { readonly lane?: string; readonly text?: string } = {},
): string[] {
  const content = [{ type: "output_text", text }];
  const item = { type: "message", id: `msg_${id}`, role: "assistant", content };
  return [
    { type: "response.created", response: { id, status: "in_progress", output: [] } },
    { type: "response.output_text.delta", output_index: 0, delta: text },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id, status: "completed", output: [item] } },
  ].map((event) => JSON.stringify({ ...event, ...lane === undefined ? {} : { stream_id: lane } }));
}

const create = (text: string, more: Json = {}) =>
  JSON.stringify({ type: "response.create", model: "m", input: [{ role: "user", content: text }], ...more });

const lines = (messages: readonly string[]) => messages.map((message) => `${message}\n`).join("");

async function ask(
  { client, upstream }: Connection,
  message: string,
  answer: readonly string[],
): Promise<void> {
  client.send(message);
  assert.deepEqual(await upstream.take(), [message]);
  upstream.send(...answer);
  assert.deepEqual(await client.take(answer.length), answer);
}

const SECRET = "s3cret-value-of-a-variable";
relayed(
  "a response over a WebSocket is one exchange, byte for byte, with the headers of its upgrade and no secret",
  async ({ recorder, server, connect }) => {
    const beta = { "openai-beta": "responses_websockets=2026-02-06" };
    const key = "Bearer sk-key-of-the-client-1";
    const connection = await connect({ authorization: key, ...beta, "x-other": "dropped" });
    // White space and line ends in messages stay.
    const message = create("hi").replace('"type":', '\n "type" :');
    const [first = "", ...rest] = answerOf("resp_1");
    const answer = [first.replace("{", "{ \n"), ...rest];
    await ask(connection, message, answer);
    const leaky = answerOf("resp_2", { text: `it is ${SECRET}` });
    await ask(connection, create(`use ${SECRET} and sk-key-of-the-client-1`), leaky);
    await recorder.reported(2);
    const { published, over_socket, altered } = await recorder.end(0);
    assert.deepEqual([published, over_socket, altered], [2, 2, 1]);
    const { headers: sent } = server.upgrades[0] ?? assert.fail();
    assert.deepEqual([sent.authorization, sent["x-other"], sent["sec-websocket-extensions"]], [
      key,
      "dropped",
      undefined,
    ]);
    const [whole, replaced] = exchangesOf(recorder.out);
    const { transport, connection: number, method, path, headers: kept } = whole?.request;
    assert.deepEqual([transport, number, method, path, kept], ["ws", 1, "GET", "/v1/responses", beta]);
    assert.deepEqual([whole?.sent, whole?.text, whole?.response.status], [message, lines(answer), 101]);
    assert.match(whole?.response.headers["openai-organization"], /^account-[0-9a-f]{16}$/);
    const offsets = answer.map((_, index) => new TextEncoder().encode(lines(answer.slice(0, index))).length);
    assert.deepEqual(whole?.response.messages.map(([offset]: number[]) => offset), offsets);
    for (const name of ["ended", "terminal", "close"]) assert.equal(whole?.response[name], undefined);
    assert.ok(!`${replaced?.sent}${replaced?.text}`.match(/s3cret|sk-key/));
    assert.equal(replaced?.text.length, lines(leaky).length);
  },
  { env: { MY_SECRET: SECRET } },
);

relayed(
  "interleaved lanes keep their events with their request, and connections are numbered",
  async (relay) => {
    const { client, upstream } = await relay.connect();
    client.send(create("a", { stream_id: "a" }), create("b", { stream_id: "b" }), create("c"));
    await upstream.take(3);
    const [a, b] = ["a", "b"].map((lane) => answerOf(`resp_${lane}`, { lane })) as [string[], string[]];
    const c = answerOf("resp_c");
    const order = [b[0], a[0], c[0], c[1], b[1], b[2], a[1], c[2], c[3], a[2], b[3], a[3]] as string[];
    upstream.send(...order);
    assert.deepEqual(await client.take(12), order);
    await ask(await relay.connect(), create("d"), answerOf("resp_d"));
    const exchanges = await recorded(relay, 4);
    assert.deepEqual(exchanges.map(({ text }) => text), [a, b, c, answerOf("resp_d")].map(lines));
    assert.deepEqual(exchanges.map(({ request }) => request.connection), [1, 1, 1, 2]);
  },
);

const failure = (code: string) =>
  JSON.stringify({ type: "error", status: 400, error: { code, message: "no" } });

relayed("an error is the whole answer to its request, also over the limit of a connection", async (relay) => {
  const connection = await relay.connect();
  await ask(connection, create("a"), [failure("bad")]);
  const { client, upstream } = connection;
  const lanes = Array.from({ length: 17 }, (_, index) => `lane-${index}`);
  client.send(...lanes.map((lane) => create(lane, { stream_id: lane })));
  await upstream.take(17);
  const refused = failure("websocket_stream_limit_reached");
  const answers = lanes.slice(0, 16).map((lane) => answerOf(`resp_${lane}`, { lane }));
  upstream.send(refused, ...answers.flat());
  await client.take(65);
  const texts = (await recorded(relay, 18)).map(({ text }) => text);
  assert.deepEqual(texts, [[failure("bad")], ...answers, [refused]].map(lines));
});

relayed(
  "messages that ask for no response are exchanges of their own; a message that answers nothing is skipped",
  async (relay) => {
    const connection = await relay.connect();
    const { client, upstream } = connection;
    const [created = "", ...rest] = answerOf("resp_1");
    const steer = JSON.stringify({ type: "response.steer", previous_response_id: "resp_1", input: [] });
    const accepted = JSON.stringify({ type: "response.steer.accepted", previous_response_id: "resp_1" });
    client.send(create("a"));
    await upstream.take();
    upstream.send(created);
    await client.take();
    client.send(steer, "no JSON", JSON.stringify({ type: "session.update" }));
    await upstream.take(3);
    upstream.send(accepted, ...rest);
    await client.take(4);
    await ask(connection, create("b"), answerOf("resp_2"));
    const limit = JSON.stringify({ type: "error", error: { code: "websocket_connection_limit_reached" } });
    upstream.send(limit);
    assert.deepEqual(await client.take(), [limit]);
    const exchanges = await recorded(relay, 5);
    const texts = exchanges.map(({ text }) => text);
    assert.deepEqual(texts, [[created, ...rest], [accepted], [], [], answerOf("resp_2")].map(lines));
    assert.deepEqual([exchanges[2]?.sent, exchanges[3]?.request.body.type], ["no JSON", "session.update"]);
    const skipped = relay.recorder.events.filter(({ type }) => type === "skipped");
    assert.deepEqual(skipped.map(({ reason }) => reason), ["unsolicited_message"]);
  },
);

relayed(
  "a message that nests too deep passes like any other; one over the cap or not UTF-8 ends its own connection alone",
  async (relay) => {
    const connection = await relay.connect();
    await ask(connection, DEEP, [failure("invalid_json")]);
    for (const [code, frame] of Object.entries(BAD_FRAMES)) {
      assert.equal(await closeCodeAfter(relay.recorder.events[0].port, frame), Number(code));
    }
    await ask(connection, create("a"), answerOf("resp_1"));
    const exchanges = await recorded(relay, 2);
    assert.ok(exchanges[0]?.sent === DEEP);
    assert.deepEqual(
      exchanges.map(({ text }) => text),
      [[failure("invalid_json")], answerOf("resp_1")].map(lines),
    );
  },
);

relayed(
  "a close between two answers leaves a whole exchange; the end of the recording closes with 1001, and drops one under way",
  async ({ recorder, connect }) => {
    const [first, second] = [await connect(), await connect()];
    await ask(second, create("a"), answerOf("resp_a"));
    second.upstream.close();
    await second.client.closed.promise;
    first.client.send(create("b"));
    await first.upstream.take();
    assert.equal((await recorder.end()).dropped, 1);
    assert.deepEqual(recorder.exchanges.map(({ reason }) => reason), [null, "stopped"]);
    const [{ response } = assert.fail()] = exchangesOf(recorder.out);
    assert.deepEqual([response.ended, response.close], [undefined, undefined]);
    assert.equal((await first.client.closed.promise).code, 1001);
  },
);

/** Ends in the middle of an answer: what happens, the side that learns it, the reason, and the close that is kept. */
const ENDS: Readonly<
  Record<string, readonly [(connection: Connection) => void, "client" | "upstream", string, number, string]>
> = {
  "an upstream that closes": [
    ({ upstream }) => upstream.close(1013, "later"),
    "client",
    "cut",
    1013,
    "later",
  ],
  "a client that leaves": [
    ({ client }) => client.close(4001, "enough"),
    "upstream",
    "closed",
    4001,
    "enough",
  ],
  "an upstream that breaks off": [({ raw }) => raw.destroy(), "client", "cut", 1006, ""],
};

for (const [name, [end, other, ended, code, reason]] of Object.entries(ENDS)) {
  relayed(
    `${name} in the middle of an answer ends both sides; the exchange is kept only with --keep-cut`,
    async ({ recorder, connect }, keeps) => {
      const connection = await connect();
      const [created = ""] = answerOf("resp_1");
      connection.client.send(create("a"));
      await connection.upstream.take();
      connection.upstream.send(created);
      await connection.client.take();
      end(connection);
      // The client of the runtime has 0 for a connection that broke off.
      assert.equal((await connection[other].closed.promise).code || 1006, code);
      await recorder.reported(1);
      await recorder.end();
      const [event] = recorder.exchanges;
      assert.deepEqual([event.ended, event.reason], [ended, keeps ? null : ended]);
      if (!keeps) return;
      const [{ response, text } = assert.fail()] = exchangesOf(recorder.out);
      assert.deepEqual([response.ended, response.terminal, text], [ended, false, lines([created])]);
      assert.deepEqual(response.close, { code, reason });
    },
    {},
    { flags: ["--keep-cut"] },
  );
}
