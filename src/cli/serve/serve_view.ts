/** Output of `serve` for people before and after the requests. */
import { counted } from "../../domain/text.ts";
import type { EventOf } from "../../fixture/event.ts";
import { TIERS } from "../../fixture/match/modes.ts";
import type { RecordedPaths } from "../../fixture/serve/rewrite.ts";
import type { SuiteFixture } from "../../fixture/serve/suite.ts";
import { unmetFaultNote } from "./recording_notes.ts";

/** The most exchanges, or tests, that the summary lists. */
const LISTED_UNUSED = 10;

/** Members of the last event of `serve` besides its exit codes. */
export type ServeSummary = Omit<EventOf<"serve.ended">, "type" | "exit_code" | "command_exit_code">;

/** Returns the line that the server listens at `address`, with the variables that point clients to it. */
export function readyLine(
  address: string,
  environment: Readonly<Record<string, string>>,
  fixtures: readonly Pick<SuiteFixture, "exchanges">[],
): string {
  const variables = Object.entries(environment).map(([name, url]) => `${name}=${url}`).join(" ");
  const exchanges = fixtures.reduce((sum, fixture) => sum + fixture.exchanges, 0);
  const what = `${counted(exchanges, "exchange")} of ${counted(fixtures.length, "fixture")}`;
  return `serving ${what} at http://${address} (${variables})`;
}

/** Returns the lines at the end: details, then the counts. */
export function summaryLines(
  summary: ServeSummary,
  { isChatty }: { readonly isChatty: boolean },
): string[] {
  const { served, repeated, missed, refused, warned, unused, unopened, turned_away, unmet_faults } = summary;
  const { rewritten, tool_outputs_differ: outputs, hurried } = summary;
  const matched = isChatty ? matchedLine(summary) : null;
  const names = unused.map(({ fixture, number }) => `exchange ${number} of ${fixture}`);
  return [
    ...(matched === null ? [] : [matched]),
    ...unmet_faults.map(unmetFaultNote),
    ...(unused.length === 0 ? [] : [`unused: ${listed(names)}`]),
    ...(unopened.length === 0
      ? []
      : [`not opened: ${counted(unopened.length, "recording")}, ${listed(unopened)}`]),
    `${served} served${
      repeated === 0 ? "" : ` (${repeated} repeated)`
    }, ${missed} missed, ${refused} rejected, ` +
    counted(warned, "warning") +
    (turned_away === 0 ? "" : `, ${turned_away} turned away`) +
    (rewritten === 0 ? "" : `, ${rewritten} with the client's own values in calls`) +
    (outputs === 0 ? "" : `, ${counted(outputs, "tool output")} not as recorded`) +
    (hurried === 0 ? "" : `, ${hurried} with retry-after 0 (--pace real keeps it)`),
  ];
}

/** Returns the first of these names, and the number of the others. */
function listed(names: readonly string[]): string {
  const more = names.length > LISTED_UNUSED ? `, and ${names.length - LISTED_UNUSED} more` : "";
  return `${names.slice(0, LISTED_UNUSED).join(", ")}${more}`;
}

/** Names the answers whose calls hold paths of the recording; `null` if there are none. */
export function recordedPathsNote(found: readonly RecordedPaths[]): string | null {
  const [first] = found;
  if (first === undefined) return null;
  const rules = [...new Set(found.flatMap(({ values }) => values.map(({ rule }) => rule)))].join(", ");
  const others = found.length === 1 ? "" : ` and ${found.length - 1} more`;
  return `calls hold the recorder's paths (${rules}): exchange ${first.number} of "${first.fixture}"${others}; ` +
    "elsewhere, --rewrite-context replaces them with the client's own";
}

/** Returns the tiers of the played requests and the rules that they needed; `null` if all had the recorded bytes. */
function matchedLine({ tiers, rules }: ServeSummary): string | null {
  const needed = Object.entries(rules).map(([rule, count]) => `${rule} ${count}`).join(", ");
  const parts = TIERS.filter((tier) => tiers[tier] > 0).map((tier) =>
    tier === "rules" ? `${tiers.rules} with rules (${needed})` : `${tiers[tier]} ${tier}`
  );
  const matched = TIERS.reduce((sum, tier) => sum + tiers[tier], 0);
  return matched === tiers.exact ? null : `${matched} matched: ${parts.join(", ")}`;
}
