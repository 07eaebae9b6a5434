/**
 * What a rule is, and how sure we are of it: the words that the checkers of all APIs share.
 *
 * @module
 */

/**
 * Where the knowledge of a rule comes from: seen on the wire, in the official types, in official
 * documentation, one third party's report, derived by us, or contradicted somewhere (protocol §0).
 */
export type Grade = "wire" | "types" | "docs" | "third_party" | "derived" | "uncertain";

/** The grades that refuse a request when nobody says otherwise. */
export const REFUSING_GRADES: readonly Grade[] = ["wire", "types"];

/** One thing that an API refuses. */
export interface Rule {
  readonly name: string;
  /** What a request must be like. */
  readonly summary: string;
  /** The section of the protocol page. */
  readonly section: string;
  readonly grade: Grade;
  /** True when the message was captured or quoted; false when only its meaning is known. */
  readonly exactText: boolean;
}

/** A rule that a request breaks, as the API would say it: `Name` the names of its rules, `Body` its error body. */
export interface Refusal<Name extends string, Body> {
  /** The HTTP status. */
  readonly status: number;
  readonly body: Body;
  /** The name of the rule. */
  readonly rule: Name;
  readonly grade: Grade;
}

/** What is wrong with a request, in the order of the validators (protocol §13). */
export interface CheckResult<Found> {
  /** The API answers with the first of these. */
  readonly refusals: readonly Found[];
  /** What might be refused, too little known to insist on. */
  readonly warnings: readonly Found[];
}

/**
 * True when a replay server answers a break of such a rule as the API would: the rule was seen on the wire, follows
 * from the official types, or the very words of the refusal are known from documents or a report. What was derived or
 * is contradicted somewhere is worth a warning only, and so is a rule of which nobody has shown the refusal.
 */
export function isAnswered({ grade, exactText }: Pick<Rule, "grade" | "exactText">): boolean {
  return REFUSING_GRADES.includes(grade) || (exactText && (grade === "docs" || grade === "third_party"));
}

/** Parts what was found into what refuses and what only warns; `refuse` lists the grades that refuse. */
export function gradedResult<Found extends { readonly grade: Grade }>(
  found: readonly Found[],
  refuse: readonly Grade[] = REFUSING_GRADES,
): CheckResult<Found> {
  return {
    refusals: found.filter(({ grade }) => refuse.includes(grade)),
    warnings: found.filter(({ grade }) => !refuse.includes(grade)),
  };
}
