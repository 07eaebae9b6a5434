/** Mutants of `certify`: a bad client that passes, and a good client that is called bad. */
import type { Mutant } from "./mutants.ts";

const file = "src/cli/certify/verdict.ts";
/** Tests that notice all of them. */
const area = ["unit/cli/verdict_test.ts"];

/** See the module. */
export const CERTIFY_MUTANTS: readonly Mutant[] = [
  {
    ...{ file, area },
    text: "since.length > 0 ? null",
    replacement: "since.length >= 0 ? null",
    promise: "certify.md: a fault that was never played is unmet",
  },
  {
    ...{ file, area },
    text: "if (isOpen(id)) return",
    replacement: "if (false) return",
    promise: "certify.md: ACTED on a call that the server never finished",
  },
  {
    ...{ file, area },
    text: "args !== recorded.args && args !== baseline.args.get(id)",
    replacement: "args !== recorded.args",
    promise: "certify.md: arguments that a client completes without a fault too are its own",
  },
  {
    ...{ file, area },
    text: "results.indexOf(id) !== index",
    replacement: "false",
    promise: "certify.md: REPEATED with two results of a call",
  },
  {
    ...{ file, area },
    text: "run.effects <= baseline.effects",
    replacement: "run.effects < baseline.effects",
    promise: "certify.md: as many effects as without the fault are good",
  },
  {
    ...{ file, area },
    text: "retries > maxRetries",
    replacement: "retries >= maxRetries",
    promise: "certify.md: HAMMERED with more than --max-retries retries",
  },
  {
    ...{ file, area },
    text: "broken.retryAfterMs * 0.9",
    replacement: "broken.retryAfterMs",
    promise: "certify.md: a try may come 10 % before retry-after",
  },
  {
    ...{ file, area },
    text: "answered.length > 3 * baseline.requests",
    replacement: "answered.length >= 3 * baseline.requests",
    promise: "certify.md: LOOPED with more than three times the usual requests",
  },
  {
    ...{ file, area },
    text: "before.endMs !== null && !before.hungUp && before.lastMs <= atMs",
    replacement: "before.endMs !== null",
    promise: "certify.md: a request may come again if its answer did not arrive",
  },
  {
    ...{ file, area },
    text: "if (run.code !== 0 || answer === null || holds(run, answer)) return null;",
    replacement: 'if (run.code !== 0 || answer === null || run.stdout !== "") return null;',
    promise: "certify.md: LIED without the answer",
  },
  {
    ...{ file, area },
    text: 'verdict: "lied", find: (facts) => namesError(facts.run, facts.baseline) ? null : lacking(facts)',
    replacement: 'verdict: "lied", find: lacking',
    promise: "certify.md: MUTTERED if stderr names an error",
  },
  {
    ...{ file, area },
    text: "broken.isWhole || isAnsweredAgain(facts)",
    replacement: "true",
    promise: "certify.md: unseen if nothing shows whether the answer is right",
  },
  {
    ...{ file, area },
    text: '"text" in answer) return null;',
    replacement: "true) return null;",
    promise: "certify.md: lines that stay the same do not show that the answer is right",
  },
  {
    ...{ file, area },
    text: '"lines" in answer && isAnsweredAgain(facts)',
    replacement: "false",
    promise: "certify.md: a line that counts the tries makes no client a liar",
  },
  {
    ...{ file, area },
    text: "silentMs < Math.max(maxWaitMs, 2 * baseline.silenceMs)",
    replacement: "silentMs <= Math.max(maxWaitMs, 2 * baseline.silenceMs)",
    promise: "certify.md: HUNG at --max-wait",
  },
  {
    ...{ file, area },
    text: "Math.max(...since.flatMap(({ atMs, lastMs }) => [atMs, lastMs]))",
    replacement: "(since[0]?.atMs ?? 0)",
    promise: "certify.md: HUNG counts from the last byte and the last request",
  },
  {
    ...{ file, area },
    text: "if (lastGap <= firstGap) return null;",
    replacement: "",
    promise: "certify.md: retrying with growing gaps only",
  },
  {
    ...{ file: "src/cli/certify/answer.ts", area },
    text: "if (form.length > SHORT || isWhole) return at;",
    replacement: "return at;",
    promise: "certify.md: a short answer is no part of another word",
  },
  {
    ...{ file: "src/cli/certify/calls.ts", area: ["unit/cli/answer_parts_test.ts"] },
    text: "return meaning.whole ? toolCallsIn(meaning.item) : [];",
    replacement: "return toolCallsIn(meaning.item);",
    promise: "certify.md: a call that began is not finished",
  },
  {
    ...{ file: "src/cli/certify/calls.ts", area: ["unit/cli/answer_parts_test.ts"] },
    text: "return meaning.reason === undefined ? [] :",
    replacement: "return meaning.reason !== undefined ? [] :",
    promise: "certify.md: the finish reason finishes the calls of Chat Completions",
  },
  {
    ...{ file: "src/cli/certify/certify.ts", area: ["cli/binary/certify_test.ts"] },
    text: "BAD.has(first.verdict) ? await playOnce(cell, setup, baseline) : first",
    replacement: "first",
    promise: "certify.md: a bad cell runs again",
  },
  {
    ...{ file: "src/cli/certify/reporters.ts", area: ["cli/binary/certify_test.ts"] },
    text: "BAD.has(verdict) && verdict !== accepted",
    replacement: "BAD.has(verdict) && accepted === null",
    promise: "certify.md: another bad verdict than the accepted one fails",
  },
];
