/**
 * The table of docs/rules.md says what clients do: each cell is compared with a client that meets the fault, our own
 * over the player and the official ones over HTTP, from a server with real waits, stalls and broken connections.
 */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { messagesApi } from "../../src/apis/messages/api.ts";
import { responsesApi } from "../../src/apis/responses/api.ts";
import type { FaultyAnswer } from "../../src/fixture/faults/apply.ts";
import { type Fault, FAULT_FORMS, parseFault } from "../../src/fixture/faults/fault.ts";
import { type FaultPlan, parseFaults } from "../../src/fixture/faults/plan.ts";
import { playableFault } from "../../src/fixture/read.ts";
import { pacedBody } from "../../src/fixture/serve/pace.ts";
import { createReplayer } from "../../src/fixture/serve/replayer.ts";
import type { ServeEvent } from "../../src/fixture/serve/serve_event.ts";
import { startReplayServer } from "../support/replay_server.ts";
import { EXIT_CODE_OF } from "../../src/domain/errors.ts";
import { executeRun } from "../../src/run/loop.ts";
import { Stop } from "../../src/run/outcome.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";
import { createPlayer } from "../../src/transport/player.ts";
import { type Api, applied, recorded, SAID } from "../support/broken_answers.ts";
import { fixture } from "../support/given_fixture.ts";
import { scripted } from "../support/scripted.ts";
import { ID, testPorts, withHome } from "../unit/store/support.ts";
import { fakeClock, realClock } from "./clocks.ts";

/** A running server. */
interface FaultServer extends AsyncDisposable {
  readonly origin: string;
  /** Arrival time of each request, in milliseconds of one clock. */
  readonly arrivals: readonly number[];
}

/** Starts a server on a free port. */
function serveFaults(answerOf: (number: number) => FaultyAnswer): FaultServer {
  const stopping = new AbortController();
  const arrivals: number[] = [];
  const pacing = { pace: Infinity, clock: realClock, stopped: stopping.signal };
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen() {},
    // Also hears of bodies that break, which is what faults are for.
    onError: () => new Response(null, { status: 500 }),
  }, async (request) => {
    const asked = realClock.monotonic();
    arrivals.push(asked);
    const { status, headers, steps } = answerOf(arrivals.length);
    await request.text();
    return new Response(pacedBody(steps, asked, pacing), { status, headers });
  });
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    arrivals,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await server.shutdown();
    },
  };
}

const REQUESTS = 4;
/** For how long a stalled answer is waited for. */
const PATIENCE_MS = 2000;

/** An observation, and for how long the client waited between its requests, in milliseconds. */
interface Observed {
  readonly words: string;
  readonly waits: readonly number[];
}

/** Observation of a plan whose first answer has no place for its fault. */
const NO_PLACE: Observed = { words: "no place for it", waits: [] };

/** Our own client: one run of a new session. A stall is ended as `--timeout` ends it. */
async function ownClient(api: Api, plan: FaultPlan): Promise<Observed> {
  const answers = Array.from(
    { length: REQUESTS },
    (_, index) => applied(api, plan.faultOf(index + 1)?.fault ?? null),
  );
  if (answers[0]?.applied === false) return NO_PLACE;
  const clock = fakeClock();
  const ports = testPorts({ clock });
  return await withHome(async (home) => {
    const writer = await SessionWriter.create(ports, home, { id: ID });
    const stop = new Stop();
    const stalls = answers[0]?.steps.some((step) => "stall" in step) === true;
    const timer = stalls ? setTimeout(() => stop.request("timeout"), 30) : undefined;
    try {
      const { setup, events } = scripted(ports, writer, {
        script: [],
        stop,
        api: api === "responses" ? responsesApi : messagesApi,
        provider: api === "responses" ? "openai" : "anthropic",
        send: createPlayer(answers.map(playableFault), { clock }),
        model: api === "responses" ? "gpt-5.6" : "claude-opus-5",
      });
      const ended = await executeRun(setup, {
        kind: "prompt",
        content: [{ type: "input_text", text: "Go" }],
      });
      const waits = events.flatMap((event) =>
        event.type === "notice" && event.kind === "retry" ? [event.delay_ms] : []
      );
      const codes = events.flatMap((event) => event.type === "error" ? [event.code] : []);
      assert.deepEqual(
        codes.map((code) => EXIT_CODE_OF[code]),
        ended.exit_code === 0 ? [] : [ended.exit_code],
      );
      const said = ended.state === "completed" ? otherText(ended.text) : "";
      const words = `${codes[0] ?? ended.state}${said}${after(waits.length)}`;
      return { words, waits };
    } finally {
      clearTimeout(timer);
      writer.close();
    }
  });
}

/** The official client of an API, with its own defaults, reading a stream to its end. */
async function officialClient(api: Api, plan: FaultPlan): Promise<Observed> {
  if (!applied(api, plan.faultOf(1)?.fault ?? null).applied) return NO_PLACE;
  await using server = serveFaults((number) => applied(api, plan.faultOf(number)?.fault ?? null));
  const outcome = await officialOutcome(api, server.origin);
  const { arrivals } = server;
  const waits = arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? at));
  return { words: `${outcome}${after(arrivals.length - 1)}`, waits };
}

/** Outcome of one request of the official client of an API to a server, such as `throws APIError`. */
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
    const { text, ended } = await (api === "responses" ? readResponses : readMessages)(
      origin,
      idle.signal,
      heard,
    );
    if (waited) return "waits";
    if (ended === null) return "ends early";
    return ended === "completed" ? `completed${otherText(text)}` : ended;
  } catch (error) {
    return waited ? "waits" : `throws ${error instanceof Error ? error.constructor.name : String(error)}`;
  } finally {
    clearTimeout(timer);
  }
}

/** Text of an answer, and the end that its last event reports; `null` if no event does. */
interface Read {
  readonly text: string;
  readonly ended: string | null;
}

async function readResponses(origin: string, signal: AbortSignal, heard: () => void): Promise<Read> {
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: "key", logLevel: "off" });
  const stream = await client.responses.create({ model: "gpt-5.6", input: "Go", stream: true }, { signal });
  let text = "";
  let ended: string | null = null;
  heard();
  for await (const event of stream) {
    heard();
    if (event.type === "response.output_text.delta") text += event.delta;
    if (["response.completed", "response.incomplete", "response.failed"].includes(event.type)) {
      ended ??= event.type.slice("response.".length);
    }
  }
  return { text, ended };
}

async function readMessages(origin: string, signal: AbortSignal, heard: () => void): Promise<Read> {
  const client = new Anthropic({ baseURL: origin, apiKey: "key", logLevel: "off" });
  const messages = [{ role: "user", content: "Go" } as const];
  const stream = await client.messages.create(
    { model: "claude-opus-5", max_tokens: 64, messages, stream: true },
    { signal },
  );
  let text = "";
  let reason: string | null = null;
  let ended: string | null = null;
  heard();
  for await (const event of stream) {
    heard();
    if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text;
    if (event.type === "message_delta") reason = event.delta.stop_reason;
    if (event.type === "message_stop") ended = reason === "end_turn" ? "completed" : reason;
  }
  return { text, ended };
}

function otherText(text: string): string {
  return text === SAID ? "" : " with another text";
}

/** Says after how many retries. */
function after(retries: number): string {
  return retries === 0 ? "" : ` after ${retries} ${retries === 1 ? "retry" : "retries"}`;
}

const TEXT = Deno.readTextFileSync(new URL("../../docs/rules.md", import.meta.url));

/** The faults of each line, each with the outcome for each client. */
const ROWS = TEXT.slice(TEXT.indexOf("### What clients do")).split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => {
    const [faults = "", ...clients] = line.split("|").slice(1, -1).map((cell) => cell.trim());
    const cells = clients.flatMap((cell) => {
      const [responses = "", messages = responses] = cell.split("; Messages: ");
      return [responses, messages];
    });
    return [...faults.matchAll(/`([^`]+)`/g)].map(([, fault = ""]) => ({ fault, cells }));
  });

/** A server asks for the wait; without that, it is shorter. */
const ASKED: Readonly<Record<string, number>> = { "429 retry-after 1": 1000, "429 retry-after-ms 900": 900 };

const CLIENTS: readonly ((plan: ReturnType<typeof parseFaults>) => Promise<Observed>)[] = [
  (plan) => ownClient("responses", plan),
  (plan) => ownClient("messages", plan),
  (plan) => officialClient("responses", plan),
  (plan) => officialClient("messages", plan),
];

/** Returns the kind of a fault; numbers and texts do not make another kind. */
function kindOf(fault: Fault): string {
  const { kind } = fault;
  if ("at" in fault) return `${kind} ${"unit" in fault.at ? fault.at.unit : fault.at.inside}`;
  if (kind === "error") return `${kind} ${fault.shape}`;
  if (kind === "noise") return fault.noise;
  return kind === "status" ? `${kind} ${fault.status} ${Object.keys(fault.headers)}` : kind;
}

Deno.test("docs/rules.md says for every form of a fault how clients react", () => {
  const listed = ROWS.flatMap(({ fault }) =>
    fault.replace(/^[^:]*:/, "").split(",").filter((one) => one.trim() !== "ok")
      .map((one) => kindOf(parseFault(one)).split(" ")[0])
  );
  const forms = FAULT_FORMS.map(({ example }) => kindOf(parseFault(example)).split(" ")[0]);
  assert.deepEqual(forms.filter((form) => !listed.includes(form)), []);
  const kinds = ROWS.map(({ fault }) => fault);
  for (
    const line of ["cut mid-line", "cut mid-utf8", "error flat", "error nested", "429", "500", "503", "529"]
  ) {
    assert.ok(kinds.includes(line), line);
  }
});

Deno.test("every client ends as docs/rules.md says, waits for as long as a server asks, and none hangs", async () => {
  assert.ok(ROWS.length > 30);
  await Promise.all(ROWS.map(async ({ fault, cells }) => {
    const plan = parseFaults(fault);
    const observed = await Promise.all(CLIENTS.map((client) => client(plan)));
    assert.deepEqual(observed.map(({ words }) => words), cells, fault);
    const asked = ASKED[fault];
    for (const [first] of observed.map(({ waits }) => waits)) {
      // Timers may fire a little early. Nothing asked: 375 to 500 ms.
      if (asked !== undefined) assert.ok((first ?? 0) >= asked - 20, `${fault}: waited ${first} ms`);
    }
  }));
});

/** Faults that each API writes in a shape of its own. */
const IN_SHAPE_OF_API = /^(?:\d-\d: )?(?:error|failed|incomplete|no terminal|unknown|keepalives|fail|\d{3})/;

Deno.test("in a fixture of both APIs each answer breaks as those of its own API do, whatever provider the fixture names", async () => {
  const given = (["responses", "messages"] as const).map((api) => ({
    path: `/v1/${api}`,
    request: {},
    response: new TextDecoder().decode(recorded(api).body),
  }));
  const lines = ROWS.filter(({ fault }) => IN_SHAPE_OF_API.test(fault));
  assert.ok(lines.length > 15);
  const served = async (provider: "openai" | "anthropic", api: Api, fault: string) => {
    const events: ServeEvent[] = [];
    const server = startReplayServer({
      replayer: createReplayer([fixture(given, { provider })], { match: "sequence", rules: null }),
      faults: parseFaults(fault),
      pace: Infinity,
      clock: realClock,
      port: 0,
      onEvent: (event) => events.push(event),
    });
    try {
      const outcome = await officialOutcome(api, server.origin);
      const requests = events.filter(({ type }) => type === "played" || type === "faulted");
      assert.ok("fault" in (requests[0] ?? {}), fault);
      return `${outcome}${after(requests.length - 1)}`;
    } finally {
      await server.stop();
    }
  };
  await Promise.all(lines.map(async ({ fault, cells: [, , ...cells] }) => {
    for (const provider of ["openai", "anthropic"] as const) {
      const outcomes = [
        await served(provider, "responses", fault),
        await served(provider, "messages", fault),
      ];
      assert.deepEqual(outcomes, cells, `${fault} (${provider})`);
    }
  }));
});
