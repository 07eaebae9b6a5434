/** Reports of `certify`: a grid for people and for pull requests, a document, and the formats of `test`. */
import { RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import type { Output } from "../output.ts";
import { PLAIN_SCREEN } from "../screen.ts";
import { tableLines, textColumns } from "../table.ts";
import { joinedLines } from "../terminal.ts";
import { reporterOf } from "../test/reporters.ts";
import type { TestResult } from "../test/runner.ts";
import { literalText } from "../transcript/markdown_text.ts";
import type { Cell } from "./cells.ts";
import type { CertifyFlags } from "./command.ts";
import { BAD, type Judged, type VerdictName } from "./verdict.ts";

export interface CellResult extends Judged {
  readonly cell: Cell;
  /** Verdict that `certify.json` accepts; `null` for none. */
  readonly accepted: string | null;
  readonly seconds: number;
}

/** True for a bad verdict that is not accepted. */
export function isBad({ verdict, accepted }: CellResult): boolean {
  return BAD.has(verdict) && verdict !== accepted;
}

/** Prints the results; `cells` has those that were not played too. */
export function reportCells(
  results: readonly CellResult[],
  { flags, output, cells }: {
    readonly flags: Pick<CertifyFlags, "json" | "reporter">;
    readonly output: Output;
    readonly cells: readonly Cell[];
  },
): void {
  const name = flags.json === true ? "json" : flags.reporter ?? "text";
  const played = new Set(results.map(({ cell }) => cell));
  const skipped = cells.filter((cell) => !played.has(cell)).map(({ name }) => name);
  switch (name) {
    case "json":
      return output.json<"certify">({
        cells: results.map((result) => {
          const { cell: { exchange, kind, fault }, verdict, detail, accepted, seconds } = result;
          return {
            exchange,
            kind,
            fault: fault.name,
            verdict,
            detail,
            bad: isBad(result),
            accepted,
            seconds,
          };
        }),
        bad: results.filter(isBad).length,
        not_run: skipped,
      });
    case "text":
      return output.text(
        joinedLines(tableLines(textColumns(headersOf(results)), rowsOf(results), PLAIN_SCREEN)),
      );
    case "markdown":
      return output.text(markdown(results));
  }
  const reporter = reporterOf(name);
  // A fault that was never played passed no test.
  const isUnmet = ({ verdict }: CellResult) => verdict === "unmet";
  const unmet = results.filter(isUnmet);
  output.text(reporter.begin(cells.length));
  results.forEach((result, index) => {
    if (name === "junit" && isUnmet(result)) return;
    const text = reporter.result(testResult(result), index + 1);
    output.text(isUnmet(result) ? text.replace("\n", " # SKIP\n") : text);
  });
  const failed = results.filter((result) => isBad(result) || result.verdict === "error").length;
  const broken = results.filter(({ verdict }) => verdict === "error").length;
  const passed = results.length - failed - unmet.length;
  const all = [...skipped, ...(name === "junit" ? unmet.map(({ cell }) => cell.name) : [])];
  output.text(reporter.end({ passed, failed, broken, skipped: all, why: "not every cell was run" }));
}

/** A cell as a test with the same number of failures. */
function testResult(result: CellResult): TestResult {
  const { cell, verdict, detail, seconds } = result;
  const where = verdictText(verdict);
  return {
    name: cell.name,
    note: `${cell.kind}, ${cell.fault.fault}: ${where}`,
    divergences: isBad(result) ? [{ kind: "verdict", where, message: detail }] : [],
    error: verdict === "error" ? new RepriseError("unexpected", detail) : null,
    updated: [],
    removed: [],
    seconds,
  };
}

/** Writes bad verdicts in capitals. */
function verdictText(verdict: VerdictName): string {
  return BAD.has(verdict) ? verdict.toUpperCase() : verdict;
}

function headersOf(results: readonly CellResult[]): readonly string[] {
  return ["fault", ...columnsOf(results).keys(), "evidence"];
}

function columnsOf(results: readonly CellResult[]) {
  return Map.groupBy(results, ({ cell: { kind, exchange } }) => `${kind} (${exchange})`);
}

/** Returns a row for each fault: its name, the verdict of each column, and the evidence. */
function rowsOf(results: readonly CellResult[]): readonly (readonly string[])[] {
  const columns = [...columnsOf(results).values()];
  return [...Map.groupBy(results, ({ cell }) => cell.fault.name)].map(([fault, row]) => {
    const verdicts = columns.map((column) => {
      const found = row.find((each) => column.includes(each));
      return found === undefined
        ? "-"
        : `${verdictText(found.verdict)}${found.accepted === found.verdict ? " (accepted)" : ""}`;
    });
    const details = new Set(row.map(({ detail }) => detail).filter((detail) => detail !== ""));
    return [fault, ...verdicts, [...details].join("; ")];
  });
}

function markdown(results: readonly CellResult[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  const headers = headersOf(results);
  const bad = results.filter(isBad).length;
  return `**${counted(bad, "bad cell")}** of ${results.length}\n\n` +
    line(headers) + line(headers.map(() => "---")) +
    rowsOf(results).map((row) =>
      line(
        row.map((cell) =>
          cell === cell.toUpperCase() && /[A-Z]{4}/.test(cell) ? `**${cell}**` : literalText(cell)
        ),
      )
    ).join("");
}
