/** Compares a played session with its folder, and lists the divergences. */
import { decodeUtf8Leniently, encodeUtf8 } from "../../domain/bytes.ts";
import { isJsonObject } from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import { firstDifference } from "../../fixture/match/difference.ts";
import { jsonOf } from "../../fixture/match/request_key.ts";
import type { Fixture } from "../../fixture/read.ts";
import type { SessionStep } from "../../fixture/session/session_file.ts";
import type { TestDivergence } from "../../schemas/server_events.ts";
import { isRecorded, sameBytes, type SessionState } from "./expectation.ts";
import type { StepOutcome } from "./step.ts";

/** One difference between a played session and its folder; `where` is such as `step 2, request 3` or `session fix, turn 4`. */
export type Divergence = TestDivergence & {
  /** Stable for programs. */
  readonly kind:
    | "exit"
    | "state"
    | "hangs"
    | "kill"
    | "request"
    | "unused_exchange"
    | "no_expectation"
    | "turn"
    | "missing_turn"
    | "further_turn"
    | "missing_session"
    | "further_session"
    | "blobs"
    | "verdict";
};

export function divergenceLines(divergence: Divergence): string[] {
  const { where, message, path, expected, received, said } = divergence;
  return [
    `${where}: ${message}${path === undefined ? "" : ` at ${path}`}`,
    ...(expected === undefined ? [] : [`  expected: ${expected}`]),
    ...(received === undefined ? [] : [`  received: ${received}`]),
    ...(said === undefined ? [] : said.split("\n").map((line) => `  | ${line}`)),
  ];
}

/** Compares the outcome of a step, which `--update` never rewrites. */
export function compareEnd(step: SessionStep, end: StepOutcome, number: number): Divergence[] {
  const where = `step ${number} (${step.args[0]})`;
  const said = end.said === "" ? {} : { said: end.said };
  if (end.hung) return [{ kind: "hangs", where, message: "did not end in two minutes" }];
  if (step.kill !== undefined && !end.saved.includes(step.kill.turn)) {
    const received = end.saved.length === 0 ? "no turn" : `turns ${end.saved.join(", ")}`;
    const expected = `turn ${step.kill.turn}`;
    const message = "never saved the turn of its kill";
    return [{ kind: "kill", where, message, expected, received, ...said }];
  }
  if (end.exit !== step.exit) {
    const codes = { expected: String(step.exit), received: String(end.exit) };
    return [{ kind: "exit", where, message: "ended with another exit code", ...codes, ...said }];
  }
  if (step.state === undefined || end.state === step.state) return [];
  const states = { expected: step.state, received: end.state ?? "no state" };
  return [{ kind: "state", where, message: "ended in another state", ...states, ...said }];
}

/** Finds the exchanges that a step did not use, which `--update` never removes. */
export function compareUse(fixture: Fixture, end: StepOutcome, number: number): Divergence[] {
  const of = fixture.exchanges.length;
  const used = end.requests.length;
  if (used >= of) return [];
  return [{
    kind: "unused_exchange",
    where: `step ${number}, ${of - used === 1 ? `exchange ${of}` : `exchanges ${used + 1} to ${of}`}`,
    message: "was not used",
    expected: counted(of, "request"),
    received: String(used),
  }];
}

/** Finds the first request of a step that differs from the recorded one. */
export function compareRequests(fixture: Fixture, end: StepOutcome, number: number): Divergence[] {
  for (const recorded of fixture.exchanges) {
    const { number: exchange, request } = recorded;
    const sent = end.requests[exchange - 1];
    if (sent === undefined || request.bodySha256 === null) continue;
    const where = `step ${number}, request ${exchange}`;
    if (`${sent.method} ${sent.path}` !== `${request.method} ${request.path}`) {
      const [expected, received] = [`${request.method} ${request.path}`, `${sent.method} ${sent.path}`];
      return [{ kind: "request", where, message: "goes to another path", expected, received }];
    }
    if (isRecorded(recorded, sent)) continue;
    const bodies = [request.body ?? new Uint8Array(), encodeUtf8(sent.body)] as const;
    return [{
      kind: "request",
      where,
      message: "differs",
      ...jsonDifference(...bodies) ?? byteDifference(...bodies),
    }];
  }
  return [];
}

/** Compares the sessions with `expect/`: reports the first turn of each session that differs, else its blobs. */
export function compareSessions(expected: SessionState, received: SessionState): Divergence[] {
  const sessions = [...new Set([...expected.keys(), ...received.keys()].map(sessionOf))].sort();
  return sessions.flatMap((session): Divergence[] => {
    const where = `session ${session}`;
    const of = (state: SessionState) => [...state].filter(([name]) => sessionOf(name) === session);
    if (of(expected).length === 0) {
      return [{ kind: "further_session", where, message: "is not in expect/" }];
    }
    if (of(received).length === 0) {
      return [{ kind: "missing_session", where, message: "is in expect/, but was not created" }];
    }
    const turn = firstTurn(session, expected, received);
    return turn !== null ? [turn] : compareBlobs(session, expected, received);
  });
}

function firstTurn(session: string, expected: SessionState, received: SessionState): Divergence | null {
  const names = [...new Set([...expected.keys(), ...received.keys()])]
    .filter((name) => name.startsWith(`${session}/turns/`)).sort();
  for (const name of names) {
    const where = `session ${session}, turn ${Number.parseInt(name.slice(name.lastIndexOf("/") + 1), 10)}`;
    const [was, is] = [expected.get(name), received.get(name)];
    if (was === undefined) return { kind: "further_turn", where, message: "is not in expect/" };
    if (is === undefined) {
      return { kind: "missing_turn", where, message: "is in expect/, but was not written" };
    }
    if (sameBytes(was, is)) continue;
    return { kind: "turn", where, message: "differs", ...turnsDiffer(was, is) };
  }
  return null;
}

function compareBlobs(session: string, expected: SessionState, received: SessionState): Divergence[] {
  const lines = (state: SessionState) => {
    const bytes = state.get(`${session}/blobs`);
    return bytes === undefined ? [] : decodeUtf8Leniently(bytes).trimEnd().split("\n");
  };
  const [was, is] = [lines(expected), lines(received)];
  const missing = was.find((line) => !is.includes(line));
  const further = is.find((line) => !was.includes(line));
  if (missing === undefined && further === undefined) return [];
  return [{
    kind: "blobs",
    where: `session ${session}, blobs`,
    message: "hold other contents",
    expected: missing ?? "nothing more",
    received: further ?? "nothing more",
  }];
}

/** Compares turns. Reports sum and link, which follow from the other members, only if no other member differs. */
function turnsDiffer(was: Uint8Array, is: Uint8Array): Difference {
  const content = (bytes: Uint8Array): Uint8Array => {
    const json = jsonOf(bytes);
    if (!isJsonObject(json)) return bytes;
    const { prev: _prev, sum: _sum, ...rest } = json;
    return encodeUtf8(JSON.stringify(rest));
  };
  return jsonDifference(content(was), content(is)) ?? jsonDifference(was, is) ?? byteDifference(was, is);
}

type Difference = Required<Pick<Divergence, "path" | "expected" | "received">>;

/** Finds the first difference of two JSON documents; `null` if they mean the same, or are no JSON. */
function jsonDifference(was: Uint8Array, is: Uint8Array): Difference | null {
  const [before, after] = [was, is].map((body) => {
    return { method: "", path: "", api: null, body, json: jsonOf(body) };
  });
  if (before?.json === undefined || after?.json === undefined) return null;
  const found = firstDifference(before, after, { semantic: false, nameOf: () => "" });
  return found && { path: found.path, expected: found.recorded, received: found.received };
}

/** Bytes before and after a difference that are shown. */
const CONTEXT = 40;

function byteDifference(was: Uint8Array, is: Uint8Array): Difference {
  let at = 0;
  while (at < was.length && was[at] === is[at]) at++;
  const shown = (bytes: Uint8Array) =>
    JSON.stringify(decodeUtf8Leniently(bytes.subarray(Math.max(0, at - CONTEXT), at + CONTEXT)));
  return { path: `byte ${at}`, expected: shown(was), received: shown(is) };
}

function sessionOf(name: string): string {
  return name.slice(0, name.indexOf("/"));
}
