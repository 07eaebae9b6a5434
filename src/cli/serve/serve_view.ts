/** Output of `serve` for people: a line for each request, and a summary. */
import { counted } from "../../domain/text.ts";
import type { SkippedEvent, TurnedAwayEvent } from "../../fixture/loopback/guard.ts";
import { MAX_DIFFERENCES } from "../../fixture/match/difference.ts";
import { TIERS } from "../../fixture/match/tiers.ts";
import type { RecordedPaths } from "../../fixture/serve/rewrite.ts";
import type { SuiteFixture } from "../../fixture/serve/suite.ts";
import type { SuiteSummary } from "../../fixture/serve/suite_summary.ts";
import type { ServeEvent } from "../../fixture/serve/serve_event.ts";
import type { Output } from "../output.ts";
import { unmetFaultNote } from "./recording_notes.ts";

/** The most exchanges, or tests, that the summary lists. */
const LISTED_UNUSED = 10;

/** The counts of all requests. */
export interface ServeSummary extends SuiteSummary {
  /** Requests that no fixture may answer: without the token, from a web page, over a cap. */
  readonly turned_away: number;
  /** Connection checks and WebSocket upgrades, which are neither exchanges nor misses. */
  readonly skipped: number;
  /** Answers that ask for no wait, although the recorded ones do. */
  readonly hurried: number;
  /** Faults without effect: too few requests came, or the faults did not apply to the answers. */
  readonly unmet_faults: readonly string[];
}

/** Writes to stderr. */
export class ServeView {
  readonly #output: Output;
  readonly #lines = new ReplayLines();
  /** False if a command of ours has the terminal: then only problems and the counts are printed. */
  readonly #isChatty: boolean;

  /** True if an output of a tool that is not as recorded decides the exit code. */
  readonly #judgesOutputs: boolean;

  constructor(
    output: Output,
    { isChatty, judgesOutputs }: { readonly isChatty: boolean; readonly judgesOutputs: boolean },
  ) {
    this.#output = output;
    this.#isChatty = isChatty;
    this.#judgesOutputs = judgesOutputs;
  }

  /** Reports that the server listens at `address`, and the variables that point clients to it. */
  ready(
    address: string,
    environment: Readonly<Record<string, string>>,
    fixtures: readonly Pick<SuiteFixture, "exchanges">[],
  ): void {
    const variables = Object.entries(environment).map(([name, url]) => `${name}=${url}`).join(" ");
    const exchanges = fixtures.reduce((sum, fixture) => sum + fixture.exchanges, 0);
    const what = `${counted(exchanges, "exchange")} of ${counted(fixtures.length, "fixture")}`;
    if (this.#isChatty) this.#line(`serving ${what} at http://${address} (${variables})`);
  }

  /** Reports a request. */
  event(event: ServeEvent): void {
    // These decide the exit code.
    const isDecisive = event.type === "miss" || event.type === "refused" || event.type === "turned_away" ||
      this.#judgesOutputs && event.type === "warning" && event.rule === "tool_output_differs";
    if (isDecisive) {
      this.#output.problem(this.#lines.of(event));
    } else if (this.#isChatty) this.#line(this.#lines.of(event));
  }

  /** Reports details, then the counts as the last line. */
  summary(summary: ServeSummary): void {
    const { served, repeated, missed, refused, warned, unused, unopened, turned_away, unmet_faults } =
      summary;
    const { rewritten, tool_outputs_differ: outputs, hurried } = summary;
    const matched = this.#isChatty ? matchedLine(summary) : null;
    if (matched !== null) this.#line(matched);
    for (const fault of unmet_faults) this.#line(unmetFaultNote(fault));
    if (unused.length > 0) {
      const names = unused.map(({ fixture, number }) => `exchange ${number} of ${fixture}`);
      this.#line(`unused: ${listed(names)}`);
    }
    if (unopened.length > 0) {
      this.#line(`not opened: ${counted(unopened.length, "recording")}, ${listed(unopened)}`);
    }
    this.#line(
      `${served} served${
        repeated === 0 ? "" : ` (${repeated} repeated)`
      }, ${missed} missed, ${refused} rejected, ${counted(warned, "warning")}` +
        (turned_away === 0 ? "" : `, ${turned_away} turned away`) +
        (rewritten === 0 ? "" : `, ${rewritten} with the client's own values in calls`) +
        (outputs === 0 ? "" : `, ${counted(outputs, "tool output")} not as recorded`) +
        (hurried === 0 ? "" : `, ${hurried} with retry-after 0 (--pace real keeps it)`),
    );
  }

  #line(text: string): void {
    this.#output.note(text);
  }
}

/** Returns the first of these names, and the number of the others. */
function listed(names: readonly string[]): string {
  const more = names.length > LISTED_UNUSED ? `, and ${names.length - LISTED_UNUSED} more` : "";
  return `${names.slice(0, LISTED_UNUSED).join(", ")}${more}`;
}

/** Names the answers whose calls hold paths of the recording; `null` if there are none. */
export function recordedPathsNote(found: readonly RecordedPaths[]): string | null {
  const [first] = found;
  if (first === undefined) return null;
  const rules = [...new Set(found.flatMap(({ values }) => values.map(({ rule }) => rule)))].join(", ");
  const others = found.length === 1 ? "" : ` and ${found.length - 1} more`;
  return `calls hold the recorder's paths (${rules}): exchange ${first.number} of "${first.fixture}"${others}; ` +
    "elsewhere, --rewrite-context replaces them with the client's own";
}

const SKIPPED = {
  connection_check: "a connection check, neither an exchange nor a miss",
  websocket_upgrade: "a WebSocket upgrade, refused so that the client uses HTTP",
  unsolicited_message:
    "a WebSocket message that answers no message of the client, passed on and not recorded",
  warm_up: "a warm-up without a recording, answered with an empty response",
  previous_response_not_found: "continues a response that this WebSocket does not have",
} as const;

/** A request that is not an exchange, as a line. */
export function refusedLine(event: SkippedEvent | TurnedAwayEvent): string {
  const of = event.test === undefined ? "" : `${event.test}: `;
  if (event.type === "turned_away") return `${of}turned away with ${event.status}: ${event.message}`;
  return `${of}${event.method} ${event.path}: ${event.status}, ${SKIPPED[event.reason]}`;
}

/** Returns the tiers of the played requests and the rules that they needed; `null` if all had the recorded bytes. */
function matchedLine({ tiers, rules }: ServeSummary): string | null {
  const needed = Object.entries(rules).map(([rule, count]) => `${rule} ${count}`).join(", ");
  const parts = TIERS.filter((tier) => tiers[tier] > 0).map((tier) =>
    tier === "rules" ? `${tiers.rules} with rules (${needed})` : `${tiers[tier]} ${tier}`
  );
  const matched = TIERS.reduce((sum, tier) => sum + tiers[tier], 0);
  return matched === tiers.exact ? null : `${matched} matched: ${parts.join(", ")}`;
}

/** Lines about the requests of a replay. A cause of misses is described once: clients send a request again, or vary it. */
export class ReplayLines {
  /** Number of the first request that missed for a cause. */
  readonly #first = new Map<string, number>();

  /** Returns the line about a request; the first miss for its cause has more. */
  of(event: ServeEvent): string {
    if (event.type === "turned_away" || event.type === "skipped") return refusedLine(event);
    const of = event.test === undefined ? "" : `${event.test}: `;
    const asked = `${of}${event.request} ${event.method} ${event.path}`;
    switch (event.type) {
      case "played":
        return `${asked}: ${event.status}, exchange ${event.number} of ${event.fixture}` +
          (event.repeat === undefined ? "" : `, repeated (${event.repeat})`) +
          (event.rules === undefined ? "" : `, needed ${event.rules.join(", ")}`) +
          (event.fault === undefined ? "" : `, broken: ${event.fault}`);
      case "faulted":
        return `${asked}: ${event.status ?? "no status"}, a fault instead of an answer: ${event.fault}`;
      case "miss":
        return `${asked}: ${event.status}, miss: ${this.#repeated(event) ?? wholeMiss(event)}`;
      case "refused":
        return `${asked}: ${event.status}, rule ${event.rule} (${event.grade}): ${event.message}`;
      case "warning":
        return `${asked}: warning, ${event.rule}${
          event.grade === null ? "" : ` (${event.grade})`
        }: ${event.message}`;
    }
  }

  /** Returns the message of a miss for the report of a test. */
  ofMiss(event: Miss): string {
    const { request, method, path } = event;
    const repeated = this.#repeated(event);
    return repeated === null
      ? wholeMiss(event)
      : `Request ${request} (${method} ${path}) is a miss ${repeated}`;
  }

  /** Names the earlier request with the cause of this miss; `null` if this is the first. */
  #repeated({ request, method, path, nearest, differences, cure }: Miss): string | null {
    const cause = JSON.stringify([method, path, nearest, cure]);
    const first = this.#first.get(cause);
    if (first === undefined) {
      this.#first.set(cause, request);
      return null;
    }
    const [difference, ...others] = differences;
    const atLeast = differences.length < MAX_DIFFERENCES ? "" : "at least ";
    return `as request ${first}` + (difference === undefined ? "" : `, at ${difference.path}`) +
      (others.length === 0 ? "" : `, and in ${atLeast}${counted(others.length, "other place")}`);
  }
}

type Miss = Extract<ServeEvent, { type: "miss" }>;

/** Returns the message of a miss and a line for each further difference. */
function wholeMiss(event: Miss): string {
  return [event.message, ...moreOf(event)].join("\n  ");
}

/** Returns the lines about a miss after the first, which names the first difference. */
function moreOf({ differences }: Miss): string[] {
  const others = differences.slice(1).map(({ path, recorded, received }) =>
    `also differs at ${path}: recorded ${recorded}, received ${received}`
  );
  return [
    ...others,
    ...(differences.length < MAX_DIFFERENCES
      ? []
      : [`only the first ${MAX_DIFFERENCES} differences are listed`]),
  ];
}
