/** The cells of a grid: exchanges of each kind, and the faults that have a place in their answers. */
import { RepriseError } from "../../domain/errors.ts";
import { parseFault } from "../../fixture/faults/fault.ts";
import { applyNamed, faultLine, NAMED_FAULTS, type NamedFault } from "../../fixture/faults/named.ts";
import type { Exchange } from "../../fixture/exchange.ts";
import { type AnswerParts, answerParts } from "./calls.ts";
import type { CertifyFlags } from "./command.ts";
import type { BrokenExchange } from "./verdict.ts";

/** Kind of an answer: calls of tools, text, or text and calls. */
export type Kind = "call" | "answer" | "both";

export interface Cell {
  /** As in `--cell`. */
  readonly name: string;
  readonly exchange: number;
  readonly kind: Kind;
  readonly fault: NamedFault;
  /** Line of `--fault`. */
  readonly line: string;
  readonly broken: BrokenExchange;
  /** True if good clients wait: such cells cost no processor. */
  readonly isSlow: boolean;
}

/** The faults of the flags, in the order of the table. */
export function chosenFaults(
  { faults = [], cell }: Pick<CertifyFlags, "faults" | "cell">,
): readonly NamedFault[] {
  if (cell !== undefined) return [faultNamed(cellOf(cell).fault)];
  const given = faults.join(",").split(",").map((name) => name.trim()).filter((name) => name !== "");
  if (faults.length > 0 && given.length === 0) {
    throw new RepriseError("usage", "Cannot certify: --faults names no fault", {
      hint: "Did a shell variable expand to nothing? Leave the flag out for the usual faults",
    });
  }
  const added = given.filter((name) => name.startsWith("+")).map((name) => faultNamed(name.slice(1)));
  const named = given.filter((name) => !name.startsWith("+")).map(faultNamed);
  const usual = named.length > 0 ? named : NAMED_FAULTS.filter(({ isUsual }) => isUsual);
  return [...new Set([...usual, ...added])];
}

/** Returns a fault of the table, or any other in the language of `--fault`. */
function faultNamed(name: string): NamedFault {
  const known = NAMED_FAULTS.find((each) => each.name === name);
  if (known !== undefined) return known;
  parseFault(name);
  return { name, fault: name, answers: "all", isCommon: true, lasts: false, isUsual: false, meaning: name };
}

function cellOf(cell: string): { readonly exchange: number; readonly fault: string } {
  const [, exchange, fault] = /^(\d+):(.+)$/.exec(cell) ?? [];
  if (exchange !== undefined && fault !== undefined) return { exchange: Number(exchange), fault };
  throw new RepriseError("usage", `Cannot read --cell ${JSON.stringify(cell)}`, {
    hint: "Write the number of an exchange and a fault: 3:cut-text",
  });
}

/**
 * Plans the cells.
 *
 * @param played Exchanges that the command plays without a fault, in order.
 * @throws {RepriseError} `usage` if no cell is left.
 */
export function planCells(
  played: readonly Exchange[],
  flags: Pick<CertifyFlags, "cell" | "each" | "faults">,
): readonly Cell[] {
  const answers = played.map((exchange): Answered => ({ exchange, whole: answerParts(exchange) }));
  const calls = new Map(
    answers.flatMap(({ exchange, whole }) =>
      whole.calls.map((call) => [call.id, { ...call, exchange: exchange.number }] as const)
    ),
  );
  const all = answers.flatMap((answer) => {
    const kind = kindOf(answer);
    return kind === null ? [] : [{ ...answer, kind }];
  });
  const only = flags.cell === undefined ? null : cellOf(flags.cell).exchange;
  const chosen = all.filter(({ exchange, kind }, index) =>
    only === null
      ? flags.each === true || all.findLastIndex((other) => other.kind === kind) === index
      : exchange.number === only
  );
  const faults = chosenFaults(flags);
  const cells = chosen.flatMap((answer) => faults.flatMap((fault) => cellFor(answer, fault, calls) ?? []));
  if (cells.length > 0) return cells;
  throw new RepriseError("usage", "Cannot certify: no answer has a place for a fault", {
    hint: all.length === 0
      ? "The command plays no successful answer of the Responses API, Messages or Chat Completions"
      : `Exchanges with an answer: ${
        all.map(({ exchange, kind }) => `${exchange.number} (${kind})`).join(", ")
      }`,
  });
}

/** An exchange, and the parts of its whole answer. */
interface Answered {
  readonly exchange: Exchange;
  readonly whole: AnswerParts;
}

/** Returns the kind of a successful answer; `null` for any other, and for an unknown API. */
function kindOf({ exchange, whole: { calls, text } }: Answered): Kind | null {
  const { request: { api }, answer: { status } } = exchange;
  if (api === null || status >= 300) return null;
  if (calls.length > 0) return text.trim() === "" ? "call" : "both";
  return text.trim() === "" ? null : "answer";
}

function cellFor(
  { exchange, whole, kind }: Answered & { readonly kind: Kind },
  fault: NamedFault,
  calls: BrokenExchange["calls"],
): Cell | null {
  const { number, request: { api }, answer } = exchange;
  const faulty = api === null ? null : applyNamed(answer, fault, api);
  if (faulty === null) return null;
  const parsed = parseFault(fault.fault);
  const { status, headers, body } = faulty;
  const sent = answerParts(exchange, status < 300 ? body : new Uint8Array(0));
  const retryAfterMs = parsed.kind === "status" ? waitOf(headers) : null;
  return {
    name: `${number}:${fault.name}`,
    exchange: number,
    kind,
    fault,
    line: faultLine(fault, number),
    broken: {
      number,
      sent,
      retryAfterMs,
      isWhole: sent.text === whole.text && whole.calls.every(({ id }) => sent.finished.has(id)),
      calls,
    },
    isSlow: /^stall(?!.* for )/.test(fault.fault) || (retryAfterMs ?? 0) > LONG_MS,
  };
}

/** A client that waits this long costs no processor. */
const LONG_MS = 10_000;

function waitOf(headers: Readonly<Record<string, string>>): number | null {
  const [seconds, ms] = [headers["retry-after"], headers["retry-after-ms"]];
  return seconds !== undefined ? Number(seconds) * 1000 : ms !== undefined ? Number(ms) : null;
}
