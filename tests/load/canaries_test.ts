/**
 * Recordings of traffic that is full of secrets: none of them reaches a file or a screen. The forms of a secret are
 * written here without anything of the scrubber, so that a fault in one does not hide in the other.
 */
import assert from "node:assert/strict";
import { lacksBinary, needing } from "../support/needs.ts";
import { Buffer } from "node:buffer";
import { HELLO, Place, READS_A } from "../cli/harness.ts";
import { withServer } from "./listening.ts";
import { Sandbox } from "../support/reprise.ts";
import { Dice } from "../support/dice.ts";
import { bytesBelow } from "../support/files.ts";
import { scaled } from "../support/scale.ts";

/** A secret by where it comes from. */
interface Canary {
  readonly name: string;
  readonly value: string;
}

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Letters and digits that say nothing. */
function randomText(dice: Dice, length: number, from = DIGITS): string {
  return Array.from({ length }, () => from[dice.count(0, from.length - 1)]).join("");
}

/** The secret variables of a developer's shell. */
function secretEnvironment(dice: Dice): Canary[] {
  return [
    { name: "OPENAI_API_KEY", value: `sk-proj-${randomText(dice, 40)}` },
    { name: "ANTHROPIC_API_KEY", value: `sk-ant-api03-${randomText(dice, 40)}-AA` },
    { name: "AWS_SECRET_ACCESS_KEY", value: randomText(dice, 40, `${DIGITS}+/`) },
    { name: "GITHUB_TOKEN", value: `ghp_${randomText(dice, 36)}` },
    // A value that every format must escape.
    { name: "DB_PASSWORD", value: `p&"${randomText(dice, 8)}\\ /=+é%${randomText(dice, 8)}` },
    { name: "SESSION_SECRET", value: randomText(dice, 32, "0123456789abcdef") },
  ];
}

/** Returns the canaries that `bytes` hold, with their forms. */
function canariesIn(bytes: Uint8Array, canaries: readonly Canary[]): string[] {
  const haystack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return canaries.flatMap(({ name, value }) =>
    Object.entries(formsOf(value)).flatMap(([form, texts]) =>
      texts.some((text) => haystack.includes(text)) ? [`${name} ${form}`] : []
    )
  );
}

/** All encodings of a value. */
function formsOf(value: string): Record<string, string[]> {
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value);
  return {
    "plain": [value],
    "in JSON": [json],
    "in a URL": [
      url,
      url.replaceAll(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()),
      url.replaceAll("%20", "+"),
    ],
    "in base64": [0, 1, 2].flatMap((before) => {
      const inside = insideOfBase64(value, before);
      return [inside, inside.replaceAll("+", "-").replaceAll("/", "_")];
    }),
  };
}

/** Returns the part that the base64 of any text with `value` must hold, if `before` bytes (modulo 3) come first. */
function insideOfBase64(value: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value, "utf8")]);
  const whole = bytes.length - bytes.length % 3;
  return bytes.subarray(0, whole).toString("base64").slice(before === 0 ? 0 : 4);
}

const FLOWS = scaled(40, 200);
/** Flows through one recorder, whose environment has the secrets of all of them. */
const FLOWS_EACH = 10;
/** Runs of our own with `--record`, one session each. */
const RUNS = scaled(4, 20);

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One request with its answer, both with secrets in them. */
interface Flow {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  readonly answer: Uint8Array<ArrayBuffer>;
  readonly answerHeaders: Readonly<Record<string, string>>;
  /** Beside those of the environment. */
  readonly canaries: readonly Canary[];
}

/** A secret as people and programs put it into texts. */
function asText(value: string, dice: Dice): string {
  return dice.pick([
    () => `The key is ${value}, do not tell`,
    () => `Authorization: Basic ${Buffer.from(`user:${value}`).toString("base64")}`,
    () => `{"token":${JSON.stringify(value)}}`,
    () => `https://example.com/hook?id=7&sig=${encodeURIComponent(value)}`,
    () =>
      `${"x".repeat(dice.count(0, 3))}${Buffer.from(`${randomText(dice, 4)}${value}`).toString("base64url")}`,
  ])();
}

function flowOf(environment: readonly Canary[], dice: Dice): Flow {
  const bearer = { name: "authorization", value: `sk-flow-${randomText(dice, 32)}` };
  const cookie = { name: "cookie", value: randomText(dice, 32) };
  const query = { name: "query", value: randomText(dice, 32) };
  const said = () => asText(dice.pick([...environment, bearer]).value, dice);
  // Simple forms only for values in JSON that is in JSON.
  const inner = () => dice.pick(environment.filter(({ name }) => name !== "DB_PASSWORD")).value;
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "shell", status: "completed" };
  const input = [
    { role: "user", content: said() },
    { ...call, arguments: JSON.stringify({ command: `curl -H 'x: ${inner()}'` }) },
    { type: "function_call_output", call_id: "call_1", output: `$ env\n${said()}\n${said()}` },
  ];
  const answer = answerOf(said, inner, dice);
  return {
    path: `/v1/responses?${dice.pick(["key", "api_key", "access_token"])}=${query.value}`,
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${bearer.value}`,
      cookie: `session=${cookie.value}`,
    },
    body: JSON.stringify({
      model: "gpt-5.6",
      instructions: said(),
      input,
      stream: true,
      metadata: { note: said() },
    }),
    ...answer,
    answer: encoder.encode(answer.answer),
    canaries: [bearer, cookie, query],
  };
}

function answerOf(said: () => string, inner: () => string, dice: Dice) {
  const kind = dice.pick(["stream", "stream", "stream", "error", "page"] as const);
  const answerHeaders = {
    "set-cookie": `session=${inner()}`,
    "x-debug": said().replaceAll(/[^\x20-\x7e]/g, "?"),
  };
  if (kind === "error") {
    const error = {
      message: `Incorrect API key provided: ${said()}`,
      type: "invalid_request_error",
      code: null,
    };
    return {
      status: dice.pick([400, 401, 429, 500]),
      answer: JSON.stringify({ error }),
      answerHeaders: { ...answerHeaders, "content-type": "application/json" },
    };
  }
  if (kind === "page") {
    const answer = `<html><body>502 while asking for ${said()}</body></html>`;
    return { status: 502, answer, answerHeaders: { ...answerHeaders, "content-type": "text/html" } };
  }
  const text = said();
  const item = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text }] };
  const call = { type: "function_call", id: "fc_2", call_id: "call_2", name: "shell", arguments: inner() };
  const response = { id: "resp_1", object: "response", model: "gpt-5.6", status: "completed" };
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress", instructions: said() } },
    { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, delta: text },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.output_item.done", output_index: 1, item: call },
    { type: "response.completed", response: { ...response, output: [item, call], usage: null } },
  ];
  return {
    status: 200,
    answer: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
    answerHeaders: { ...answerHeaders, "content-type": "text/event-stream" },
  };
}

/** Answers the flows in order, in chunks cut anywhere. */
function startUpstream(flows: readonly Flow[], dice: Dice, signal: AbortSignal) {
  let next = 0;
  return Deno.serve({ hostname: "127.0.0.1", port: 0, signal, onListen() {} }, async (request) => {
    await request.arrayBuffer();
    const { status, answer, answerHeaders } = flows[next++] as Flow;
    let at = 0;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        if (at >= answer.length) return controller.close();
        // Writes that follow each other at once would arrive as one.
        await new Promise((resolve) => setTimeout(resolve, 1));
        const size = dice.count(1, 400);
        controller.enqueue(answer.subarray(at, at + size));
        at += size;
      },
    });
    return new Response(body, { status, headers: { ...answerHeaders } });
  });
}

async function recordFlows(batch: number): Promise<void> {
  const dice = new Dice(7000 + batch);
  await using sandbox = new Sandbox();
  const environment = secretEnvironment(dice);
  const flows = Array.from({ length: FLOWS_EACH }, () => flowOf(environment, dice));
  const canaries = [...environment, ...flows.flatMap(({ canaries }) => canaries)];
  for (const { body, answer } of flows) {
    assert.ok(
      canariesIn(encoder.encode(body), canaries).length > 0,
      "a request without a secret shows nothing",
    );
    assert.ok(canariesIn(answer, canaries).length > 0, "an answer without a secret shows nothing");
  }
  const stop = new AbortController();
  const upstream = startUpstream(flows, dice, stop.signal);
  const out = `${sandbox.directory}/recorded`;
  try {
    const { called } = await withServer(
      sandbox,
      ["record", "--upstream", `http://127.0.0.1:${upstream.addr.port}`, "--out", out],
      async (origin) => {
        for (const { path, headers, body, status, answer } of flows) {
          const response = await fetch(`${origin}${path}`, { method: "POST", headers: { ...headers }, body });
          assert.equal(response.status, status);
          assert.equal(await response.text(), decoder.decode(answer), "the client gets what the server said");
        }
      },
      Object.fromEntries(environment.map(({ name, value }) => [name, value])),
    );
    assert.equal(called.code, 0, called.stderr.slice(-2000));
    assert.equal([...Deno.readDirSync(`${out}/exchanges`)].length, flows.length, "every flow was published");
    assertNone(canaries, [...bytesBelow(out), ...outputs(called)], `batch ${batch}`);
  } finally {
    // Not shutdown(), which waits for answers that a failing test may never end.
    stop.abort();
    await upstream.finished;
  }
}

/** A run whose prompt and tool output hold secrets of the environment. */
async function recordRun(number: number): Promise<void> {
  const dice = new Dice(9000 + number);
  // The harness has a key of its own in OPENAI_API_KEY.
  const environment = secretEnvironment(dice).filter(({ name }) => name !== "OPENAI_API_KEY");
  const said = () => asText(dice.pick(environment).value, dice);
  await using place = new Place(({ input }) => input.at(-1)?.type === "message" ? READS_A : HELLO);
  const env = Object.fromEntries(environment.map(({ name, value }) => [name, value]));
  const content = `alpha ${said()}\nbeta ${said()}\n`;
  Deno.writeTextFileSync(`${place.sandbox.workspace}/a.txt`, content);
  const out = `${place.sandbox.directory}/recorded`;
  const called = await place.call(["run", "--record", out, `Look at a.txt: ${said()}`], { env });
  assert.equal(called.code, 0, called.stderr.slice(-2000));
  const key = { name: "OPENAI_API_KEY", value: String(place.env.OPENAI_API_KEY) };
  const files = [...bytesBelow(out)];
  assert.ok(files.some(([path]) => path.endsWith("tools.json")), "the results of the tools are kept");
  assertNone([...environment, key], [...files, ...outputs(called)], `run ${number}`);
}

function outputs({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) {
  return [["stdout", encoder.encode(stdout)], ["stderr", encoder.encode(stderr)]] as const;
}

function assertNone(
  canaries: readonly Canary[],
  places: readonly (readonly [path: string, bytes: Uint8Array])[],
  where: string,
): void {
  const hits = places.flatMap(([path, bytes]) =>
    [...canariesIn(bytes, canaries), ...canariesIn(encoder.encode(path), canaries)]
      .map((hit) => `${where}: ${hit} in ${path}`)
  );
  assert.deepEqual(hits, []);
}

Deno.test({
  ...needing(
    "200 recorded flows leave no secret in files, on stdout or on stderr, in no form",
    lacksBinary(),
  ),
  fn: async () => {
    for (let batch = 0; batch < FLOWS / FLOWS_EACH; batch++) await recordFlows(batch);
  },
});

Deno.test({
  ...needing("a recorded run leaves no secret of its prompt and its tools in the fixture", lacksBinary()),
  fn: async () => {
    for (let number = 0; number < RUNS; number++) await recordRun(number);
  },
});
