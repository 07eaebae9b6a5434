/** The verb `stats`: tokens and costs of one session or of all, by run, session, model and day. */
import { asRepriseError, type ExitCode } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { type LedgerRequest, requestsIn } from "../../run/ledger.ts";
import type { Home } from "../../store/home.ts";
import { listSessions } from "../../store/list.ts";
import { readForShow, type ShownSession } from "../../store/read/show.ts";
import {
  homeSpending,
  sessionSpending,
  spendingCost,
  spendingText,
  spentRequests,
} from "../cost/spending.ts";
import type { Spending } from "../../schemas/parts.ts";
import { type Context, homeOf, makeContext } from "../context.ts";
import { TimeZone } from "../local_time.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { PLAIN_SCREEN } from "../screen.ts";
import { sessionArgument } from "../sessions.ts";
import { type Column, tableLines } from "../table.ts";
import { joinedLines, type Printable } from "../terminal.ts";
import { startOf } from "../session_filter.ts";
import type { StatsFlags } from "./command.ts";

/** Performs `stats`. Counts the readable turns of a damaged session, reports the damage and returns exit code 12. */
export async function statsVerb(
  ports: ProgramPorts,
  selector: string | undefined,
  flags: StatsFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { tz: zone = TimeZone.local } = flags;
  const since = startOf(flags, ports.clock.now());
  const { id, requests, problems } = selector === undefined
    ? { id: null, ...requestsOfAll(context) }
    : requestsOfOne(context, selector);
  const counted = requests.filter(({ at }) => since === null || Date.parse(at) >= since);
  const spent = await spentRequests(ports, counted);
  if (id === null) {
    const home = homeSpending(spent, zone);
    const { total, sessions, models, days } = home;
    if (output.options.json) output.json<"stats">({ ...home, ...damage(problems) });
    else {
      output.text(`${spendingText(total)}\n`);
      output.text(table("session", sessions.map((each) => [each.session, each])));
      output.text(table("model", models.map((each) => [each.model ?? "unknown", each])));
      output.text(table("day", days.map((each) => [each.day ?? "unknown", each])));
    }
  } else {
    const session = sessionSpending(id, spent, zone);
    if (output.options.json) output.json<"stats-session">({ session: id, ...session, ...damage(problems) });
    else {
      output.text(`${id}: ${spendingText(session.total)}\n`);
      if (session.shared.requests > 0) output.text(`before the fork: ${spendingText(session.shared)}\n`);
      output.text(table("run", session.runs.map((each) => [String(each.run), each])));
      output.text(table("model", session.models.map((each) => [each.model ?? "unknown", each])));
      output.text(table("day", session.days.map((each) => [each.day ?? "unknown", each])));
    }
  }
  for (const problem of problems) output.note(`damaged: ${problem}`);
  return problems.length === 0 ? 0 : 12;
}

function damage(problems: readonly string[]) {
  return problems.length === 0 ? {} : { problems };
}

interface Found {
  readonly requests: readonly LedgerRequest[];
  /** Files that could not be read, with the reason. */
  readonly problems: readonly string[];
}

function requestsOfOne(context: Context, selector: string): Found & { readonly id: string } {
  const { home, id } = sessionArgument(context, selector);
  const { turns, problems } = readForShow(context.ports, home, id);
  return {
    id,
    requests: turns.flatMap(({ value }) => requestsIn(value)),
    problems: problems.map(({ path, message }) => `${path} ${message}`),
  };
}

/** The requests of all sessions. Those that a fork shares with its parent count once, even if the parent is gone. */
function requestsOfAll(context: Context): Found {
  const { ports } = context;
  const home = homeOf(context);
  const seen = new Set<string>();
  const requests: LedgerRequest[] = [];
  const copies: LedgerRequest[] = [];
  const answers = new Set<string>();
  const problems: string[] = [];
  for (const { id } of listSessions(ports, home)) {
    const read = readOrProblem(ports, home, id);
    if (typeof read === "string") {
      problems.push(read);
      continue;
    }
    problems.push(...read.problems.map(({ path, message }) => `${id}/${path} ${message}`));
    for (const request of read.turns.flatMap((turn) => requestsIn(turn.value))) {
      const name = `${request.session}/${request.turn}`;
      if (seen.has(name)) continue;
      seen.add(name);
      if (request.imported?.isCopied === true) copies.push(request);
      else {
        requests.push(request);
        if (request.imported !== null) answers.add(request.imported.sum);
      }
    }
  }
  // A fork of another agent has copies of its parent's answers, which count even if the parent was not imported.
  for (const copy of copies) {
    const { sum = "" } = copy.imported ?? {};
    if (!answers.has(sum)) requests.push(copy);
    answers.add(sum);
  }
  return { requests, problems };
}

/** A session, or the reason why it cannot be read at all. */
function readOrProblem(ports: ProgramPorts, home: Home, id: SessionId): ShownSession | string {
  try {
    return readForShow(ports, home, id);
  } catch (error) {
    return asRepriseError(error).message;
  }
}

type Labelled = readonly [label: string, spent: Spending];

const COLUMNS: readonly Column<Labelled>[] = [
  {
    header: "requests",
    cell: ([, { requests, uncounted }]) =>
      uncounted === 0 ? String(requests) : `${requests} (${uncounted} not counted)`,
    right: true,
  },
  { header: "input", cell: ([, spent]) => countOrUnknown(spent.input_tokens), right: true },
  { header: "cached", cell: ([, spent]) => countOrUnknown(spent.cached_tokens), right: true },
  { header: "written", cell: ([, spent]) => countOrUnknown(spent.cache_write_tokens), right: true },
  { header: "output", cell: ([, spent]) => countOrUnknown(spent.output_tokens), right: true },
  { header: "reasoning", cell: ([, spent]) => countOrUnknown(spent.reasoning_tokens), right: true },
  { header: "cost", cell: ([, spent]) => spendingCost(spent), right: true },
];

function countOrUnknown(count: number | null): string {
  return count === null ? "unknown" : String(count);
}

/** A table with a line for each group, after a blank line. */
function table(header: string, rows: readonly Labelled[]): Printable {
  const columns = [{ header, cell: ([label]: Labelled) => label }, ...COLUMNS];
  return ["\n", ...joinedLines(tableLines(columns, rows, PLAIN_SCREEN))];
}
