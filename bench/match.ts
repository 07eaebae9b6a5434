/**
 * Matching in `reprise serve`: an agent's conversation that grows from request to request, against an earlier version where
 * no match rules are needed, and with match rules against without.
 *
 * @module
 */
import { join } from "node:path";
import type { JsonObject } from "../src/domain/json.ts";
import { writeFixture } from "../tests/support/fixture.ts";
import { responseStream } from "../tests/unit/fixture/serve/given.ts";
import { type Bench, type BenchContext, sized } from "./bench.ts";
import { makeBinaries } from "./binaries.ts";
import { postOf, sendAll } from "./clients.ts";
import { type Report, type Row, type SkippedRow, timeRow } from "./report.ts";
import { type RunningServer, startReprise } from "./servers.ts";
import { type Candidate, interleave, timedAsync } from "./timing.ts";

const PATH = "/v1/responses";
const WARMUPS = 1;
const TOOLS_BYTES = 64 * 1024;
const TOOLS = 16;
/** Rules that `record` writes for such an agent, with its profile. */
const MATCH = { normalize: ["codex"] };

/** Values that an agent writes into its requests. */
interface Place {
  readonly cwd: string;
  readonly home: string;
  readonly date: string;
  /** Prefix of what is new in each output of a tool. */
  readonly mark: string;
}

const RECORDED: Place = {
  cwd: "/srv/recorded/project",
  home: "/srv/alice",
  date: "2026-11-22",
  mark: "a",
};
const ELSEWHERE: Place = { cwd: "/builds/42/repo", home: "/srv/bob", date: "2027-01-04", mark: "b" };

/** Requests of one conversation that a client sends in a round. */
type Conversation = "same" | "equal" | "ruled";

/** Measures whole conversations; each is recorded once for each round, as each exchange is played once. */
export const matchBench: Bench = async (context) => {
  const turns = sized(context, { full: 100, quick: 20 });
  const rounds = sized(context, { full: 5, quick: 2 });
  const numbers = Array.from({ length: rounds + WARMUPS }, (_, index) => index);
  const writeFixtureOf = (name: string, kinds: readonly Conversation[], header = {}) =>
    writeFixture(
      join(context.workDirectory, name),
      numbers.flatMap((round) => kinds.flatMap((kind) => exchangesOf(`${kind} ${round}`, turns))),
      header,
    );
  const plain = writeFixtureOf("match-plain", ["same", "equal"]);
  const ruled = writeFixtureOf("match-ruled", ["ruled"], { match: MATCH });
  const { reprise } = await makeBinaries(context);
  const servers: RunningServer[] = [];
  const serving = async (binary: string, fixture: string) => {
    const server = await startReprise(binary, ["serve", fixture]);
    servers.push(server);
    return (kind: Conversation): Candidate => ({
      measure: (round) => {
        const requests = requestsOf(kind, round, turns).map((body) => postOf(server.origin, PATH, body));
        return timedAsync(() => sendAll(server.origin, requests, { clients: 1, leastBytes: LEAST_BYTES }));
      },
    });
  };
  try {
    const [own, rules] = [await serving(reprise, plain), await serving(reprise, ruled)];
    const earlier = context.against === null ? null : await serving(context.against, plain);
    const times = await interleave({
      same: own("same"),
      equal: own("equal"),
      ruled: rules("ruled"),
      earlierSame: earlier?.("same") ?? null,
      earlierEqual: earlier?.("equal") ?? null,
    }, { rounds, warmups: WARMUPS });
    return {
      rows: [
        earlierRow("requests in recorded bytes", times.same, times.earlierSame),
        earlierRow("requests of the same meaning", times.equal, times.earlierEqual),
        timeRow({
          name: "requests that match by rules",
          against: "of the same meaning, time",
          times: times.ruled,
          againstTimes: times.equal,
          target: { bound: "at_most", value: 3 },
        }),
      ],
      notes: [notes(context, turns, rounds)],
    } satisfies Report;
  } finally {
    for (const server of servers) await server.stop();
  }
};

function notes({ against }: BenchContext, turns: number, rounds: number): string {
  const [first = "", last = ""] = requestsOf("equal", 0, turns).filter((_, index) =>
    index === 0 || index === turns - 1
  );
  const size = (text: string) => `${Math.round(text.length / 1024)} KiB`;
  return `${rounds} rounds of a conversation of ${turns} requests, from ${size(first)} to ${size(last)}; ` +
    `another directory, home, day and ids of outputs for the rules of ${MATCH.normalize.join()}` +
    `${against === null ? "" : `; the earlier version is ${against}`}.`;
}

function earlierRow(
  name: string,
  times: readonly number[],
  againstTimes: readonly number[],
): Row | SkippedRow {
  if (againstTimes.length === 0) return { name, skipped: "no earlier version: --against BINARY" };
  return timeRow({
    name,
    against: "earlier version, time",
    times,
    againstTimes,
    target: { bound: "at_most", value: 1.1 },
  });
}

/** Requests of round `round`: those that were recorded, in the same bytes or not, or those of another place. */
function requestsOf(kind: Conversation, round: number, turns: number): readonly string[] {
  const at = kind === "ruled" ? ELSEWHERE : RECORDED;
  return Array.from({ length: turns }, (_, turn) => {
    const body = requestBody(`${kind} ${round}`, turn, at);
    return JSON.stringify(kind === "equal" ? { ...body, prompt_cache_key: "another" } : body);
  });
}

function exchangesOf(prompt: string, turns: number) {
  return Array.from({ length: turns }, (_, turn) => ({
    request: { path: PATH, body: requestBody(prompt, turn, RECORDED) },
    body: answer(prompt, turn),
  }));
}

/** Request of one turn of an agent: tools, its environment, and the history of calls with their outputs. */
function requestBody(prompt: string, turn: number, at: Place): JsonObject {
  const environment =
    `<environment_context>\n  <cwd>${at.cwd}</cwd>\n  <current_date>${at.date}</current_date>\n` +
    `</environment_context>\nSkills are in ${at.home}/.codex/skills/system`;
  return {
    model: "gpt-5.6",
    instructions: "You are an engineer who works in a terminal. ".repeat(100),
    tools: AGENT_TOOLS,
    input: [
      { role: "user", content: environment },
      { role: "user", content: `Do ${prompt}` },
      ...Array.from({ length: turn }, (_, index) => [
        call(prompt, index),
        { type: "function_call_output", call_id: callId(prompt, index), output: outputOf(index, at) },
      ]).flat(),
    ],
    stream: true,
    store: false,
  };
}

function outputOf(turn: number, { cwd, mark }: Place): string {
  const lines = `${cwd}/src/file_${turn}.ts: export const value = ${turn};\n`.repeat(6);
  return `Chunk ID: ${mark}${turn.toString(16).padStart(5, "0")}\nWall time: 0.0${
    mark === "a" ? 1 : 2
  } seconds\nOutput:\n${lines}`;
}

const AGENT_TOOLS = Array.from({ length: TOOLS }, (_, index) => ({
  type: "function",
  name: `tool_${index}`,
  description: "Reads, searches and changes files of the workspace. ".repeat(TOOLS_BYTES / TOOLS / 52),
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  strict: false,
}));

function callId(prompt: string, turn: number): string {
  return `call_${prompt.replace(" ", "_")}_${turn}`;
}

/** Call of a turn; the model writes the directory of the recording. */
function call(prompt: string, turn: number): JsonObject {
  const args = JSON.stringify({ cmd: `cat ${RECORDED.cwd}/src/file_${turn}.ts` });
  return { type: "function_call", call_id: callId(prompt, turn), name: "tool_1", arguments: args };
}

function answer(prompt: string, turn: number): string {
  return responseStream([{ done: { id: `fc_${turn}`, status: "completed", ...call(prompt, turn) } }]);
}

const LEAST_BYTES = answer("same 0", 0).length;
