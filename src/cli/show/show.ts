/** The verb `show`: prints a session as a transcript, as turns or as events, or one of its files unchanged. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { requestsIn } from "../../run/ledger.ts";
import { sessionPaths } from "../../store/layout.ts";
import { readTurnBytes } from "../../store/read/turn_file.ts";
import type { JsonObject } from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import type { ShownSession, ShownTurn } from "../../store/read/show.ts";
import type { SessionSpending } from "../../schemas/inspection.ts";
import type { ShowFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import { requireHtml } from "../flags.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { TimeZone } from "../local_time.ts";
import { screenOf } from "../screen.ts";
import { joinedLines, terminalSize } from "../terminal.ts";
import { sessionArgument } from "../sessions.ts";
import { chosenTurns, readShown, type Shown } from "./shown_session.ts";
import { sessionTranscript } from "../transcript/session.ts";
import { eventTable, turnTable } from "../transcript/tables.ts";
import { type Line, transcriptLines } from "../transcript/lines.ts";

/** Performs `show`. Prints the readable part of a damaged session, reports the damage and returns exit code 12. */
export async function showVerb(ports: ProgramPorts, selector: string, flags: ShowFlags): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  requireHtml(flags);
  if (flags.raw !== undefined) {
    printTurnFile(context, selector, flags.raw);
    return 0;
  }
  const page = flags.html === undefined
    ? null
    : (await import("../html/page_file.ts")).pageFile(context, flags.html, flags.force === true);
  const shown = await readShown(context, selector, flags.full === true);
  const { id, problems } = shown.session;
  const turns = chosenTurns(shown.session, flags);
  const { tz: zone = TimeZone.local } = flags;
  const transcript = async () =>
    sessionTranscript(shown.session, turns, { spending: await spendingOf(ports, id, turns, zone), zone });
  if (page !== null) {
    const { sessionPage } = await import("../html/session_page.ts");
    const html = sessionPage(context, shown, await transcript());
    const facts = { session: id, turns: turns.length, ...page.write(html) };
    const sizes = `${counted(facts.turns, "turn")}, ${counted(facts.bytes, "byte")}`;
    if (output.options.json) output.json<"show-html">(facts);
    else output.note(`wrote the page of ${id}: ${sizes}`);
  } else if (output.options.json) await printJson(context, shown.session, turns, flags);
  else if (flags.markdown) {
    const { transcriptMarkdown } = await import("../transcript/markdown.ts");
    const facts = [
      ...(problems.length === 0 ? [] : [["damaged", problems.map(({ path }) => path).join(", ")] as const]),
      ...(shown.home === null ? [["source", "an export"] as const] : []),
    ];
    const { wholeOutput } = shown;
    output.text(transcriptMarkdown(await transcript(), { full: flags.full === true, facts, wholeOutput }));
  } else {
    await printLines(context, await linesOf(context, shown, turns, flags), flags);
  }
  if (!output.options.json || page !== null) {
    for (const { path, message } of problems) output.note(`damaged: ${path} ${message}`);
  }
  return problems.length === 0 ? 0 : 12;
}

function printTurnFile(context: Context, selector: string, turn: number): void {
  if (selector === "-" || selector.includes("/") || selector.includes(".")) {
    throw new RepriseError(
      "usage",
      `Cannot show the file of turn ${turn} of an export: --raw needs a session`,
      {
        hint: `reprise import ${selector}`,
      },
    );
  }
  const { home, id } = sessionArgument(context, selector);
  context.output.bytes(readTurnBytes(context.ports, sessionPaths(home.sessions, id), turn));
}

async function printJson(
  { ports, output }: Context,
  { id, path, manifest, problems }: ShownSession,
  turns: readonly ShownTurn[],
  { turns: heads, events, blobs, tz }: ShowFlags,
): Promise<void> {
  const found = problems.length === 0 ? {} : { problems };
  const printed = blobs
    ? (value: JsonObject) => value
    : (await import("../../domain/without_blobs.ts")).withoutBlobs;
  if (heads) {
    const headers = turns.map(({ value, events }) => ({ ...value, events: events.length }));
    output.json<"show-turns">({ session: id, turns: headers, ...found });
  } else if (events) {
    const all = turns.flatMap((turn) => turn.events);
    output.json<"show-events">({ session: id, events: all.map(printed), ...found });
  } else {
    const spending = await spendingOf(ports, id, turns, tz);
    const values = turns.map(({ value }) => printed(value));
    output.json<"show">({ session: id, path, manifest, turns: values, spending, ...found });
  }
}

async function spendingOf(
  ports: ProgramPorts,
  id: string,
  turns: readonly ShownTurn[],
  zone = TimeZone.local,
): Promise<SessionSpending> {
  const { sessionSpending, spentRequests } = await import("../cost/spending.ts");
  const spent = await spentRequests(ports, turns.flatMap(({ value }) => requestsIn(value)));
  return sessionSpending(id, spent, zone);
}

/** The sums after a transcript: of each run, and of what a fork shares with its parent. */
async function spendingLines({ shared, runs }: SessionSpending): Promise<Line[]> {
  if (runs.length < 2 && shared.requests === 0) return [];
  const { spendingText } = await import("../cost/spending.ts");
  const texts = [
    "",
    ...runs.map((run) => `run ${run.run} · ${spendingText(run)}`),
    ...(shared.requests === 0 ? [] : [`before the fork · ${spendingText(shared)}`]),
  ];
  return texts.map((text) => [text]);
}

async function linesOf(
  { ports, output }: Context,
  { session, wholeOutput }: Shown,
  turns: readonly ShownTurn[],
  flags: ShowFlags,
): Promise<readonly Line[]> {
  const screen = await screenOf(output.columns);
  const { tz: zone = TimeZone.local } = flags;
  if (flags.turns) return turnTable(turns, screen, zone);
  if (flags.events) return eventTable(session.turns, turns, screen);
  const spending = await spendingOf(ports, session.id, turns, zone);
  return [
    ...await transcriptLines(sessionTranscript(session, turns, { spending, zone }), {
      screen,
      full: flags.full === true,
      fullFlag: "--full",
      wholeOutput,
    }),
    ...await spendingLines(spending),
  ];
}

/** Prints lines; through the pager if they are more than the terminal has. */
async function printLines(
  { ports, output }: Context,
  lines: readonly Line[],
  { pager }: ShowFlags,
): Promise<void> {
  const text = output.rendered(joinedLines(lines));
  const rows = output.stdoutIsTerminal && pager ? terminalSize()?.rows ?? 0 : 0;
  if (rows > 0 && lines.length >= rows) {
    const { pagerCommand, showInPager } = await import("./pager.ts");
    const command = pagerCommand(ports);
    if (command !== null && await showInPager(ports, command, text)) return;
  }
  output.renderedText(text);
}
