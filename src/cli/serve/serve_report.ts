/** Reports of `serve` before and after the requests: lines for people, exit code and last event. */
import { counted } from "../../domain/text.ts";
import type { EventOf } from "../../fixture/event.ts";
import { TIERS } from "../../fixture/match/modes.ts";
import type { SuiteFixture } from "../../fixture/serve/suite.ts";
import type { Output } from "../output.ts";
import type { ServeFlags } from "./command.ts";
import { nothingSentNote, unmetFaultNote } from "./event_view.ts";
import type { EventOutput, ServerPlan } from "./server_run.ts";

/** The most exchanges, or tests, that the summary lists. */
const LISTED_UNUSED = 10;

/** Members of the last event of `serve` besides its exit codes. */
type ServeSummary = Omit<EventOf<"serve.ended">, "type" | "exit_code" | "command_exit_code">;

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

/**
 * Reports the counts and the verdict of a server.
 *
 * @param code Exit code of the command; 0 without a command.
 * @param unread Variables that lead to the server, of a command that sent nothing; `null` for any other.
 * @returns the exit code.
 */
export function reportServed(
  summary: ServeSummary,
  { output, events, plan, flags, code, unread }: {
    readonly output: Output;
    readonly events: EventOutput<"serve-event">;
    readonly plan: ServerPlan;
    readonly flags: Pick<ServeFlags, "strictUsage" | "failOn">;
    readonly code: number;
    readonly unread: readonly string[] | null;
  },
): number {
  const { wraps, isSuite } = plan;
  // Each test has its own report.
  const wrong = isSuite ? null : verdictOf(summary, flags);
  const testsNothing = wrong === null && unread !== null && code === 0;
  const exitCode = code === 0 && (wrong !== null || testsNothing) ? 7 : code;
  events.write({
    type: "serve.ended",
    exit_code: exitCode,
    ...(wraps ? { command_exit_code: code } : {}),
    ...summary,
  });
  if (!events.onStdout && !isSuite) {
    for (const line of summaryLines(summary, plan)) output.note(line);
    if (wrong !== null) {
      output.errorLine(wrong, "Each is listed on stderr and in the events of --json or --events FILE");
    } else if (testsNothing) {
      const sent = nothingSentNote("server", { skipped: summary.skipped, variables: unread });
      output.errorLine(
        "No exchange was played: the command sent no request",
        `${sent}. --allow-unused accepts that`,
      );
    }
  }
  return output.closed ? output.closedExitCode : exitCode;
}

/** Names what makes the exit code 7; `null` if all went as recorded. */
function verdictOf(
  summary: ServeSummary,
  { strictUsage, failOn }: Pick<ServeFlags, "strictUsage" | "failOn">,
): string | null {
  const { missed, refused, turned_away, unused, unmet_faults, tool_outputs_differ: outputs } = summary;
  const wrong = [
    ...(missed > 0 ? [`${missed} missed`] : []),
    ...(refused > 0 ? [`${refused} rejected`] : []),
    ...(turned_away > 0 ? [`${turned_away} turned away`] : []),
    ...(failOn === "tool-output" && outputs > 0
      ? [`${counted(outputs, "tool output")} not as recorded`]
      : []),
    ...(strictUsage === true && unused.length > 0 ? [`${unused.length} unused`] : []),
    ...(strictUsage === true && unmet_faults.length > 0
      ? [`${counted(unmet_faults.length, "fault")} without effect`]
      : []),
  ];
  return wrong.length === 0 ? null : `Not every exchange went as recorded: ${wrong.join(", ")}`;
}

/** Returns the lines at the end: details, then the counts. */
function summaryLines(
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

/** Returns the tiers of the played requests and the rules that they needed; `null` if all had the recorded bytes. */
function matchedLine({ tiers, rules }: ServeSummary): string | null {
  const needed = Object.entries(rules).map(([rule, count]) => `${rule} ${count}`).join(", ");
  const parts = TIERS.filter((tier) => tiers[tier] > 0).map((tier) =>
    tier === "rules" ? `${tiers.rules} with rules (${needed})` : `${tiers[tier]} ${tier}`
  );
  const matched = TIERS.reduce((sum, tier) => sum + tiers[tier], 0);
  return matched === tiers.exact ? null : `${matched} matched: ${parts.join(", ")}`;
}
