/** Recordings of WebSockets: each message with its answer is an exchange, byte for byte. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import type { Duplex } from "node:stream";
import {
  type SocketBehaviour,
  type SocketServer,
  startSocketServer,
} from "../../support/scripted_api/socket_server.ts";
import { test } from "../../support/test.ts";
import { type RecordingHome, withHome } from "./home.ts";
import type { Recorder, RecordOptions } from "./recorder.ts";
import { exchangesOf } from "./recording_files.ts";

/** One side of a connection. */
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

/** A recorder, and the server behind it. */
interface Relay extends AsyncDisposable {
  readonly recorder: Recorder;
  readonly server: SocketServer;
  /** Opens a connection. */
  connect(headers?: Readonly<Record<string, string>>): Promise<{ client: Peer; upstream: Peer; raw: Duplex }>;
}

async function relay(
  home: RecordingHome,
  options: RecordOptions = {},
  behaviour: SocketBehaviour = {},
): Promise<Relay> {
  const opened: { upstream: Peer; raw: Duplex }[] = [];
  const server = await startSocketServer({
    onSocket(socket, _number, raw) {
      const peer = new Peer(socket as never);
      socket.on("message", (data) => peer.arrived(data.toString()));
      socket.on("close", (code, reason) => peer.closed.resolve({ code, reason: reason.toString() }));
      opened.push({ upstream: peer, raw });
    },
    ...behaviour,
  });
  const recorder = await home.record(`http://127.0.0.1:${server.port}`, options);
  return {
    recorder,
    server,
    async connect(headers = {}) {
      const socket = new WebSocket(`${recorder.origin.replace("http", "ws")}/v1/responses`, { headers });
      const client = new Peer(socket);
      socket.onmessage = ({ data }) => client.arrived(data);
      socket.onclose = ({ code, reason }) => client.closed.resolve({ code, reason });
      await new Promise((resolve, reject) => [socket.onopen, socket.onerror] = [resolve, reject]);
      socket.onerror = null;
      return { client, ...opened.at(-1) ?? assert.fail() };
    },
    async [Symbol.asyncDispose]() {
      await recorder[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The messages of a whole response. */
function answerOf(
  id: string,
  { lane, text = "hello" }: { readonly lane?: string; readonly text?: string } = {},
): string[] {
  const item = {
    type: "message",
    id: `msg_${id}`,
    role: "assistant",
    content: [{ type: "output_text", text }],
  };
  return [
    { type: "response.created", response: { id, status: "in_progress", output: [] } },
    { type: "response.output_text.delta", output_index: 0, delta: text },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id, status: "completed", output: [item] } },
  ].map((event) => JSON.stringify({ ...event, ...lane === undefined ? {} : { stream_id: lane } }));
}

/** A message that asks for a response. */
const create = (text: string, more: Json = {}) =>
  JSON.stringify({
    type: "response.create",
    model: "gpt-5.6",
    input: [{ role: "user", content: text }],
    ...more,
  });

/** Messages as a file holds them. */
const lines = (messages: readonly string[]) => messages.map((message) => `${message}\n`).join("");

/** Sends a message, and the answer to it. */
async function ask(
  { client, upstream }: { client: Peer; upstream: Peer },
  message: string,
  answer: readonly string[],
) {
  client.send(message);
  assert.deepEqual(await upstream.take(), [message]);
  upstream.send(...answer);
  assert.deepEqual(await client.take(answer.length), answer);
}

withHome(
  "a response over a WebSocket is one exchange, byte for byte, with the headers of its upgrade and no secret",
  async (home) => {
    const secret = "s3cret-value-of-a-variable";
    await using place = await relay(home, { env: { MY_SECRET: secret } });
    const { recorder, server } = place;
    const headers = {
      authorization: "Bearer sk-key-of-the-client-1",
      "openai-beta": "responses_websockets=2026-02-06",
    };
    const connection = await place.connect({ ...headers, "x-other": "dropped" });
    // White space and line ends in messages stay.
    const message = create("hi").replace('"type":', '\n "type" :');
    const [first = "", ...rest] = answerOf("resp_1");
    const answer = [first.replace("{", "{ \n"), ...rest];
    await ask(connection, message, answer);
    const leaky = answerOf("resp_2", { text: `it is ${secret}` });
    await ask(connection, create(`use ${secret} and sk-key-of-the-client-1`), leaky);
    await recorder.reported(2);
    const { published, over_socket, altered } = await recorder.end(0);
    assert.deepEqual([published, over_socket, altered], [2, 2, 1]);
    const { headers: sent } = server.upgrades[0] ?? assert.fail();
    assert.deepEqual([sent.authorization, sent["x-other"], sent["sec-websocket-extensions"]], [
      ...["Bearer sk-key-of-the-client-1", "dropped", undefined],
    ]);
    const [whole, replaced] = exchangesOf(recorder.out);
    const { transport, connection: number, method, path, headers: kept } = whole?.request;
    assert.deepEqual([transport, number, method, path, kept], ["ws", 1, "GET", "/v1/responses", {
      "openai-beta": headers["openai-beta"],
    }]);
    assert.deepEqual([whole?.sent, whole?.text, whole?.response.status], [message, lines(answer), 101]);
    assert.match(whole?.response.headers["openai-organization"], /^account-[0-9a-f]{16}$/);
    const offsets = answer.map((_, index) => new TextEncoder().encode(lines(answer.slice(0, index))).length);
    assert.deepEqual(whole?.response.messages.map(([offset]: number[]) => offset), offsets);
    assert.deepEqual([whole?.response.ended, whole?.response.terminal, whole?.response.close], [
      undefined,
      undefined,
      undefined,
    ]);
    assert.ok(!`${replaced?.sent}${replaced?.text}`.match(/s3cret|sk-key/));
    assert.equal(replaced?.text.length, lines(leaky).length);
  },
);

withHome(
  "interleaved lanes keep their events with their request, and connections are numbered",
  async (home) => {
    await using place = await relay(home);
    const { client, upstream } = await place.connect();
    client.send(create("a", { stream_id: "a" }), create("b", { stream_id: "b" }), create("c"));
    await upstream.take(3);
    const [a, b, c] = [
      answerOf("resp_a", { lane: "a" }),
      answerOf("resp_b", { lane: "b" }),
      answerOf("resp_c"),
    ];
    const order = [b[0], a[0], c[0], c[1], b[1], b[2], a[1], c[2], c[3], a[2], b[3], a[3]] as string[];
    upstream.send(...order);
    assert.deepEqual(await client.take(12), order);
    await ask(await place.connect(), create("d"), answerOf("resp_d"));
    await place.recorder.reported(4);
    await place.recorder.end(0);
    const exchanges = exchangesOf(place.recorder.out);
    assert.deepEqual(exchanges.map(({ text }) => text), [a, b, c, answerOf("resp_d")].map(lines));
    assert.deepEqual(exchanges.map(({ request }) => request.connection), [1, 1, 1, 2]);
  },
  test.long,
);

withHome("an error is the whole answer to its request, also over the limit of a connection", async (home) => {
  await using place = await relay(home);
  const connection = await place.connect();
  const error = JSON.stringify({ type: "error", status: 400, error: { code: "bad", message: "no" } });
  await ask(connection, create("a"), [error]);
  const { client, upstream } = connection;
  const lanes = Array.from({ length: 17 }, (_, index) => `lane-${index}`);
  client.send(...lanes.map((lane) => create(lane, { stream_id: lane })));
  await upstream.take(17);
  const refused = JSON.stringify({
    type: "error",
    status: 400,
    error: { code: "websocket_stream_limit_reached", message: "too many" },
  });
  const answers = lanes.slice(0, 16).map((lane) => answerOf(`resp_${lane}`, { lane }));
  upstream.send(refused, ...answers.flat());
  await client.take(65);
  await place.recorder.reported(18);
  await place.recorder.end(0);
  assert.deepEqual(exchangesOf(place.recorder.out).map(({ text }) => text), [
    lines([error]),
    ...answers.map(lines),
    lines([refused]),
  ]);
}, test.long);

withHome(
  "messages that ask for no response are exchanges of their own; a message that answers nothing is skipped",
  async (home) => {
    await using place = await relay(home);
    const { client, upstream } = await place.connect();
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
    await ask({ client, upstream }, create("b"), answerOf("resp_2"));
    const limit = JSON.stringify({ type: "error", error: { code: "websocket_connection_limit_reached" } });
    upstream.send(limit);
    assert.deepEqual(await client.take(), [limit]);
    await place.recorder.reported(5);
    await place.recorder.end(0);
    const exchanges = exchangesOf(place.recorder.out);
    assert.deepEqual(exchanges.map(({ text }) => text), [
      lines([created, ...rest]),
      lines([accepted]),
      "",
      "",
      lines(answerOf("resp_2")),
    ]);
    assert.deepEqual([exchanges[2]?.sent, exchanges[3]?.request.body.type], ["no JSON", "session.update"]);
    assert.deepEqual(
      place.recorder.events.filter(({ type }) => type === "skipped").map(({ reason }) => reason),
      ["unsolicited_message"],
    );
  },
  test.long,
);

type Connection = Awaited<ReturnType<Relay["connect"]>>;
/** Ends in the middle of an answer: the reason, and what the other side and the fixture get. */
const ENDS: Readonly<
  Record<string, readonly [(connection: Connection) => void, "client" | "upstream", string, Json]>
> = {
  "an upstream that closes": [({ upstream }) => upstream.close(1013, "try again later"), "client", "cut", {
    code: 1013,
    reason: "try again later",
  }],
  "a client that leaves": [({ client }) => client.close(4001, "enough"), "upstream", "closed", {
    code: 4001,
    reason: "enough",
  }],
  "an upstream that breaks off": [({ raw }) => raw.destroy(), "client", "cut", { code: 1006, reason: "" }],
};

for (const [name, [end, other, ended, close]] of Object.entries(ENDS)) {
  withHome(
    `${name} in the middle of an answer ends both sides; the exchange is kept only with --keep-cut`,
    async (home) => {
      for (const keeps of [false, true]) {
        await using place = await relay(home, { out: `${keeps}`, flags: keeps ? ["--keep-cut"] : [] });
        const connection = await place.connect();
        const [created = ""] = answerOf("resp_1");
        connection.client.send(create("a"));
        await connection.upstream.take();
        connection.upstream.send(created);
        await connection.client.take();
        end(connection);
        // The client of the runtime has 0 for a connection that broke off.
        assert.equal((await connection[other].closed.promise).code || 1006, close.code);
        await place.recorder.reported(1);
        await place.recorder.end();
        assert.deepEqual(place.recorder.exchanges.map((event) => [event.ended, event.reason]), [[
          ended,
          keeps ? null : ended,
        ]]);
        const { response, text } = (keeps ? exchangesOf(place.recorder.out) : [])[0] ?? {};
        if (keeps) {
          assert.deepEqual([response.ended, response.terminal, response.close, text], [
            ended,
            false,
            close,
            lines([created]),
          ]);
        }
      }
    },
    test.long,
  );
}

withHome(
  "a close between two answers leaves a whole exchange; the end of the recording drops one under way",
  async (home) => {
    await using place = await relay(home);
    const [first, second] = [await place.connect(), await place.connect()];
    await ask(second, create("a"), answerOf("resp_a"));
    second.upstream.close();
    await second.client.closed.promise;
    second.client.close();
    first.client.send(create("b"));
    await first.upstream.take();
    assert.equal((await place.recorder.end()).dropped, 1);
    assert.deepEqual(place.recorder.exchanges.map(({ reason }) => reason), [null, "stopped"]);
    const [{ response } = assert.fail()] = exchangesOf(place.recorder.out);
    assert.deepEqual([response.ended, response.close], [undefined, undefined]);
    assert.equal((await first.client.closed.promise).code, 1001);
  },
  test.long,
);
