/** A calendar that is some days ahead, for programs that a test starts: server and client see the same day. */
import { fileURLToPath } from "node:url";
import { type Lack, lacksCommand } from "../support/needs.ts";

const PROGRAM = ["/usr/bin/python3", fileURLToPath(new URL("days_ahead.py", import.meta.url))];

/** Lack of a system whose programs cannot get another calendar. */
export const LACKS_CLOCK: Lack = await lacksCommand(
  [...PROGRAM, "1", "true"],
  "needs Python, and to trace programs",
);

/**
 * Returns a command that runs with a calendar that is some days ahead. Programs that it leaves running end with it, such as
 * a daemon of an agent.
 */
export function daysAhead(days: number, command: readonly string[]): readonly string[] {
  return LACKS_CLOCK === null ? [...PROGRAM, String(days), ...command] : command;
}
