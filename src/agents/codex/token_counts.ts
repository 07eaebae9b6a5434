/** Token counts of a rollout of Codex CLI. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";

/**
 * Creates a reader of `token_count` events: each has the sum so far, and the counts of the last answer. It returns the usage
 * that an event adds to those before; `null` if it repeats the last one, as after a new limit.
 */
export function tokenCounter(): (info: JsonValue | undefined) => JsonObject | null {
  let sum: JsonObject | null = null;
  return (info) => {
    if (!isJsonObject(info)) return null;
    const { total_token_usage: total, last_token_usage: last } = info;
    const before = sum;
    if (isJsonObject(total)) sum = total;
    if (before === null || !isJsonObject(total)) return codexUsage(isJsonObject(last) ? last : total);
    const steps = MEMBERS.map((name) =>
      [name, (countIn(total, name) ?? 0) - (countIn(before, name) ?? 0)] as const
    );
    // The sums begin again.
    if (steps.some(([, step]) => step < 0)) return codexUsage(last);
    const known = steps.filter(([name]) => countIn(total, name) !== null);
    return codexUsage(Object.fromEntries(known));
  };
}

/** Returns the sum of two usages of Codex CLI in the shape of the Responses API. */
export function joinedUsage(a: JsonObject | null, b: JsonObject | null): JsonObject | null {
  if (a === null || b === null) return a ?? b;
  return Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((name): [string, JsonValue] => {
      const [one, other] = [a[name], b[name]];
      if (isJsonObject(one) && isJsonObject(other)) return [name, joinedUsage(one, other)];
      return [
        name,
        typeof one === "number" && typeof other === "number" ? one + other : one ?? other ?? null,
      ];
    }),
  );
}

const MEMBERS = [
  "input_tokens",
  "cached_input_tokens",
  "cache_write_input_tokens",
  "output_tokens",
  "reasoning_output_tokens",
  "total_tokens",
];

/** Returns a usage in the shape of the Responses API, with the counts that it has; `null` if it counts no tokens. */
export function codexUsage(usage: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(usage)) return null;
  const [input, cached, written, output, reasoning, total] = MEMBERS.map((name) => countIn(usage, name));
  if (!input && !output) return null;
  const details = { ...member("cached_tokens", cached), ...member("cache_write_tokens", written) };
  return {
    ...member("input_tokens", input),
    ...(Object.keys(details).length === 0 ? {} : { input_tokens_details: details }),
    ...member("output_tokens", output),
    ...(reasoning === null ? {} : { output_tokens_details: member("reasoning_tokens", reasoning) }),
    ...member("total_tokens", total),
  };
}

function member(name: string, count: number | null | undefined): JsonObject {
  return count === null || count === undefined ? {} : { [name]: count };
}

function countIn(usage: JsonObject, name: string): number | null {
  const count = usage[name];
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : null;
}
