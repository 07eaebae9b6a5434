/** Mutants of faults: a fault at another place, for another request, or more often than it was planned. */
import type { Mutant } from "./mutants.ts";

const FAULTS = "src/fixture/faults";
const SERVE = "src/fixture/serve";
const places = ["doors/recordings/fault_places_test.ts"];
const times = ["doors/recordings/answer_times_test.ts"];
const after = ["doors/recordings/after_fault_test.ts"];

/** See the module. */
export const FAULT_MUTANTS: readonly Mutant[] = [
  {
    ...{ file: `${FAULTS}/plan.ts`, area: places },
    text: "isOpen && faults.length === 1 ? faults[0] : faults[nth]",
    replacement: "faults.length === 1 ? faults[0] : faults[nth]",
    promise: "rules.md: a fault of an exchange comes once",
  },
  {
    ...{ file: `${FAULTS}/plan.ts`, area: places },
    text: "!isNamed && !(isOpen && plays.has(key))",
    replacement: "!isNamed",
    promise: "rules.md: an open range meets all later requests, whatever they ask",
  },
  {
    ...{ file: `${FAULTS}/plan.ts`, area: places },
    text: "lines.toReversed()",
    replacement: "lines",
    promise: "rules.md: if several lines name a request, the last one counts",
  },
  {
    ...{ file: `${FAULTS}/stream.ts`, area: places },
    text: "found[Math.floor(found.length / 2) - 1]",
    replacement: "found[found.length - 1]",
    promise: "rules.md: a place in a part is after half of its deltas",
  },
  {
    ...{ file: `${FAULTS}/stream.ts`, area: places },
    text: "calls[n] === calls[0]",
    replacement: "true",
    promise: "rules.md: in arguments is inside one call",
  },
  {
    ...{ file: `${FAULTS}/stream.ts`, area: places },
    text: 'part === "arguments" ? found.at(-1) : found[0]',
    replacement: "found[0]",
    promise: "rules.md: in arguments of a document is no earlier text that is equal",
  },
  {
    ...{ file: `${FAULTS}/plan.ts`, area: places },
    text: "exchanges === null && !isPlaceOfMeaning(fault)",
    replacement: "exchanges === null",
    promise: "rules.md: a part that no recorded answer has is exit code 2",
  },
  {
    ...{ file: `${FAULTS}/apply.ts`, area: places },
    text: "steps: [{ reset: true }], isLate: true };",
    replacement: "steps: [{ reset: true }] };",
    promise: "rules.md: drop ends the connection before a head",
  },
  {
    ...{ file: `${SERVE}/play.ts`, area: places },
    text: 'if ("end" in step) return true;\n    if',
    replacement: "return true;\n    if",
    promise: "rules.md: stall before the head sends no byte",
  },
  {
    ...{ file: `${SERVE}/server.ts`, area: times },
    text: "isHungUp && !this.#stopping.signal.aborted",
    replacement: "isHungUp",
    promise: "rules.md: a client has not hung up when the server stops",
  },
  {
    ...{ file: `${SERVE}/server.ts`, area: times },
    text: "first ??= last",
    replacement: "first = last",
    promise: "rules.md: answered has the time of the first byte",
  },
  {
    ...{ file: "src/fixture/loopback/http_connection.ts", area: times },
    text: "progress?.ended(true);",
    replacement: "progress?.ended(false);",
    promise: "rules.md: hung_up before an answer",
  },
  {
    ...{ file: `${SERVE}/after_fault.ts`, area: after },
    text: "stringsIn(members).every(",
    replacement: "stringsIn(members).some(",
    promise: "rules.md: only whole items of the broken answer resume it",
  },
  {
    ...{ file: `${SERVE}/after_fault.ts`, area: after },
    text: "return event.whole || ended.has(event.place);",
    replacement: "return true;",
    promise: "rules.md: an item that did not arrive whole resumes nothing",
  },
  {
    ...{ file: `${SERVE}/after_fault.ts`, area: after },
    text: 'role === undefined || role === "assistant"',
    replacement: "true",
    promise: "rules.md: what the user says resumes nothing",
  },
];
