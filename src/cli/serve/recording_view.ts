/** Events of `record`: counted, written for programs, and printed for people. */
import type { RequestEvent } from "../../fixture/event.ts";
import { type DiscardReason, UNKEPT } from "../../fixture/record/exchange_outcome.ts";
import { Tally } from "../../fixture/tally.ts";
import type { Output } from "../output.ts";
import { ReplayLines } from "./event_lines.ts";
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
  readonly tally = new Tally();

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

  /** Takes the event of an exchange, of a request that was played, or of one that is neither. */
  add(event: RequestEvent): void {
    this.tally.add(event);
    this.#events.write(event);
    if (this.#tests === null) this.#print(event);
    else this.#tests.add(event);
    if (event.type === "exchange" && event.lacks_usage === true) {
      this.#output.note(
        `exchange ${event.number}: the usage that the request asks for did not come before [DONE]`,
      );
    }
  }

  #print(event: RequestEvent): void {
    const output = this.#output;
    if (event.type === "exchange") {
      if (DECISIVE.has(event.reason)) output.problem(this.#lines.of(event));
      else if (event.state === "dropped" || this.#isChatty) output.note(this.#lines.of(event));
    } else if (this.#events.onStdout) return;
    else if (event.type === "turned_away" || event.type === "miss") output.problem(this.#lines.of(event));
    else if (event.type === "skipped" || this.#isChatty) output.note(this.#lines.of(event));
  }
}

/** Reasons that decide the exit code, whatever else was recorded. */
const DECISIVE: ReadonlySet<DiscardReason | null> = new Set([...UNKEPT, "secret_left", "error_answer"]);
