import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import { RepriseError } from "../../domain/errors.ts";
import type { Context } from "../context.ts";

/** The longest answer that is read, in bytes. */
const ANSWER_BYTES = 64;

/**
 * Asks before a permanent deletion. Asks only if stdin and stderr are both terminals.
 *
 * @throws {RepriseError} `usage` without a terminal to ask on, or if the answer is no.
 */
export function confirm({ ports: { stdin }, output }: Context, what: string): void {
  if (!stdin.isTerminal() || !output.stderrIsTerminal) {
    throw new RepriseError("usage", `Cannot ${what}: no terminal to ask on`, {
      hint: "Give --yes to do it, or --dry-run to see what would be done",
    });
  }
  output.prompt(`${what.charAt(0).toUpperCase()}${what.slice(1)}? [y]es, [n]o: `);
  const buffer = new Uint8Array(ANSWER_BYTES);
  const count = stdin.readSync(buffer) ?? 0;
  const word = decodeUtf8Leniently(buffer.subarray(0, count)).trim().toLowerCase();
  if (word === "y" || word === "yes") return;
  throw new RepriseError("usage", `Cannot ${what}: the answer was no`, { hint: "Nothing was done" });
}
