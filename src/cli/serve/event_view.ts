/** Events about requests: counted, written for programs, and printed for people. */
import { counted } from "../../domain/text.ts";
import type {
  EventOf,
  ExchangeEvent,
  RequestEvent,
  SkippedEvent,
  TurnedAwayEvent,
} from "../../fixture/event.ts";
import { MAX_DIFFERENCES } from "../../fixture/match/difference.ts";
import { type DiscardReason, secretLeft, UNKEPT } from "../../fixture/record/exchange_outcome.ts";
import { Tally } from "../../fixture/tally.ts";
import type { Output } from "../output.ts";

/** Takes the events of a server. */
export class EventView<Event extends RequestEvent = RequestEvent> {
  readonly tally = new Tally();
  readonly #output: Output;
  readonly #options: EventViewOptions<Event>;
  readonly #lines = new ReplayLines();

  constructor(output: Output, options: EventViewOptions<Event>) {
    this.#output = output;
    this.#options = options;
  }

  add(event: Event): void {
    const { events, tests } = this.#options;
    this.tally.add(event);
    events.write(event);
    if (tests === null) this.#print(event);
    else tests.add(event);
    if (event.type === "exchange" && event.lacks_usage === true) {
      this.#output.note(
        `exchange ${event.number}: the usage that the request asks for did not come before [DONE]`,
      );
    }
  }

  #print(event: RequestEvent): void {
    const { events, isChatty, judgesOutputs = false, namesSkipped = false } = this.#options;
    const isDropped = event.type === "exchange" && event.state === "dropped";
    // A program reads the others on stdout.
    if (events.onStdout && !isDropped) return;
    const isDecisive = event.type === "exchange"
      ? DECISIVE.has(event.reason)
      : event.type === "miss" || event.type === "refused" || event.type === "turned_away" ||
        judgesOutputs && event.type === "warning" && event.rule === "tool_output_differs";
    if (isDecisive) this.#output.problem(this.#lines.of(event));
    else if (isDropped || isChatty || namesSkipped && event.type === "skipped") {
      this.#output.note(this.#lines.of(event));
    }
  }
}

interface EventViewOptions<Event extends RequestEvent> {
  readonly events: { readonly onStdout: boolean; write(event: Event): void };
  /** Takes the events instead of people, for the reports of tests; `null` if no tests are reported. */
  readonly tests: { add(event: RequestEvent): void } | null;
  /** False if a command of ours has the terminal: then only problems are printed. */
  readonly isChatty: boolean;
  /** True if an output of a tool that is not as recorded decides the exit code. @default {false} */
  readonly judgesOutputs?: boolean;
  /** True to print each request that is not recorded, even if a command has the terminal. @default {false} */
  readonly namesSkipped?: boolean;
}

/** Reasons that decide the exit code, whatever else was recorded. */
const DECISIVE: ReadonlySet<DiscardReason | null> = new Set([...UNKEPT, "secret_left", "error_answer"]);

/** Lines about the requests of a replay. A cause of misses is described once: clients send a request again, or vary it. */
export class ReplayLines {
  /** Number of the first request that missed for a cause. */
  readonly #first = new Map<string, number>();

  /** Returns the line about a request; the first miss for its cause has more. */
  of(event: RequestEvent): string {
    if (event.type === "turned_away" || event.type === "skipped") return refusedLine(event);
    if (event.type === "exchange") return event.state === "dropped" ? dropLine(event) : exchangeLine(event);
    const of = event.test === undefined ? "" : `${event.test}: `;
    const asked = `${of}${event.request} ${event.method} ${event.path}`;
    switch (event.type) {
      case "played":
        return `${asked}: ${event.status}, exchange ${event.number} of ${event.fixture}` +
          (event.repeat === undefined ? "" : `, repeated (${event.repeat})`) +
          (event.rules === undefined ? "" : `, needed ${event.rules.join(", ")}`) +
          (event.after_fault === undefined ? "" : `, ${event.after_fault} after a fault`) +
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

type Miss = EventOf<"miss">;

/** Returns the message of a miss, which names the first difference, and a line for each further one. */
function wholeMiss({ message, differences }: Miss): string {
  const others = differences.slice(1).map(({ path, recorded, received }) =>
    `also differs at ${path}: recorded ${recorded}, received ${received}`
  );
  const isLimited = differences.length >= MAX_DIFFERENCES;
  const limit = isLimited ? [`only the first ${MAX_DIFFERENCES} differences are listed`] : [];
  return [message, ...others, ...limit].join("\n  ");
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

function exchangeLine({ test, number, connection, method, path, status, bytes, ms }: ExchangeEvent): string {
  const over = connection === undefined ? "" : ` (WebSocket ${connection})`;
  return `${test === undefined ? "" : `${test}: `}exchange ${number}: ${method} ${path} ${status}${over}, ${
    counted(bytes, "byte")
  } in ${Math.round(ms)} ms`;
}

/** Reasons to leave an exchange out, as text for people. */
const DROP_REASONS: Readonly<Record<DiscardReason, string>> = {
  no_answer: "the upstream could not be reached",
  closed: "the client hung up (--keep-cut keeps the exchange)",
  cut: "its body broke off (--keep-cut keeps the exchange)",
  no_terminal_event: "its stream has no terminal event (--keep-cut keeps the exchange)",
  error_answer: "the API answered with an error, which --missing does not keep (--keep-errors keeps it)",
  encoding: "its content encoding cannot be decoded",
  invalid: "a fixture cannot hold its method, status or headers",
  too_large: "its body is larger than a fixture can hold",
  unreadable:
    "its headers are not valid HTTP, or its compressed body is damaged or too large once decompressed",
  stopped: "it was still running when the recording ended",
  secret_left: "it still held a secret",
  storage: "it could not be written",
};

/** Returns the line about an exchange that was not recorded. */
function dropLine(event: Omit<ExchangeEvent, "type">): string {
  const { test, request, method, path, reason, secrets = [], file } = event;
  const isKeyRefused = reason === "error_answer" && (event.status === 401 || event.status === 403);
  const why = file !== undefined
    ? secretLeft(file, secrets).message
    : isKeyRefused
    ? "the API did not accept its key, and --missing keeps no error"
    : DROP_REASONS[reason ?? "storage"];
  const status = reason === "error_answer" ? ` ${event.status}` : "";
  const of = test === undefined ? "" : ` of ${test}`;
  return `not recorded: request ${request}${of}, ${method} ${path}${status}: ${why}`;
}

/** Reports that a wrapped command sent no request to record; `skipped` counts connection checks and upgrades. */
export function nothingSentNote(
  what: "recorder" | "server",
  { skipped, variables }: { readonly skipped: number; readonly variables: readonly string[] },
): string {
  return skipped > 0
    ? `The command sent only connection checks (HEAD) or WebSocket upgrades, ${skipped} in all: they are no exchanges`
    : `The command sent nothing to the ${what}: clients find it by ${variables.join(" or ")}`;
}

/** Reports a fault that broke no answer: too few requests came, or no answer had the place. */
export function unmetFaultNote(fault: string): string {
  return `the fault "${fault}" had no effect`;
}
