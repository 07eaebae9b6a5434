/**
 * Tokens and costs of requests: each one, and sums by run, session, model and day. The shapes are those of `--json`.
 */
import type { SessionSpending, SpentRequest } from "../../schemas/inspection.ts";
import type { Spending } from "../../schemas/parts.ts";
import { addCost, costText, roundedCost } from "../../domain/cost.ts";
import { addTokenCounts, type AnswerCounts } from "../../domain/usage.ts";
import { counted } from "../../domain/text.ts";
import type { LedgerRequest } from "../../run/ledger.ts";
import type { TimeZone } from "../local_time.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { loadPrices } from "./prices.ts";

/** One request with its cost, and whether its answer is a copy in the fork of another agent. */
interface CountedRequest extends SpentRequest {
  readonly isCopied: boolean;
}

/** A sum with the name of its group. */
type GroupSpending<Name extends string, Value = string | null> =
  & Readonly<Record<Name, Value>>
  & Spending;

export async function spentRequests(
  ports: ProgramPorts,
  requests: readonly LedgerRequest[],
): Promise<CountedRequest[]> {
  const costOf = await loadPrices(ports, requests);
  return requests.map((request) => {
    const { session, turn, run, at, provider, asked, answered, counts, imported } = request;
    return {
      session,
      turn,
      run,
      at,
      provider,
      model: answered ?? asked,
      usage: counts,
      cost_usd: costOf(request),
      isCopied: imported?.isCopied === true,
    };
  });
}

/** Sums up the requests in a session's turns. */
export function sessionSpending(
  session: string,
  all: readonly CountedRequest[],
  zone: TimeZone,
): SessionSpending {
  const ofSession = all.filter((request) => request.session === session && !request.isCopied);
  return {
    total: sumOf(ofSession),
    shared: sumOf(all.filter((request) => request.session !== session || request.isCopied)),
    runs: groups(ofSession, "run", ({ run }) => run),
    ...byModelAndDay(ofSession, zone),
    requests: all.map(({ isCopied: _isCopied, ...request }) => ({
      ...request,
      cost_usd: roundedCost(request.cost_usd),
    })),
  };
}

/**
 * Sums up the requests of all sessions; each request occurs once. Turns that a fork shares with its parent count once, as
 * the parent's.
 */
export function homeSpending(all: readonly SpentRequest[], zone: TimeZone) {
  return {
    total: sumOf(all),
    sessions: groups(all, "session", ({ session }) => session),
    ...byModelAndDay(all, zone),
  };
}

function byModelAndDay(
  requests: readonly SpentRequest[],
  zone: TimeZone,
): Pick<SessionSpending, "models" | "days"> {
  return {
    models: groups(requests, "model", ({ model }) => model),
    days: groups(requests, "day", ({ at }) => zone.day(at)),
  };
}

/** Returns sums of the requests that have the same name, in the order of their first requests. */
function groups<Name extends string, Value extends string | number | null>(
  requests: readonly SpentRequest[],
  name: Name,
  valueOf: (request: SpentRequest) => Value,
): GroupSpending<Name, Value>[] {
  return [...Map.groupBy(requests, valueOf)].map(([value, group]) =>
    ({ [name]: value, ...sumOf(group) }) as unknown as GroupSpending<Name, Value>
  );
}

/** The sum over requests: each count is `null` if no answer has it. Cached and written tokens are part of the input. */
export function sumOf(requests: readonly SpentRequest[]): Spending {
  const sum = (name: keyof AnswerCounts) => {
    const known = requests.flatMap(({ usage }) => usage?.[name] ?? []);
    return known.length === 0 && requests.length > 0 ? null : known.reduce(addTokenCounts, 0);
  };
  return {
    requests: requests.length,
    uncounted: requests.filter(({ usage }) => usage === null).length,
    input_tokens: sum("input_tokens"),
    cached_tokens: sum("cached_tokens"),
    cache_write_tokens: sum("cache_write_tokens"),
    output_tokens: sum("output_tokens"),
    reasoning_tokens: sum("reasoning_tokens"),
    cost_usd: roundedCost(requests.map(({ cost_usd }) => cost_usd).reduce(addCost, 0)),
    known_cost_usd: roundedCost(requests.reduce((known, { cost_usd }) => known + (cost_usd ?? 0), 0)) ?? 0,
    unpriced: requests.filter(({ cost_usd }) => cost_usd === null).length,
  };
}

/** The cost of a sum for people: `$0.0021`, `at least $0.0021` if only some requests have a price, else `unknown`. */
export function spendingCost({ cost_usd, known_cost_usd }: Spending): string {
  return cost_usd === null && known_cost_usd > 0
    ? `at least ${costText(known_cost_usd)}`
    : costText(cost_usd);
}

/**
 * Formats a sum in one line: `2 requests · 900 input (512 cached, 0 written) · 80 output (64 reasoning) · $0.0021`. Counts
 * that no answer has are left out.
 */
export function spendingText(spent: Spending): string {
  const { requests, uncounted, input_tokens: input, output_tokens: output } = spent;
  const parts = (...named: readonly (readonly [number | null, string])[]) => {
    const known = named.filter(([count]) => count !== null).map(([count, what]) => `${count} ${what}`);
    return known.length === 0 ? "" : ` (${known.join(", ")})`;
  };
  const tokens = [
    ...(input === null
      ? []
      : [`${input} input${parts([spent.cached_tokens, "cached"], [spent.cache_write_tokens, "written"])}`]),
    ...(output === null ? [] : [`${output} output${parts([spent.reasoning_tokens, "reasoning"])}`]),
  ];
  return [
    `${counted(requests, "request")}${
      uncounted === 0 || tokens.length === 0 ? "" : `, ${uncounted} not counted`
    }`,
    ...(tokens.length === 0 ? ["tokens unknown"] : tokens),
    spendingCost(spent) === "unknown" ? "cost unknown" : spendingCost(spent),
  ].join(" · ");
}
