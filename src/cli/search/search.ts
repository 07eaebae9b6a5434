/** The verb `search`: finds a text in sessions. */
import type { FoundSession, SearchHit, Unsearched } from "../../schemas/inspection.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { counted, headOf, tailOf } from "../../domain/text.ts";
import { storageError } from "../../store/fs_errors.ts";
import { type JudgedSession, listSessions } from "../../store/list.ts";
import { Needle, searchSession } from "../../store/read/search.ts";
import { homeOf, makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import { TimeZone } from "../local_time.ts";
import { inStates, usedSince } from "../session_filter.ts";
import type { SearchFlags } from "./command.ts";

const SHOWN_HITS = 5;

/** Performs `search`. A text that is nowhere is no error. */
export function searchVerb(ports: ProgramPorts, text: string, flags: SearchFlags): ExitCode {
  if (text.trim() === "") {
    throw new RepriseError("usage", "Cannot search for an empty text", {
      hint: 'reprise search "some text"',
    });
  }
  const context = makeContext(ports, flags);
  const { output } = context;
  const home = homeOf(context);
  const listed = usedSince(ports, listSessions(ports, home), flags);
  // `--limit` counts the sessions with the text.
  const chosen = inStates(ports, home, listed, { state: flags.state, limit: undefined });
  const needle = new Needle(text);
  const searched = new Set<string>(chosen.map(({ id }) => id));
  const found: FoundSession[] = [];
  const skipped: Unsearched[] = [];
  for (const session of chosen) {
    const { id } = session;
    // Turns that a fork shares with a session that is searched too are reported once, there.
    const isOwn = (writer: string) => writer === id || !searched.has(writer);
    try {
      const result = searchSession(ports, home, { id, needle, isOwn });
      skipped.push(...result.skipped.map(({ path, why }) => ({ path: `${id}/${path}`, why })));
      if (result.hits.length === 0) continue;
      const record = foundRecord(session, result.hits);
      found.push(record);
      if (!output.options.json) print(output, record, flags.tz);
    } catch (error) {
      skipped.push({ path: id, why: storageError(error, "search it", session.path).message });
    }
    if (found.length === flags.limit || output.closed) break;
  }
  const hits = found.reduce((sum, each) => sum + each.hits.length, 0);
  if (output.options.json) output.json<"search">({ sessions: found, hits, skipped });
  else {
    for (const { path, why } of skipped) output.note(`not searched: ${path} ${why}`);
    const where = `${counted(found.length, "session")} of ${searched.size}`;
    output.note(
      hits === 0 ? `no match in ${counted(searched.size, "session")}` : `${counted(hits, "hit")} in ${where}`,
    );
  }
  return output.closed ? output.closedExitCode : 0;
}

function foundRecord({ id, path, state, manifest }: JudgedSession, hits: readonly SearchHit[]): FoundSession {
  const known = manifest === null ? {} : { title: manifest.title, updated_at: manifest.updated_at };
  return { id, path, state, ...known, hits };
}

function print(
  output: Output,
  { id, title = "", updated_at = "", hits }: FoundSession,
  zone = TimeZone.local,
): void {
  output.text([{ code: 1, text: id }, `  ${zone.minute(updated_at)}  ${title.replace(/\s+/g, " ")}\n`]);
  for (const { turn, type, text, at: [from, to] } of hits.slice(0, SHOWN_HITS)) {
    const place = `  turn ${String(turn).padStart(3)}  ${type.padEnd(17)}  `;
    // One line each on a terminal, with the found text in it.
    const room = (output.columns ?? Infinity) - place.length;
    const before = tailOf(text.slice(0, from), Math.max(0, Math.floor(room / 3)));
    const after = headOf(text.slice(to), Math.max(0, room - before.length - (to - from)));
    output.text([place, before, { code: 31, text: text.slice(from, to) }, `${after}\n`]);
  }
  if (hits.length > SHOWN_HITS) output.text(`  and ${hits.length - SHOWN_HITS} more\n`);
}
