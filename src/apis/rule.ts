/**
 * Rules on requests with their sources, for the checkers of all APIs.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { ApiError, IssuedItems } from "./stream.ts";

/** Sets of rules for requests, by provider. */
export const RULE_SETS = ["openai", "azure", "anthropic", "none"] as const;
/** A set of rules; `none` checks nothing. */
export type RuleSet = (typeof RULE_SETS)[number];

/**
 * Sources of a rule, most certain first: seen on the wire, official types, official documentation, one third party's
 * report, our own inference, or contradicting sources (protocol §0).
 */
export const RULE_GRADES = ["wire", "types", "docs", "third_party", "derived", "uncertain"] as const;
/** The source of a rule. */
export type RuleGrade = (typeof RULE_GRADES)[number];

/** The grades that refuse a request by default. */
export const REFUSING_GRADES: readonly RuleGrade[] = ["wire", "types"];

/** A reason to refuse requests. */
export interface ApiRule {
  readonly name: string;
  /** The rule as one sentence about requests. */
  readonly summary: string;
  /** The section of the protocol page. */
  readonly section: string;
  readonly grade: RuleGrade;
  /** True when the message was captured or quoted; false when only its meaning is known. */
  readonly exactText: boolean;
}

/** A violation of a rule, as the API reports it: `Name` the names of its rules, `Body` its error body. */
export interface RuleRefusal<Name extends string, Body> {
  /** The HTTP status. */
  readonly status: number;
  readonly body: Body;
  /** The name of the rule. */
  readonly rule: Name;
  readonly grade: RuleGrade;
}

/** Violations in a request, in the order of the validators (protocol §13). */
export interface CheckResult<Found> {
  /** The API answers with the first of these. */
  readonly refusals: readonly Found[];
  /** Violations of rules that are too uncertain to refuse. */
  readonly warnings: readonly Found[];
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

/** Items that an API is known to have issued and accepted, and the rules that use them. */
export interface KnownGood {
  /** Adds an exchange: the items of its answer, and its request if that was accepted. */
  add(request: JsonValue | undefined, answer: IssuingAnswer): void;
  /** Returns every violation in a request, in the order of the API's validators; names of headers in lower case. */
  violations(
    json: JsonValue,
    headers: Readonly<Record<string, string>>,
    set: RuleSet,
  ): readonly RuleViolation[];
}

/** The rules of an API. */
export interface ApiRules {
  /** Every rule, in the order in which they are checked. */
  readonly rules: readonly ApiRule[];
  /** The sets of rules of this API; the first set is for providers of another API. */
  readonly sets: readonly [RuleSet, ...RuleSet[]];
  /** True for the paths of requests that the rules are about, without query. */
  ownsPath(pathname: string): boolean;
  /** Headers that the rules read, besides the body. */
  readonly headers: readonly string[];
  /** Creates a state without exchanges; `nameOf` returns one name for all copies of a blob. */
  newKnownGood(nameOf: (blob: string) => string): KnownGood;
}

/**
 * True if a replay server refuses violations of such a rule: the rule was seen on the wire, follows from the official
 * types, or the text of the refusal is known from documents or a report. Rules that were inferred, are contradicted or
 * have no known refusal only warn.
 */
export function isAnswered({ grade, exactText }: Pick<ApiRule, "grade" | "exactText">): boolean {
  return REFUSING_GRADES.includes(grade) || (exactText && (grade === "docs" || grade === "third_party"));
}

/** Splits violations into refusals and warnings; `refuse` lists the grades that refuse. */
export function gradedResult<Found extends { readonly grade: RuleGrade }>(
  found: readonly Found[],
  refuse: readonly RuleGrade[] = REFUSING_GRADES,
): CheckResult<Found> {
  return {
    refusals: found.filter(({ grade }) => refuse.includes(grade)),
    warnings: found.filter(({ grade }) => !refuse.includes(grade)),
  };
}

/** The objects of a list; an empty list for any other value. */
export function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/**
 * False when a string or a name anywhere in `body` holds half a surrogate pair: such JSON is not valid UTF-8 text.
 * Without recursion, because bodies may be nested deeply.
 */
export function isWellFormedBody(body: JsonValue): boolean {
  const open: (JsonValue | undefined)[] = [body];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "string") {
      if (!value.isWellFormed()) return false;
    } else if (typeof value === "object" && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (!name.isWellFormed()) return false;
        open.push(member);
      }
    }
  }
  return true;
}
