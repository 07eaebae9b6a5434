/**
 * List prices. The data is a dependency's; its own calculator, which also knows sound, video and searches, takes longer
 * to load than a request to a server on this machine.
 */
import {
  type ConditionalPrice,
  findProvider,
  type MatchLogic,
  type ModelInfo,
  type ModelPrice,
} from "@pydantic/genai-prices";
import { costAt, type PriceTable } from "../domain/cost.ts";

/** Implements {@linkcode PriceTable.listPrice} with the prices in force at the time of the request. */
export const listPrice: PriceTable["listPrice"] = (list, model, { usage, at }) => {
  const name = model.toLowerCase().trim();
  const entry = entryOf(list, name);
  if (entry === undefined || !isNamed(entry, name)) return null;
  const written = usage.cache_write_tokens ?? 0;
  // Counts that contradict each other.
  if (usage.cached_tokens + written > usage.input_tokens) return null;
  const prices = pricesAt(entry, at);
  const [input, output, cached, cache_write] = [
    prices.input_mtok,
    prices.output_mtok,
    prices.cache_read_mtok,
    prices.cache_write_mtok,
  ].map((price) => priceAt(price, usage.input_tokens));
  if (input === undefined || output === undefined) return null;
  // At the price of plain input, a write would cost too little.
  if (written > 0 && cache_write === undefined) return null;
  return costAt({ input, output, cached: cached ?? input, cache_write: cache_write ?? input }, usage);
};

/** The first entry that matches, in the list itself, then in those of the providers whose models this one offers too. */
function entryOf(list: string, name: string): ModelInfo | undefined {
  const provider = findProvider({ providerId: list });
  if (provider === undefined) return undefined;
  const others = (provider.fallback_model_providers ?? []).map((providerId) => findProvider({ providerId }));
  const models = [provider, ...others].flatMap((each) => each?.models ?? []);
  // Some lists write the date of a snapshot with hyphens.
  for (const spelling of [name, name.replace(PLAIN_DATE, "-$1-$2-$3")]) {
    const model = models.find(({ match }) => isMatch(match, spelling));
    if (model !== undefined) return model;
  }
  return undefined;
}

const PLAIN_DATE = /-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/;

function isMatch(match: MatchLogic, name: string): boolean {
  return holds(match, (condition) => {
    if ("equals" in condition) return name === condition.equals.toLowerCase();
    if ("starts_with" in condition) return name.startsWith(condition.starts_with.toLowerCase());
    if ("ends_with" in condition) return name.endsWith(condition.ends_with.toLowerCase());
    if ("contains" in condition) return name.includes(condition.contains.toLowerCase());
    return new RegExp(condition.regex).test(name);
  });
}

/** A condition that no other ones make up. */
type Condition = Exclude<MatchLogic, { or: MatchLogic[] } | { and: MatchLogic[] }>;

function holds(match: MatchLogic, test: (condition: Condition) => boolean): boolean {
  if ("or" in match) return match.or.some((each) => holds(each, test));
  if ("and" in match) return match.and.every((each) => holds(each, test));
  return test(match);
}

/** The prices in force: those of the last condition that holds, else the first ones. */
function pricesAt({ prices }: ModelInfo, at: Date): ModelPrice {
  if (!Array.isArray(prices)) return prices;
  return (prices.findLast((each) => isInForce(each, at)) ?? prices[0])?.prices ?? {};
}

const DAY_MS = 86_400_000;

function isInForce({ constraint }: ConditionalPrice, at: Date): boolean {
  if (constraint === undefined) return true;
  if (constraint.type === "start_date") return at >= new Date(constraint.start_date);
  const time = timeOfDay(at.getTime());
  const [start, end] = [timeAt(constraint.start_time), timeAt(constraint.end_time)];
  return start <= end ? time >= start && time < end : time >= start || time < end;
}

/** Milliseconds since midnight, in UTC. */
function timeOfDay(ms: number): number {
  return ((ms % DAY_MS) + DAY_MS) % DAY_MS;
}

/** A time such as `16:30:00Z` in milliseconds since midnight, in UTC. */
function timeAt(text: string): number {
  return timeOfDay(Date.parse(`1970-01-01T${text}`));
}

/** The price of a million tokens in a request with `inputTokens`. Long requests may have a price of their own. */
function priceAt(price: ModelPrice[string], inputTokens: number): number | undefined {
  if (price === undefined || typeof price === "number") return price;
  const tier = price.tiers.filter(({ start }) => inputTokens > start).sort((a, b) => b.start - a.start)[0];
  return tier?.price ?? price.base;
}

/** Date or `latest` at the end of a model's name: the same model. */
const SNAPSHOT = /[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

/**
 * True if an entry names exactly this model, with or without a date. Many entries match any name that begins so: the
 * price of `claude-sonnet-5` would be taken for a later `claude-sonnet-5-5`.
 */
function isNamed({ id, match }: ModelInfo, model: string): boolean {
  const names = [model, model.replace(SNAPSHOT, "")];
  return names.includes(id.toLowerCase()) ||
    holds(
      match,
      (condition) =>
        "regex" in condition
          ? names.some((name) => new RegExp(condition.regex).test(name))
          : Object.values(condition).some((text) => names.includes(String(text).toLowerCase())),
    );
}
