/** Requests checked by the rules of an API without a recording, as the servers of tests check them. */
import type { JsonValue } from "../../src/domain/json.ts";
import { apiNamed } from "../../src/apis/apis.ts";
import { messagesViolations } from "../../src/apis/messages/rules/check.ts";
import { BINDING_BETA } from "../../src/apis/messages/rules/request.ts";
import { MESSAGES_RULES } from "../../src/apis/messages/rules/rule.ts";
import type { SignatureJudge } from "../../src/apis/messages/rules/signatures.ts";
import { type IssuedFacts, responsesViolations } from "../../src/apis/responses/rules/check.ts";
import { RESPONSES_RULES } from "../../src/apis/responses/rules/rule.ts";
import { type RuleGrade, type RuleViolation, violationOf } from "../../src/apis/rule.ts";

export const RULE_GRADES: readonly RuleGrade[] = [
  ...["wire", "types", "docs", "third_party", "derived", "uncertain"] as const,
];
/** The grades that refuse by default. */
export const REFUSING_GRADES: readonly RuleGrade[] = ["wire", "types"];

/** A violation, with the body of its refusal. */
export interface Refusal extends RuleViolation {
  readonly body: { readonly error: RuleViolation["error"] };
}

interface Checked {
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly Refusal[];
}

export interface ResponsesChecks extends IssuedFacts {
  readonly mode: "openai" | "azure";
  readonly refuse?: readonly RuleGrade[];
}

export function checkResponsesRequest(
  body: JsonValue,
  { mode, refuse, ...issued }: ResponsesChecks,
): Checked {
  return checked(
    "responses",
    refuse,
    responsesViolations(body, mode, issued)
      .map((found) => violationOf(RESPONSES_RULES, found)),
  );
}

export interface MessagesChecks {
  readonly judge?: SignatureJudge;
  /** An older model, or a turn in which the API paused. */
  readonly allowPrefill?: boolean;
  /** The server does not know `thinking.block_binding`, even with the beta header. */
  readonly legacyBinding?: boolean;
  readonly refuse?: readonly RuleGrade[];
}

export function checkMessagesRequest(
  body: JsonValue,
  headers: Readonly<Record<string, string>>,
  { judge, allowPrefill = false, legacyBinding = false, refuse }: MessagesChecks = {},
): Checked {
  const betas = headers["anthropic-beta"]?.replaceAll(BINDING_BETA, legacyBinding ? "other" : BINDING_BETA);
  const known = betas === undefined ? headers : { ...headers, "anthropic-beta": betas };
  const found = messagesViolations(body, known, judge).map((each) => violationOf(MESSAGES_RULES, each));
  return checked("messages", refuse, found.filter(({ rule }) => rule !== "prefill" || !allowPrefill));
}

function checked(
  api: "responses" | "messages",
  refuse: readonly RuleGrade[] = REFUSING_GRADES,
  found: readonly RuleViolation[],
): Checked {
  const all = found.map((
    each,
  ) => ({ ...each, body: apiNamed(api).errors.body(each.error, null) } as unknown as Refusal));
  return {
    refusals: all.filter(({ grade }) => refuse.includes(grade)),
    warnings: all.filter(({ grade }) => !refuse.includes(grade)),
  };
}
