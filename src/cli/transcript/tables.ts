/** Turns and events as tables, a line each. */
import { headOf } from "../../domain/text.ts";
import { turnFileName } from "../../domain/turn.ts";
import type { ShownTurn } from "../../store/read/show.ts";
import type { Screen } from "../screen.ts";
import { tableLines, textColumns } from "../table.ts";
import { omittedSeqs } from "../omitted.ts";
import { blockLine } from "./blocks.ts";
import type { Line } from "./lines.ts";
import type { TimeZone } from "../local_time.ts";
import { BlockReader } from "./session.ts";
import { plain } from "./words.ts";

/** UTF-16 units of an event in a pipe or file. */
const LINE_SHOWN = 160;

/** One turn in a line: number, run, kind, seqs, time, and the number of events of each kind. */
export function turnTable(turns: readonly ShownTurn[], screen: Screen, zone: TimeZone): Line[] {
  const isTerminal = screen.columns !== null;
  const rows = turns.map(({ number, kind, value, events }) => {
    const kinds = [...Map.groupBy(events, ({ type }) => type)];
    const counts = kinds.map(([type, { length }]) => length === 1 ? type : `${length} ${type}`).join(", ");
    const seq = Array.isArray(value.seq) ? value.seq.map(plain).join("-") : "?";
    return isTerminal ? [String(number), plain(value.run), kind, seq, zone.time(plain(value.at)), counts] : [
      turnFileName(number).slice(0, -5),
      `run ${plain(value.run)}`,
      kind,
      `seq ${seq}`,
      plain(value.at),
      counts,
    ];
  });
  return columnLines(["turn", "run", "kind", "seq", "time", "events"], rows, screen);
}

/** One event of the chosen turns in a line: number, kind and the start of its text. */
export function eventTable(all: readonly ShownTurn[], chosen: readonly ShownTurn[], screen: Screen): Line[] {
  const reader = new BlockReader();
  const shown = new Set(chosen);
  const omitted: ReadonlySet<unknown> = omittedSeqs(all);
  const rows = all.flatMap((turn) => {
    // Calls of turns that are not shown are read too: their results may be shown.
    const lines = turn.events.map((event) => reader.eventBlocks(turn, event).map(blockLine).join(" "));
    if (!shown.has(turn)) return [];
    return turn.events.map(({ seq, type }, at) => {
      const line = `${omitted.has(seq) ? "(omitted) " : ""}${lines[at]}`;
      return [plain(seq).padStart(5), type, screen.columns === null ? headOf(line, LINE_SHOWN) : line];
    });
  });
  return columnLines(["seq".padStart(5), "kind", "text"], rows, screen);
}

/**
 * Aligned columns. A terminal gets a header, and the last column takes the rest of its width; scripts that read lines get
 * lines only.
 */
function columnLines(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  screen: Screen,
): Line[] {
  const columns = textColumns(headers).map((column, at) => ({
    ...column,
    ...(at === headers.length - 1 ? { least: 1 } : at === 0 ? {} : { drop: headers.length - at }),
  }));
  return tableLines(columns, rows, screen, { header: screen.columns !== null });
}
