/** Token counts of requests and runs, and their sums. */

/** Token counts of one request or of a whole run, normalised over providers, as files keep them. */
export interface Usage {
  readonly input_tokens: number;
  /** Input that came from the prompt cache; part of `input_tokens`. */
  readonly cached_tokens: number;
  readonly output_tokens: number;
  /** Part of `output_tokens`. */
  readonly reasoning_tokens: number;
}

/** Token counts of a request, with the part of the input that files of runs do not keep apart. */
export interface RequestUsage extends Usage {
  /** Input that was written to the prompt cache; part of `input_tokens`. Absent if 0. */
  readonly cache_write_tokens?: number;
}

/** The member of a usage for tokens that were written to the prompt cache. */
export function cacheWrites(count: number): Pick<RequestUsage, "cache_write_tokens"> {
  return count === 0 ? {} : { cache_write_tokens: count };
}

/** Zero tokens; the start of every sum. */
export const NO_USAGE: Usage = {
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};

/** The sum of two counts, at most 2^53 − 1: no turn file may hold a larger one, whatever servers say. */
export function addTokenCounts(a: number, b: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, a + b);
}

/** The sum of two usages, member by member, as files keep it: without cache writes. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: addTokenCounts(a.input_tokens, b.input_tokens),
    cached_tokens: addTokenCounts(a.cached_tokens, b.cached_tokens),
    output_tokens: addTokenCounts(a.output_tokens, b.output_tokens),
    reasoning_tokens: addTokenCounts(a.reasoning_tokens, b.reasoning_tokens),
  };
}
