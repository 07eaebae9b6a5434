/**
 * Every kind of fault: what the run makes of a stream that breaks.
 *
 * @module
 */
import { says, text } from "../../tests/support/messages_server/script.ts";
import { answer, message } from "../../tests/support/responses_server.ts";
import { serverError } from "../../tests/support/responses_server/faults.ts";
import { begin, type Scenario } from "./scenario.ts";

const ANSWER = answer([message("Grüß dich.")]);

/** A run whose first answer has the fault, and what it ends with. */
function broken(name: string, fault: string, note: string, exit = 10, state = "failed"): Scenario {
  return {
    name: `fault-${name}`,
    note: `${note}: state ${state}, exit code ${exit}`,
    steps: [{ args: begin("Hello?"), answers: [ANSWER], faults: { 1: fault }, exit, state }],
  };
}

/** A run that completes, whatever is odd about its answer. */
function tolerated(name: string, fault: string, note: string): Scenario {
  return {
    name: `fault-${name}`,
    note,
    steps: [{ args: begin("Hello?"), answers: [ANSWER], faults: { 1: fault }, exit: 0, state: "completed" }],
  };
}

/** A run that asks again once the first answer failed. */
function retried(name: string, fault: string, note: string): Scenario {
  return {
    name: `fault-${name}`,
    note,
    steps: [{
      args: begin("Hello?"),
      answers: [serverError(), ANSWER],
      faults: { 1: fault },
      exit: 0,
      state: "completed",
    }],
  };
}

/** Them. */
export const FAULTS: readonly Scenario[] = [
  broken("cut-events", "cut after 3 events", "A body that ends between events"),
  broken("cut-bytes", "cut after 120 bytes", "A body that ends anywhere"),
  broken("cut-mid-line", "cut mid-line", "A body that ends inside of a line"),
  broken("cut-mid-utf8", "cut mid-utf8", "A body that ends inside of a character"),
  broken("no-terminal", "no terminal event", "A stream without its last event"),
  broken("reset", "reset after 3 events", "A connection that breaks"),
  broken("stall", "stall after 2 events for 400s", "A silence longer than any answer's"),
  broken("error-flat", "error flat", "The flat error event"),
  broken("error-nested", "error nested insufficient_quota", "The nested error event, of a spent quota", 9),
  broken("failed", "failed context_length_exceeded", "response.failed, of a full window", 11),
  broken("incomplete", "incomplete", "response.incomplete", 6, "incomplete"),
  broken("incomplete-filter", "incomplete content_filter", "A filtered answer", 6, "refused"),
  broken("html", "html", "A web page with status 200"),
  broken("content-type", "content-type application/json", "A stream under another content type"),
  broken("garbage", "garbage after 2 events", "Bytes that are no text"),
  retried("429", "429 retry-after 1", "A rate limit is waited for as long as it asks"),
  retried("500", "500", "A server error is asked again"),
  retried("503", "503 retry-after-ms 900", "An overloaded server is asked again, in milliseconds"),
  retried("529", "529", "A 529 is asked again"),
  retried("fail", "fail", "A failed request is asked again"),
  tolerated("stall-short", "stall after 2 events for 20ms", "A short silence is waited out"),
  tolerated("drip", "drip 7 bytes every 1ms", "Chunks that end anywhere give the same turns"),
  tolerated("duplicates", "duplicate events", "Events that come twice are taken once"),
  tolerated("unknown", "unknown events", "Events of unknown kinds are passed over"),
  tolerated("comments", "comments", "Comment lines are passed over"),
  tolerated("keepalives", "keepalives", "Keepalives are passed over"),
  tolerated("rotate-ids", "rotate ids", "Ids that change with every event do not matter"),
  tolerated("no-event-lines", "no event lines", "The type of an event is in its data"),
  {
    name: "fault-messages-cut",
    note: "A Messages stream that ends early: state failed, exit code 10",
    steps: [{
      args: begin("Hello?"),
      says: [says([text("Grüß dich.")])],
      faults: { 1: "cut after 3 events" },
      exit: 10,
      state: "failed",
    }],
  },
  {
    name: "fault-messages-error",
    note: "The error event of Messages: state failed, exit code 10",
    steps: [{
      args: begin("Hello?"),
      says: [says([text("Grüß dich.")])],
      faults: { 1: "error flat" },
      exit: 10,
      state: "failed",
    }],
  },
];
