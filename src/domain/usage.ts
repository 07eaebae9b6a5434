/** Token counts of requests and runs, and their sums. */

/** Token counts of one request or of a whole run, normalised over providers, as files keep them. */
export interface Usage {
  readonly input_tokens: number;
  /** Input that came from the prompt cache; part of `input_tokens`. */
  readonly cached_tokens: number;
  readonly output_tokens: number;
  /** Part of `output_tokens`. */
  readonly reasoning_tokens: number;
  /** Number of answers whose tokens no server counted, and which the other members lack. Absent if 0. */
  readonly uncounted?: number;
}

/** Token counts as they are shown: `null` if unknown. */
type ShownUsage<Counts = Usage> =
  & {
    readonly [Name in keyof Omit<Counts, "uncounted">]: number | null;
  }
  & Pick<Usage, "uncounted">;

/** The counts of a usage; each is `null` if no answer was counted. */
export function shownUsage<Counts extends Usage>(usage: Counts): ShownUsage<Counts> {
  const { uncounted = 0, ...counts } = usage;
  if (uncounted === 0) return counts as unknown as ShownUsage<Counts>;
  const isKnown = usage.input_tokens + usage.output_tokens > 0;
  const shown = Object.entries(counts).map(([name, count]) => [name, isKnown ? count : null]);
  return { ...Object.fromEntries(shown), uncounted };
}

/** Token counts of a request, with the part of the input that files of runs do not keep apart. */
export interface RequestUsage extends Usage {
  /** Input that was written to the prompt cache; part of `input_tokens`. Absent if 0. */
  readonly cache_write_tokens?: number;
}

/** Token counts of one answer, each `null` if the answer does not have it. */
export type AnswerCounts = {
  readonly [Name in keyof Required<Omit<RequestUsage, "uncounted">>]: number | null;
};

/** The usage of an answer: what it does not count is 0, and an answer without input and output is uncounted. */
export function usageOfCounts(counts: AnswerCounts): RequestUsage {
  const { input_tokens: input, output_tokens: output, cache_write_tokens: written } = counts;
  if (input === null && output === null) return UNCOUNTED;
  return {
    input_tokens: input ?? 0,
    cached_tokens: counts.cached_tokens ?? 0,
    ...(written === null || written === 0 ? {} : { cache_write_tokens: written }),
    output_tokens: output ?? 0,
    reasoning_tokens: counts.reasoning_tokens ?? 0,
  };
}

export const NO_USAGE: Usage = {
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};

/** The usage of an answer whose tokens no server counted. */
export const UNCOUNTED: Usage = { ...NO_USAGE, uncounted: 1 };

/** The sum of two counts, at most 2^53 − 1: no turn file may hold a larger one, whatever servers say. */
export function addTokenCounts(a: number, b: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, a + b);
}

/** The sum of two usages, member by member, as files keep it: without cache writes. */
export function addUsage(a: Usage, b: Usage): Usage {
  const uncounted = addTokenCounts(a.uncounted ?? 0, b.uncounted ?? 0);
  return {
    input_tokens: addTokenCounts(a.input_tokens, b.input_tokens),
    cached_tokens: addTokenCounts(a.cached_tokens, b.cached_tokens),
    output_tokens: addTokenCounts(a.output_tokens, b.output_tokens),
    reasoning_tokens: addTokenCounts(a.reasoning_tokens, b.reasoning_tokens),
    ...(uncounted === 0 ? {} : { uncounted }),
  };
}
