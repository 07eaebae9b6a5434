/**
 * The page of the APIs' rules, generated from the tables that the checkers use.
 *
 * @module
 */
import { CHAT_RULES } from "../src/apis/chat/rules/rule.ts";
import { MESSAGES_RULES } from "../src/apis/messages/rules/rule.ts";
import { RESPONSES_RULES } from "../src/apis/responses/rules/rule.ts";
import { type ApiRule, isAnswered, type RuleGrade } from "../src/apis/rule.ts";

/** The meaning of each grade, as the page prints it. */
const GRADES: Readonly<Record<RuleGrade, string>> = {
  wire: "seen in recorded traffic",
  types: "follows from the types of the official SDKs",
  docs: "stated in official documentation",
  third_party: "reported by one third party, as in an issue with the error's text",
  derived: "follows from other facts, in our reading",
  uncertain: "sources contradict each other",
};

/** Rules that no recording can decide: about accounts, and about models that read each other's reasoning. */
const NOT_CHECKED: ReadonlySet<string> = new Set(["signature_bound", "encrypted_content_model"]);

/** `docs/rules.md`, whole. */
export function rulesPage(): string {
  return `<!-- deno-fmt-ignore-file -->

# The rules of the APIs

Generated from \`src/apis\` by \`deno task docs\`; the gate fails if this page is stale.

\`reprise serve\` checks each \`POST\` to \`…/responses\`, \`…/messages\` and \`…/chat/completions\` by the rules below, in
this order. It answers the first broken rule as the API would: with the API's status and error body. The provider of the fixture, or
\`--rules\`, selects the rules; for \`compatible\` servers none are known.

- **refuses**: the rule was seen on the wire, follows from the official types, or documents or a report
  quote the text of its refusal.
- **warns**: no source shows the refusal, or sources contradict each other. A warning is reported and changes no answer.
- **does not check**: no recording shows the account, or the models that can read each other's reasoning.
- **text**: the text of the error is the API's own (\`exact\`), or ours with the same meaning (\`by meaning\`).

The record outweighs the rules: a member, value, type or block that the API took in one request of a fixture is allowed
in all of them, because the API may be newer than a rule. A request that was recorded is played, and a rule about its
history that it breaks is a warning. A recorded error is the API's own judgement and is played unchanged.

The fixture is the evidence for issued items: blobs, thinking blocks and their ids are checked against its responses and
against its accepted requests.

| grade | where the knowledge comes from |
| --- | --- |
${Object.entries(GRADES).map(([grade, meaning]) => `| \`${grade}\` | ${meaning} |`).join("\n")}

Some rules have another grade in one case than in the others, and that case goes by its own grade:
\`unknown_parameter\` is derived except for \`status\` on Azure; \`missing_parameter\` is seen on the wire for
\`arguments\`, derived for the \`call_id\` of an output, and uncertain for the \`id\` of reasoning;
\`unsupported_parameter\` is seen on the wire for \`temperature\` only; \`reasoning_following\` is uncertain for a
message without its id under \`store: false\`. In Chat Completions, \`unknown_parameter\` is derived except for
\`reasoning\`.

## OpenAI and Azure: Responses

${table(RESPONSES_RULES)}

## OpenAI and Azure: Chat Completions

${table(CHAT_RULES)}

## Anthropic: Messages

${table(MESSAGES_RULES)}
`;
}

function table(rules: readonly ApiRule[]): string {
  const rows = rules.map((rule) => {
    const { name, summary, section, grade, exactText } = rule;
    const text = exactText ? "exact" : "by meaning";
    const answer = NOT_CHECKED.has(name) ? "does not check" : isAnswered(rule) ? "refuses" : "warns";
    return `| \`${name}\` | ${summary} | ${section} | \`${grade}\` | ${text} | ${answer} |`;
  });
  return [
    "| rule | requirement | protocol | grade | text | \`serve\` |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
  ]
    .join("\n");
}
