/**
 * The page of the APIs' rules, made from the tables that the checkers themselves work by.
 *
 * @module
 */
import { MESSAGES_RULES } from "../src/apis/messages/rules/rule.ts";
import { RULES } from "../src/apis/responses/rules/rule.ts";
import { type Grade, isAnswered, type Rule } from "../src/apis/rule.ts";

/** What each grade of knowledge means, as the page says it. */
const GRADES: Readonly<Record<Grade, string>> = {
  wire: "seen in recorded traffic",
  types: "follows from the types of the official SDKs",
  docs: "stated in official documentation",
  third_party: "reported by one third party, as in an issue with the error's text",
  derived: "follows from other facts, as we read them",
  uncertain: "sources contradict each other",
};

/** Rules about what no recording shows: whose account it is, and which models can read each other's reasoning. */
const NOT_CHECKED: ReadonlySet<string> = new Set(["signature_bound", "encrypted_content_model"]);

/** `docs/rules.md`, whole. */
export function rulesPage(): string {
  return `<!-- deno-fmt-ignore-file -->

# The rules of the APIs

Generated from \`src/apis\` by \`deno task docs\`; the gate fails when it is stale.

\`reprise serve\` checks each \`POST\` to \`…/responses\` and \`…/messages\` by the rules below, in this order, and
answers the first one that is broken as the API would: with its status and its error body. Which API's rules hold, the
provider of the fixture says, or \`--rules\`; of \`compatible\` servers none are known.

- **refuses**: the rule was seen on the wire, follows from the official types, or the words of its refusal are known
  from documents or a report.
- **warns**: nobody has shown the refusal, or sources contradict each other. A warning is told and changes no answer.
- **does not check**: no recording shows whose account it was, or which models can read each other's reasoning.
- **text** says whether the error's words are the API's own (\`exact\`) or ours for the same meaning (\`by meaning\`).

No rule speaks over a record: a request that was recorded just so is played, and what a rule has to say of it is a
warning. A recorded error is the API's own judgement and is played as it is.

What was handed out, the fixture itself proves: blobs, thinking blocks and what belongs to them are judged by what its
responses hold and by what its accepted requests carried.

| grade | where the knowledge comes from |
| --- | --- |
${Object.entries(GRADES).map(([grade, meaning]) => `| \`${grade}\` | ${meaning} |`).join("\n")}

Some rules are better or less known for one case than for the others, and that case is treated by its own grade:
\`unknown_parameter\` is derived but for \`status\` on Azure; \`missing_parameter\` is seen on the wire for
\`arguments\`, derived for the \`call_id\` of an output, and uncertain for the \`id\` of reasoning;
\`unsupported_parameter\` is seen on the wire for \`temperature\` only; \`reasoning_following\` is uncertain for a
message without its id under \`store: false\`.

## OpenAI and Azure: Responses

${table(RULES)}

## Anthropic: Messages

${table(MESSAGES_RULES)}
`;
}

function table(rules: readonly Rule[]): string {
  const rows = rules.map((rule) => {
    const { name, summary, section, grade, exactText } = rule;
    const text = exactText ? "exact" : "by meaning";
    const answer = NOT_CHECKED.has(name) ? "does not check" : isAnswered(rule) ? "refuses" : "warns";
    return `| \`${name}\` | ${summary} | ${section} | \`${grade}\` | ${text} | ${answer} |`;
  });
  return [
    "| rule | a request must be so | protocol | grade | text | \`serve\` |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
  ]
    .join("\n");
}
