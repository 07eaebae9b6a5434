/**
 * A turn before it is published, judged by the very rules that its readers apply: nothing is written that would
 * be refused when read.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { Turn } from "../../domain/turn.ts";
import type { Chain } from "../read/validate.ts";
import { MAX_DEPTH, MAX_TURN_BYTES, openEnvelope } from "../read/turn_file.ts";
import { judgeTurn } from "../read/turn_schema.ts";

/**
 * The turn that a reader will get from `bytes`.
 *
 * @throws {RepriseError} `storage_failed` when the file would be too large or too deep to be read again.
 * @throws {TypeError} when the caller made a turn that breaks the format.
 */
export function judgeEncoded(chain: Chain, bytes: Uint8Array, tried: string): Turn {
  if (bytes.length > MAX_TURN_BYTES) {
    throw new RepriseError(
      "storage_failed",
      `Cannot ${tried}: its file would have ${bytes.length} bytes, more than the cap of ${MAX_TURN_BYTES}`,
      { hint: "Ask for a shorter answer or smaller attachments" },
    );
  }
  const envelope = openEnvelope(bytes);
  if (envelope.status === "damaged") {
    if (envelope.code !== "too_deep") throw new TypeError(`Cannot ${tried}: it ${envelope.message}`);
    throw new RepriseError("storage_failed", `Cannot ${tried}: it nests deeper than ${MAX_DEPTH} levels`, {
      hint: "Ask for an answer with a flatter structure",
    });
  }
  const judged = judgeTurn(envelope.value);
  if (judged.status !== "ok") throw new TypeError(`Cannot ${tried}: it ${judged.message}`);
  const breach = chain.check(judged.turn)[0];
  if (breach !== undefined) throw new TypeError(`Cannot ${tried}: it ${breach.message}`);
  return judged.turn;
}
