/**
 * The table of docs/rules.md says what clients do: each cell is compared with a client that meets the fault from `serve`,
 * our own and the official ones, with waits, stalls and broken connections.
 */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { chat, STOP } from "../doors/recordings/answers.ts";
import { Served } from "../doors/recordings/served.ts";
import type { Json } from "../support/files.ts";
import { callHere } from "../support/in_process.ts";
import { answer, message, reasoning, startResponsesServer } from "../support/scripted_api/responses.ts";
import { says, startMessagesServer, text, thinking } from "../support/scripted_api/messages.ts";
import { homeOfRecordings } from "./support.ts";

type Api = "responses" | "messages";

const APIS = ["responses", "messages"] as const;
const MODELS = { responses: "gpt-5.6", messages: "claude-opus-5" } as const;
const PROVIDERS = { responses: "openai", messages: "anthropic" } as const;
const SAID = "Grüße 😀, all is well here.";
/** For how long a stalled answer is waited for. */
const PATIENCE_MS = 4000;
/** Our own client waits for 300 s for the rest of an answer: there its clock and that of the server run faster. */
const speedFor = (fault: string) => fault === "stall after 2 events for 400s" ? 30 : 1;

/** Answer of each API, in chunks of 100 bytes. */
const ANSWERS: Readonly<Record<Api, Json>> = {
  responses: await answerOf("responses"),
  messages: await answerOf("messages"),
};

async function answerOf(api: Api): Promise<Json> {
  await using server = api === "responses"
    ? startResponsesServer({ script: [answer([reasoning("Greet."), message(SAID)])] })
    : startMessagesServer({ script: [says([thinking("Greet."), text(SAID)])] });
  const body = api === "responses"
    ? { model: MODELS.responses, input: [{ role: "user", content: "Go" }], store: false, stream: true }
    : { model: MODELS.messages, max_tokens: 64, messages: [{ role: "user", content: "Go" }], stream: true };
  const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${server.baseUrl}/${api}`, init);
  const stream = await response.text();
  assert.equal(response.status, 200, stream);
  const { length } = new TextEncoder().encode(stream);
  const chunks = Array.from({ length: Math.ceil(length / 100) }, (_, index) => [index * 100, index * 10]);
  const id = api === "responses" ? "x-request-id" : "request-id";
  return {
    request: { path: `/v1/${api}`, body },
    response: {
      headers: { "content-type": "text/event-stream; charset=utf-8", [id]: "req_recorded" },
      chunks,
    },
    body: stream,
  };
}

const HOME = homeOfRecordings();
const FOLDERS = {
  responses: HOME.fixture("faulty-responses", [ANSWERS.responses], { provider: "openai" }),
  messages: HOME.fixture("faulty-messages", [ANSWERS.messages], { provider: "anthropic" }),
  chat: HOME.fixture("faulty-chat", [chat("a", { content: "Hello" }, STOP)]),
};

/** Serves the answer of an API with a fault. */
function serveFaults(fault: string, api: keyof typeof FOLDERS, speed = 1): Promise<Served> {
  const flags = ["--match", "sequence", "--rules", "none", "--fault", fault];
  return Served.start(HOME, [FOLDERS[api]], { flags, speed });
}

/** Outcome of a client: what it ended with, and how often it asked again. */
async function observed(fault: string, api: Api, isOwn: boolean): Promise<string> {
  await using server = await serveFaults(fault, api, isOwn ? speedFor(fault) : 1);
  const outcome = await (isOwn ? ownOutcome(api, server.origin, fault) : officialOutcome(api, server.origin));
  await server.end();
  const asked = server.events.filter(({ type }) => type === "played" || type === "faulted");
  if (!asked.some((event) => "fault" in event)) return "no place for it";
  const retries = asked.length - 1;
  return `${outcome}${retries === 0 ? "" : ` after ${retries} ${retries === 1 ? "retry" : "retries"}`}`;
}

/** One run of a new session. A stall without an end is ended as `--timeout` ends it. */
async function ownOutcome(api: Api, origin: string, fault: string): Promise<string> {
  const variable = PROVIDERS[api].toUpperCase();
  const base = api === "responses" ? `${origin}/v1` : origin;
  const called = await callHere({
    args: [
      ...["run", "--json", "--new", "-p", PROVIDERS[api], "-m", MODELS[api], "--base-url", base],
      ...(fault === "stall after 2 events" ? ["--timeout", "10"] : []),
      "Go",
    ],
    cwd: HOME.workspace,
    env: { ...HOME.environment(), [`${variable}_API_KEY`]: "key-1" },
    stdin: new Uint8Array(0),
    speed: speedFor(fault),
  });
  const events = called.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  const ended = events.at(-1);
  assert.equal(ended.exit_code, called.code, called.stdout);
  const error = events.find(({ type }) => type === "error");
  const asked = ASKED[fault];
  const [first] = events.filter(({ type, kind }) => type === "notice" && kind === "retry");
  if (asked !== undefined) assert.ok(first.delay_ms >= asked, `${fault}: waits for ${first.delay_ms} ms`);
  return error?.code ?? (ended.state === "completed" ? `completed${otherText(ended.text)}` : ended.state);
}

/** One request of the official client of an API, with its own defaults, whose stream it reads to its end. */
async function officialOutcome(api: Api, origin: string): Promise<string> {
  const idle = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waited = false;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      waited = true;
      idle.abort();
    }, PATIENCE_MS);
  };
  try {
    const read = api === "responses" ? readResponses : readMessages;
    const { said, ended } = await read(origin, idle.signal, heard);
    if (waited) return "waits";
    if (ended === null) return "ends early";
    return ended === "completed" ? `completed${otherText(said)}` : ended;
  } catch (error) {
    return waited ? "waits" : `throws ${error instanceof Error ? error.constructor.name : String(error)}`;
  } finally {
    clearTimeout(timer);
  }
}

/** Text of an answer, and the end that its last event reports; `null` if no event does. */
interface Read {
  readonly said: string;
  readonly ended: string | null;
}

async function readResponses(origin: string, signal: AbortSignal, heard: () => void): Promise<Read> {
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: "key", logLevel: "off" });
  const stream = await client.responses.create({ model: "gpt-5.6", input: "Go", stream: true }, { signal });
  let said = "";
  let ended: string | null = null;
  heard();
  for await (const event of stream) {
    heard();
    if (event.type === "response.output_text.delta") said += event.delta;
    if (["response.completed", "response.incomplete", "response.failed"].includes(event.type)) {
      ended ??= event.type.slice("response.".length);
    }
  }
  return { said, ended };
}

async function readMessages(origin: string, signal: AbortSignal, heard: () => void): Promise<Read> {
  const client = new Anthropic({ baseURL: origin, apiKey: "key", logLevel: "off" });
  const messages = [{ role: "user", content: "Go" } as const];
  const stream = await client.messages.create(
    { model: MODELS.messages, max_tokens: 64, messages, stream: true },
    { signal },
  );
  let said = "";
  let reason: string | null = null;
  let ended: string | null = null;
  heard();
  for await (const event of stream) {
    heard();
    if (event.type === "content_block_delta" && event.delta.type === "text_delta") said += event.delta.text;
    if (event.type === "message_delta") reason = event.delta.stop_reason;
    if (event.type === "message_stop") ended = reason === "end_turn" ? "completed" : reason;
  }
  return { said, ended };
}

function otherText(said: string): string {
  return said === SAID ? "" : " with another text";
}

const PAGE = Deno.readTextFileSync(new URL("../../docs/rules.md", import.meta.url));

/** The faults of each line, each with the outcome for each client. */
const ROWS = PAGE.slice(PAGE.indexOf("### What clients do")).split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => {
    const [faults = "", ...clients] = line.split("|").slice(1, -1).map((cell) => cell.trim());
    const cells = clients.flatMap((cell) => {
      const [responses = "", messages = responses] = cell.split("; Messages: ");
      return [responses, messages];
    });
    return [...faults.matchAll(/`([^`]+)`/g)].map(([, fault = ""]) => ({ fault, cells }));
  });

/** A server asks for the wait, in milliseconds; without that, it is shorter. */
const ASKED: Readonly<Record<string, number>> = { "429 retry-after 1": 1000, "429 retry-after-ms 900": 900 };

Deno.test("docs/rules.md says for every form of a fault how clients react", () => {
  const forms = PAGE.slice(PAGE.indexOf("## Faults"), PAGE.indexOf("| `PLACE`")).split("\n")
    .flatMap((line) => /\| `([^`]+)` \|$/.exec(line)?.[1] ?? []);
  assert.ok(forms.length > 20);
  const wordOf = (fault: string) => fault.replace(/^[^:]*: /, "").split(/[ ,]/)[0];
  const listed = new Set(ROWS.map(({ fault }) => wordOf(fault)));
  assert.deepEqual(forms.filter((form) => !listed.has(wordOf(form))), []);
});

Deno.test("every client ends as docs/rules.md says, waits for as long as a server asks, and none hangs", async () => {
  assert.ok(ROWS.length > 40);
  const found = await Promise.all(ROWS.map(async ({ fault }) => {
    const own = await Promise.all(APIS.map((api) => observed(fault, api, true)));
    const since = performance.now();
    const official = await Promise.all(APIS.map((api) => observed(fault, api, false)));
    const asked = ASKED[fault] ?? 0;
    assert.ok(performance.now() - since >= asked - 20, `${fault}: a client did not wait`);
    return { fault, cells: [...own, ...official] };
  }));
  assert.deepEqual(found, ROWS);
});

const CHAT_ROWS: readonly (readonly [fault: string, outcome: RegExp])[] = [
  ["error flat rate_limit_exceeded", /The server had an error/],
  ["error nested", /The server had an error/],
  ["incomplete", /^length$/],
  ["incomplete content_filter", /^content_filter$/],
  ["no terminal event", /missing finish_reason for choice 0/],
  ["failed", /^stop$/],
  ["unknown events", /^stop$/],
  ["keepalives", /^stop$/],
  ["rotate ids", /^stop$/],
  ["429 retry-after 2", /^429 Rate limit reached for requests/],
];

Deno.test("the official client of Chat Completions reads a broken answer as its own errors and ends", async () => {
  await Promise.all(CHAT_ROWS.map(async ([fault, outcome]) => {
    await using server = await serveFaults(fault, "chat");
    const client = new OpenAI({ apiKey: "key-1", baseURL: `${server.origin}/v1`, maxRetries: 0 });
    const messages = [{ role: "user", content: "Hi" } as const];
    const stream = client.chat.completions.stream({ model: "m", messages });
    const ended = await stream.finalChatCompletion().then(
      ({ choices: [choice] }) => choice?.finish_reason ?? "no choice",
      (error: Error) => error.message,
    );
    assert.match(ended, outcome, fault);
  }));
});
