/** Events of `record`: counted, written for programs, and printed for people. */
import { counted } from "../../domain/text.ts";
import type { SkippedEvent, TurnedAwayEvent } from "../../fixture/loopback/guard.ts";
import { type DiscardReason, UNKEPT } from "../../fixture/record/exchange_outcome.ts";
import { secretLeft } from "../../fixture/record/secret_left.ts";
import type { ServeEvent } from "../../fixture/serve/serve_event.ts";
import type { Output } from "../output.ts";
import type { RequestCounts } from "./recording_end.ts";
import type { RecordedEvent } from "./recording_folder.ts";
import { refusedLine, ReplayLines } from "./serve_view.ts";
import type { EventOutput } from "./server_process.ts";
import type { TestEvents } from "./test_reports.ts";

/** Takes the events of a recording. */
export class RecordingView {
  readonly #output: Output;
  readonly #events: EventOutput<"record-event">;
  /** False if a command of ours has the terminal: then only problems are printed. */
  readonly #isChatty: boolean;
  /** Requests of tests that report each test; `null` if none does. */
  readonly #tests: TestEvents | null;
  readonly #lines = new ReplayLines();
  readonly #counts = { skipped: 0, turned_away: 0, played: 0, missed: 0 };

  constructor(
    output: Output,
    events: EventOutput<"record-event">,
    { isChatty, tests = null }: { readonly isChatty: boolean; readonly tests?: TestEvents | null },
  ) {
    this.#output = output;
    this.#tests = tests;
    this.#events = events;
    this.#isChatty = isChatty && !events.onStdout;
  }

  /** Numbers of requests that are not exchanges. */
  get counts(): RequestCounts {
    return this.#counts;
  }

  /** Takes the outcome of an exchange. */
  exchange(event: RecordedEvent): void {
    this.#events.write(event);
    if (this.#tests !== null) this.#tests.add(event);
    else if (DECISIVE.has(event.reason)) this.#output.problem(dropLine(event));
    else if (event.state === "dropped") this.#output.note(dropLine(event));
    else if (this.#isChatty) this.#output.note(exchangeLine(event));
    if (event.lacks_usage === true) {
      this.#output.note(
        `exchange ${event.number}: the usage that the request asks for did not come before [DONE]`,
      );
    }
  }

  /** Takes an event of a request that was not sent to the upstream. */
  played(event: ServeEvent): void {
    if (event.type === "played") this.#counts.played += 1;
    if (event.type === "miss") this.#counts.missed += 1;
    this.#events.write(event);
    if (this.#tests !== null) return this.#tests.add(event);
    const isProblem = event.type === "miss" && !this.#events.onStdout;
    if (isProblem) this.#output.problem(this.#lines.of(event));
    else if (this.#isChatty) this.#output.note(this.#lines.of(event));
  }

  /** Takes an event of a request that is neither recorded nor played. */
  refused(event: SkippedEvent | TurnedAwayEvent): void {
    this.#counts[event.type] += 1;
    this.#events.write(event);
    if (this.#tests !== null) this.#tests.add(event);
    else if (this.#events.onStdout) return;
    else if (event.type === "turned_away") this.#output.problem(refusedLine(event));
    else this.#output.note(refusedLine(event));
  }
}

/** Reasons that decide the exit code, whatever else was recorded. */
const DECISIVE: ReadonlySet<DiscardReason | null> = new Set([...UNKEPT, "secret_left", "error_answer"]);

function exchangeLine({ test, number, connection, method, path, status, bytes, ms }: RecordedEvent): string {
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
export function dropLine(event: Omit<RecordedEvent, "type">): string {
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
