/** Judges how a command ends after a fault, from what the server saw and the command printed. */
import { counted, headOf } from "../../domain/text.ts";
import { type AnswerParts, historyOf, type ToolCall } from "./calls.ts";
import { type Answer, holds, isGarbled, namesError, saysWhy, shownOutput } from "./answer.ts";
import type { ObservedRequest, Run } from "./cell_run.ts";

/** All verdicts: first those of the table in its order, then those that no table row gives. */
export type VerdictName = typeof ROWS[number]["verdict"] | "unstable" | "error";

/** Verdicts for which the exit code is 7. */
export const BAD: ReadonlySet<VerdictName> = new Set<VerdictName>([
  "acted",
  "repeated",
  "hammered",
  "looped",
  "lied",
  "muttered",
  "hung",
]);

export interface Judged {
  readonly verdict: VerdictName;
  /** The evidence, in one line; empty if the verdict says all. */
  readonly detail: string;
}

/** Behaviour of the command without a fault. */
export interface Baseline {
  readonly requests: number;
  /** The answer that both runs print; `null` if they print none. */
  readonly answer: Answer | null;
  readonly errors: string;
  /** Arguments that it sends back, by the id of the call: a client may add defaults. */
  readonly args: ReadonlyMap<string, string>;
  /** Lines that it adds to the file of `--effects`. */
  readonly effects: number;
  /** Its longest silence. */
  readonly silenceMs: number;
  readonly ms: number;
}

/** The exchange of a cell, and what the fault leaves of its answer. */
export interface BrokenExchange {
  readonly number: number;
  readonly sent: AnswerParts;
  /** Wait that the fault asks for, in milliseconds; `null` for none. */
  readonly retryAfterMs: number | null;
  /** True if all text and calls arrive in spite of the fault. */
  readonly isWhole: boolean;
  /** Recorded calls of the whole fixture, by their ids, each with the exchange that issued it. */
  readonly calls: ReadonlyMap<string, ToolCall & { readonly exchange: number }>;
}

interface Facts {
  /** Longest silence of a command that still runs, in milliseconds. */
  readonly maxWaitMs: number;
  readonly maxRetries: number;
  readonly run: Run;
  readonly baseline: Baseline;
  readonly broken: BrokenExchange;
  /** Requests from the first that met the fault on. */
  readonly since: readonly ObservedRequest[];
  /** Present, or end of the command, in milliseconds since its start. */
  readonly nowMs: number;
}

interface Row {
  readonly verdict: string;
  /** True if nothing that comes later can change it: the command is left at once. */
  readonly isFinal?: true;
  /** Returns the evidence; `null` if the verdict does not apply. */
  readonly find: (facts: Facts) => string | null;
}

/** Shortest silence that is no ordinary wait before a retry, unless half of the longest is shorter. */
const SILENCE_MS = 30_000;

/** In the order in which they apply. */
const ROWS = [
  { verdict: "unmet", find: ({ since }) => since.length > 0 ? null : "the fault was never played" },
  { verdict: "acted", isFinal: true, find: acted },
  { verdict: "repeated", isFinal: true, find: repeated },
  { verdict: "hammered", isFinal: true, find: hammered },
  { verdict: "looped", isFinal: true, find: looped },
  { verdict: "lied", find: (facts) => namesError(facts.run, facts.baseline) ? null : lacking(facts) },
  { verdict: "muttered", find: lacking },
  { verdict: "garbled", find: garbled },
  { verdict: "unseen", find: unseen },
  {
    verdict: "resumed",
    find: (facts) => succeeded(facts) && facts.since.some(isResumed) ? waited(facts) : null,
  },
  { verdict: "recovered", find: (facts) => succeeded(facts) && isRetried(facts) ? waited(facts) : null },
  { verdict: "unhurt", find: (facts) => succeeded(facts) ? "" : null },
  { verdict: "unanswerable", find: unanswerable },
  { verdict: "silent", find: (facts) => saysWhy(facts.run, facts.baseline) ? null : failed(facts) },
  { verdict: "failed", find: failed },
  { verdict: "waits", find: waits },
  { verdict: "retrying", isFinal: true, find: retrying },
  { verdict: "hung", isFinal: true, find: hung },
] as const satisfies readonly Row[];

/** Judges a command that has ended, or that was left. */
export function judge(facts: Omit<Facts, "since">): Judged {
  return firstOf(ROWS, facts) ?? { verdict: "error", detail: "no verdict applies" };
}

/** Returns the verdict on a command that still runs, if it is fixed; otherwise `null`. */
export function fixedVerdict(facts: Omit<Facts, "since">): Judged | null {
  return firstOf(ROWS.filter((row) => "isFinal" in row), facts);
}

function firstOf(rows: readonly typeof ROWS[number][], given: Omit<Facts, "since">): Judged | null {
  const first = given.run.requests.findIndex(({ fault }) => fault !== null);
  const facts = { ...given, since: first === -1 ? [] : given.run.requests.slice(first) };
  for (const { verdict, find } of rows) {
    const detail = find(facts);
    if (detail !== null) return { verdict, detail };
  }
  return null;
}

/** A call that the server never finished, or other arguments than it sent, or the result of such a call. */
function acted({ since, broken, baseline }: Facts): string | null {
  let isWhole = false;
  for (const [index, request] of since.entries()) {
    const { calls, results } = historyOf(index === 0 ? undefined : request.json);
    const isOpen = (id: string) =>
      broken.calls.get(id)?.exchange === broken.number && !isWhole && !broken.sent.finished.has(id);
    for (const { id, name, args } of calls) {
      const recorded = broken.calls.get(id);
      if (recorded === undefined) continue;
      if (args !== recorded.args && args !== baseline.args.get(id)) {
        return `ran ${name} ${shown(args)}; recorded ${shown(recorded.args)}`;
      }
      if (isOpen(id)) return `ran ${name} ${shown(args)}, which the server never finished`;
    }
    const result = results.find(isOpen);
    if (result !== undefined) {
      return `sent a result of ${broken.calls.get(result)?.name}, which the server never finished`;
    }
    if (isWholeAnswer(request, broken)) isWhole = true;
  }
  return null;
}

function isWholeAnswer({ exchange, fault }: ObservedRequest, { number }: BrokenExchange): boolean {
  return exchange === number && fault === null;
}

function repeated({ run, since, broken, baseline }: Facts): string | null {
  for (const { json } of since) {
    const { results } = historyOf(json);
    const twice = results.find((id, index) => results.indexOf(id) !== index);
    if (twice !== undefined) return `two results of one call of ${broken.calls.get(twice)?.name ?? twice}`;
  }
  if (run.effects <= baseline.effects) return null;
  return `${counted(run.effects, "line")} in the file of --effects; ${baseline.effects} without the fault`;
}

function hammered({ since, broken, maxRetries }: Facts): string | null {
  for (const tries of Map.groupBy(since, ({ key }) => key).values()) {
    const [first, last] = [tries[0] as ObservedRequest, tries.at(-1) as ObservedRequest];
    const retries = tries.length - 1;
    if (retries > maxRetries) {
      return `${retries} retries of one request in ${seconds(last.atMs - first.atMs)}`;
    }
    for (const [index, next] of tries.entries()) {
      const before = tries[index - 1];
      if (broken.retryAfterMs === null || before === undefined || before.fault === null) continue;
      const waitedMs = next.atMs - before.lastMs;
      if (waitedMs >= broken.retryAfterMs * 0.9) continue;
      return `asked again after ${seconds(waitedMs)}; retry-after ${seconds(broken.retryAfterMs)}`;
    }
  }
  return null;
}

function looped({ run, baseline, maxRetries }: Facts): string | null {
  const answered = run.requests.filter(({ fault }) => fault === null);
  const isOften = answered.length > 3 * baseline.requests ||
    run.requests.length > (3 + maxRetries) * baseline.requests;
  if (isOften) return `${counted(run.requests.length, "request")}; ${baseline.requests} without the fault`;
  const again = answered.find(({ exchange, atMs }, index) =>
    exchange !== null &&
    answered.slice(0, index).some((before) =>
      before.exchange === exchange && before.endMs !== null && !before.hungUp && before.lastMs <= atMs
    )
  );
  return again === undefined ? null : `sent request ${again.exchange} again, whose answer had arrived whole`;
}

/** Exit 0 without the answer. Lines may also count the tries, so that they show nothing if the answer came later. */
function lacking(facts: Facts): string | null {
  const { run, baseline: { answer } } = facts;
  if (run.code !== 0 || answer === null || holds(run, answer)) return null;
  if ("lines" in answer && isAnsweredAgain(facts)) return null;
  const said = shownOutput(run);
  return `exit 0, ${said === "" ? "nothing on stdout" : JSON.stringify(said)}`;
}

function garbled({ run, broken, baseline: { answer } }: Facts): string | null {
  if (run.code !== 0 || answer === null || !isGarbled(run, answer, broken.sent.text)) return null;
  return `after ${JSON.stringify(shown(broken.sent.text))}`;
}

/** Exit 0, but neither the output nor the wire shows the answer: lines that stay the same may be about anything. */
function unseen(facts: Facts): string | null {
  const { run, broken, baseline: { answer } } = facts;
  if (run.code !== 0 || answer !== null && "text" in answer) return null;
  const isPrinted = answer === null || holds(run, answer);
  if (broken.isWhole || isAnsweredAgain(facts)) {
    return isPrinted ? null : "exit 0 after the whole answer, with other lines";
  }
  return "exit 0; the command prints no text of the model: name its file with --answer";
}

/** True if all of the answer came to a later request. */
function isAnsweredAgain({ since, broken }: Facts): boolean {
  return since.some(isResumed) || since.some((request) => isWholeAnswer(request, broken));
}

function succeeded({ run }: Facts): boolean {
  return run.code === 0;
}

function isResumed({ after }: ObservedRequest): boolean {
  return after !== null;
}

function isRetried({ since, broken }: Facts): boolean {
  return since.slice(1).some((request) => isWholeAnswer(request, broken));
}

/** Asked for something that no recording answers: the failure may be ours. */
function unanswerable({ run, since }: Facts): string | null {
  const asked = since.find(({ problem }) => problem !== null);
  return run.code === null || asked === undefined ? null : asked.problem?.split(". To ")[0] ?? "";
}

function failed(facts: Facts): string | null {
  const { run: { code }, nowMs, since } = facts;
  if (code === null || longestSilence(facts) > silenceLimit(facts)) return null;
  const tries = since.length === 1 ? "" : `, ${since.length} tries`;
  return `exit ${code}${tries}, after ${seconds(nowMs - (since[0]?.atMs ?? 0))}`;
}

/** Ended by itself after a silence. */
function waits(facts: Facts): string | null {
  const { code } = facts.run;
  return code === null ? null : `${seconds(longestSilence(facts))}, then exit ${code}`;
}

/** Still sends at the limit, with growing gaps. */
function retrying({ run, since, nowMs, maxWaitMs }: Facts): string | null {
  const [first, second] = since;
  const [before, last] = since.slice(-2);
  if (run.code !== null || since.length < 3 || nowMs - (first?.atMs ?? nowMs) < maxWaitMs) return null;
  const [firstGap, lastGap] = [gap(first, second), gap(before, last)];
  if (lastGap <= firstGap) return null;
  return `${since.length} tries, the last after ${seconds(lastGap)}`;
}

/** Neither ended nor sent for the limit, since the last byte and the last request. */
function hung({ run, since, nowMs, maxWaitMs, baseline }: Facts): string | null {
  if (run.code !== null || since.length === 0) return null;
  const silentMs = nowMs - Math.max(...since.flatMap(({ atMs, lastMs }) => [atMs, lastMs]));
  return silentMs < Math.max(maxWaitMs, 2 * baseline.silenceMs)
    ? null
    : `not ended ${seconds(silentMs)} after the last byte`;
}

/** Returns the longest time in which neither a request nor a byte came, in milliseconds. */
export function longestSilence({ since, nowMs }: Pick<Facts, "since" | "nowMs">): number {
  const seen = since.flatMap(({ atMs, lastMs, endMs }) => [atMs, lastMs, endMs ?? lastMs]);
  const times = [...seen, nowMs].sort((a, b) => a - b);
  return Math.max(0, ...times.map((time, index) => time - (times[index - 1] ?? time)));
}

function silenceLimit({ maxWaitMs, baseline }: Facts): number {
  return Math.max(Math.min(SILENCE_MS, maxWaitMs / 2), 2 * baseline.silenceMs);
}

function waited(facts: Facts): string {
  const { since } = facts;
  const again = since.slice(1).find(({ key }) => key === since[0]?.key);
  const ms = gap(since[0], again);
  return ms < 1000 ? "" : `waited ${seconds(ms)}`;
}

function gap(from: ObservedRequest | undefined, to: ObservedRequest | undefined): number {
  return from === undefined || to === undefined ? 0 : to.atMs - from.lastMs;
}

function shown(text: string): string {
  return headOf(text, 80);
}

function seconds(milliseconds: number): string {
  const value = milliseconds / 1000;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
}
