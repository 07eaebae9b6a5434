/**
 * The end of a writer whose number was taken.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { storageError } from "../fs_errors.ts";
import type { SessionPaths } from "../layout.ts";
import { quarantineTurn } from "./publish.ts";

/** Keeps the late turn in quarantine, and returns the error that says so. */
export function divergence(
  ports: Ports,
  paths: SessionPaths,
  late: { readonly turn: Turn; readonly temporary: string },
  tried: string,
): RepriseError {
  let kept: string;
  try {
    kept = `this turn is kept in ${quarantineTurn(ports, paths, late)}`;
  } catch (error) {
    kept = storageError(error, "keep this turn in quarantine/", late.temporary).message;
  }
  return new RepriseError(
    "session_diverged",
    `Cannot ${tried}: another writer has used that number; ${kept}`,
    {
      hint: `Look at both with "reprise show ${paths.id}", then run again`,
      details: { session: paths.id, turn: late.turn.turn },
    },
  );
}
