/** Rules on requests with their sources, for the checkers of all APIs. */
import { isJsonObject, type JsonObject, type JsonValue, namesOf } from "../domain/json.ts";
import { words } from "../domain/text.ts";
import type { ApiError, IssuedItems } from "./stream.ts";

/** Sets of rules for requests, by provider. */
export const RULE_SETS = ["openai", "azure", "anthropic", "none"] as const;
/** A set of rules; `none` checks nothing. */
export type RuleSet = (typeof RULE_SETS)[number];

/**
 * Sources of a rule, most certain first: seen on the wire, official types, official documentation, one third party's
 * report, our own inference, or contradicting sources (protocol §0).
 */
export type RuleGrade = "wire" | "types" | "docs" | "third_party" | "derived" | "uncertain";

/** Grades whose rules refuse a request even if the text of the refusal is not known. */
const CERTAIN_GRADES: readonly RuleGrade[] = ["wire", "types"];

/** A reason to refuse requests. */
export interface ApiRule<Name extends string = string> {
  readonly name: Name;
  /** The rule as one sentence about requests. */
  readonly summary: string;
  /** The section of the protocol page. */
  readonly section: string;
  readonly grade: RuleGrade;
  /** True when the message was captured or quoted; false when only its meaning is known. */
  readonly exactText: boolean;
  /** True for a rule on items that belong together. That an API accepted one violation then says nothing about another. */
  readonly isOfHistory: boolean;
}

/**
 * Source and summary of a rule. The source is a section, and a grade with the marks `exact` ({@linkcode
 * ApiRule.exactText}) and `history`.
 */
type RuleRow = readonly [
  source: `§${string}: ${RuleGrade}${"" | " exact"}${"" | " history"}`,
  summary: string,
];

/** Returns the rules of a table, in its order. */
export function rulesOf<Name extends string>(
  rows: Readonly<Record<Name, RuleRow>>,
): readonly ApiRule<Name>[] {
  return (Object.entries(rows) as [Name, RuleRow][]).map(([name, [source, summary]]) => {
    const [section = "", basis = ""] = source.split(": ");
    const [grade, ...marks] = basis.split(" ");
    const [exactText, isOfHistory] = [marks.includes("exact"), marks.includes("history")];
    return { name, summary, section, grade: grade as RuleGrade, exactText, isOfHistory };
  });
}

/** A violation that a checker finds. */
export interface FoundViolation<Name extends string> {
  readonly rule: Name;
  readonly message: string;
  /**
   * Deed of the request, without its place, if it is more or less than the message says: equal texts are one thing, which
   * an API takes or refuses.
   */
  readonly shape?: string;
  /** @default {null} */
  readonly param?: string | null;
  /** @default {null} */
  readonly code?: string | null;
  /** The HTTP status. @default {400} */
  readonly status?: number;
  /** A grade other than that of the rule, for a case with better or worse sources. */
  readonly grade?: RuleGrade;
}

/** A rule that a request violates. */
export interface RuleViolation {
  readonly rule: string;
  readonly grade: RuleGrade;
  readonly status: number;
  readonly error: ApiError;
  /** True if the API's own answer is given; false if only a warning is. */
  readonly answered: boolean;
}

/** An answer with the items that it issued. */
export interface IssuingAnswer extends Omit<IssuedItems, "failed"> {
  /** False if the API refused or failed: such an answer does not show that its request is good. */
  readonly accepted: boolean;
}

/** Parts of a request that rules read. */
interface CheckedRequest {
  /** Parsed at each access; `undefined` if it is not JSON. */
  readonly json: JsonValue | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Items that an API is known to have issued, for rules that need them. */
export interface KnownItems {
  /** Adds the items of an answer. */
  issue(answer: IssuingAnswer): void;
  /** Adds the items of an accepted request: a recording may begin in the middle of a conversation. */
  accept(json: JsonValue | undefined): void;
}

export interface ApiRules<Known extends KnownItems = KnownItems> {
  /** Every rule, in the order in which they are checked. */
  readonly rules: readonly ApiRule[];
  /** The sets of rules of this API; the first set is for providers of another API. */
  readonly sets: readonly [RuleSet, ...RuleSet[]];
  /** True for the paths of requests that the rules are about, without query. */
  ownsPath(pathname: string): boolean;
  /** Headers that the rules read, besides the body. */
  readonly headers: readonly string[];
  /**
   * Finds every violation in a request: those of each of the API's validators in turn, so that other work can run in
   * between. Names of headers are in lower case. Without `known`, rules that need known items find none.
   */
  check(
    json: JsonValue,
    headers: Readonly<Record<string, string>>,
    set: RuleSet,
    known: Known | null,
  ): Iterable<readonly FoundViolation<string>[]>;
  /** Creates a state without items; `nameOf` returns one name for all copies of a blob. Absent without such rules. */
  newItems?(nameOf: (blob: string) => string): Known;
}

/**
 * True if a replay server refuses violations of such a rule: the rule was seen on the wire, follows from the official
 * types, or the text of the refusal is known from documents or a report. Rules that were inferred, are contradicted or
 * have no known refusal only warn.
 */
export function isAnswered({ grade, exactText }: Pick<ApiRule, "grade" | "exactText">): boolean {
  return CERTAIN_GRADES.includes(grade) || (exactText && (grade === "docs" || grade === "third_party"));
}

/** Returns a violation of one of `rules` as the API reports it. */
function violationOf(
  rules: readonly ApiRule[],
  { rule, message, param = null, code = null, status = 400, grade }: FoundViolation<string>,
): RuleViolation {
  const known = rules.find(({ name }) => name === rule);
  if (known === undefined) throw new TypeError(`No rule is called ${rule}`);
  return {
    rule,
    grade: grade ?? known.grade,
    status,
    error: { type: "invalid_request_error", message, param, code },
    answered: isAnswered({ ...known, grade: grade ?? known.grade }),
  };
}

/** Rules of an API on a parsed request, one function for each in the order of their checks. */
export interface Validators<Request, Name extends string> {
  readonly notAnObject: FoundViolation<Name>;
  readonly malformed: FoundViolation<Name>;
  readonly parse: (body: JsonObject) => Request;
  readonly inOrder: readonly ((request: Request) => Iterable<FoundViolation<Name>>)[];
}

/** Checks a request as {@linkcode ApiRules.check} does. */
export function* validate<Request, Name extends string>(
  body: JsonValue,
  { notAnObject, malformed, parse, inOrder }: Validators<Request, Name>,
): Generator<readonly FoundViolation<Name>[]> {
  if (!isJsonObject(body)) {
    yield [notAnObject];
    return;
  }
  const request = parse(body);
  yield (yield* isWellFormedBody(body)) ? [] : [malformed];
  for (const validator of inOrder) yield [...validator(request)];
}

/** Members of one kind of object. */
export interface Members {
  readonly required: readonly string[];
  readonly all: readonly string[];
}

/** Reads names with white space between them; a member that may be absent ends with `?`: `name input_schema type?`. */
export function members(list: string): Members {
  const names = list === "" ? [] : words(list);
  return {
    required: names.filter((name) => !name.endsWith("?")),
    all: names.map((name) => name.replace(/\?$/, "")),
  };
}

/** Tables of {@linkcode members} by type. */
export function membersByType(table: Readonly<Record<string, string>>): ReadonlyMap<string, Members> {
  return new Map(Object.entries(table).map(([type, list]) => [type, members(list)]));
}

/** True for a member that is there and not `null`. */
export function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

export function isOneOf(value: JsonValue | undefined, values: readonly string[]): boolean {
  return typeof value === "string" && values.includes(value);
}

/** Known values, as messages list them. */
export function quotedList(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}

/** Names that are looked at before other work can run. */
const NAMES = 10_000;

/**
 * False when a string or a name anywhere in `body` holds half a surrogate pair: such JSON is not valid UTF-8 text.
 * Without recursion, because bodies may be nested deeply.
 * Yields nothing now and then, as {@linkcode ApiRules.check} does.
 */
function* isWellFormedBody(body: JsonValue): Generator<never[], boolean> {
  const open: JsonValue[] = [body];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === "string" && !value.isWellFormed()) return false;
    if (typeof value !== "object" || value === null) continue;
    const add = (member: JsonValue | undefined) => {
      if (typeof member === "string" || typeof member === "object" && member !== null) open.push(member);
    };
    if (!isJsonObject(value)) {
      value.forEach(add);
      continue;
    }
    // Names are listed once: of many, that takes longer than the search.
    for (const [at, name] of namesOf(value).entries()) {
      if (!name.isWellFormed()) return false;
      add(value[name]);
      if (at % NAMES === NAMES - 1) yield [];
    }
  }
  return true;
}

/** Returns the form of a value in {@linkcode FoundViolation.shape}: a scalar as JSON, a list or an object by its type. */
export function shapeOf(value: JsonValue | undefined): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "nothing";
  return Array.isArray(value) ? "list" : "object";
}

/**
 * Checks requests by what an API is known to have issued and accepted. Violations that it accepted in a recording are
 * none: it is newer than the rule, or another one. What one request did, all requests may do.
 */
export class KnownGood {
  readonly #rules: ApiRules;
  readonly #items: KnownItems | null;
  readonly #isOfHistory: ReadonlySet<string>;
  readonly #requests: CheckedRequest[] = [];
  /** By set of rules; few requests violate any, so nothing is computed before one does. */
  readonly #accepted = new Map<RuleSet, ReadonlySet<string>>();

  constructor(rules: ApiRules, nameOf: (blob: string) => string) {
    this.#rules = rules;
    this.#items = rules.newItems?.(nameOf) ?? null;
    this.#isOfHistory = new Set(rules.rules.filter(({ isOfHistory }) => isOfHistory).map(({ name }) => name));
  }

  /** Adds an exchange: the items of its answer, and its request if that was accepted. */
  add(request: CheckedRequest, answer: IssuingAnswer): void {
    this.#items?.issue(answer);
    if (!answer.accepted) return;
    this.#requests.push(request);
    this.#accepted.clear();
    this.#items?.accept(request.json);
  }

  /** Yields the violations in a request as the API reports them, those of each validator in turn. */
  *violations(
    json: JsonValue,
    headers: CheckedRequest["headers"],
    set: RuleSet,
  ): Generator<readonly RuleViolation[]> {
    for (const violations of this.#rules.check(json, headers, set, this.#items)) {
      if (violations.some((violation) => this.#mayBeAccepted(violation)) && !this.#accepted.has(set)) {
        yield* this.#noteAccepted(set);
      }
      const accepted = this.#accepted.get(set);
      yield violations.filter((one) => !this.#mayBeAccepted(one) || accepted?.has(keyOf(one)) !== true)
        .map((violation) => violationOf(this.#rules.rules, violation));
    }
  }

  #mayBeAccepted({ rule }: FoundViolation<string>): boolean {
    return !this.#isOfHistory.has(rule);
  }

  /** Notes the keys of what the accepted requests violated; yields nothing after each validator. */
  *#noteAccepted(set: RuleSet): Generator<never[]> {
    const keys = new Set<string>();
    for (const { json, headers } of this.#requests) {
      for (const violations of json === undefined ? [] : this.#rules.check(json, headers, set, null)) {
        for (const violation of violations) if (this.#mayBeAccepted(violation)) keys.add(keyOf(violation));
        yield [];
      }
    }
    this.#accepted.set(set, keys);
  }
}

/** Returns a text for what a request did; indices of places and lengths do not count. */
function keyOf({ rule, message, shape }: FoundViolation<string>): string {
  return `${rule} ${shape ?? message.replace(/\b\d+\b/g, "#")}`;
}
