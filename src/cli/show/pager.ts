/** The pager: the user's own program for texts that are longer than the terminal. */
import type { Ports } from "../../domain/ports.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { spawn } from "../../tools/shell/children.ts";
import { signalChild } from "../signals.ts";

/** Exit codes of a shell that cannot start a command. */
const NOT_STARTED = [126, 127];

const USUAL_PAGER = "less";

/**
 * The command line of the pager: `PAGER`, or `less`. `null` for an empty value, for `cat`, and on a terminal that cannot
 * move its cursor.
 */
export function pagerCommand({ env }: Pick<Ports, "env">): string | null {
  const command = (env("PAGER") ?? USUAL_PAGER).trim();
  return command === "" || command === "cat" || env("TERM") === "dumb" ? null : command;
}

/**
 * Shows a text in the pager until the user leaves it. Resolves to false if the pager could not be started.
 *
 * Ctrl-C is for the pager: it reaches both programs, and the terminal would be left to both the pager and the shell.
 */
export async function showInPager(ports: ProgramPorts, command: string, text: string): Promise<boolean> {
  let pager: Deno.ChildProcess | null = null;
  // Before the pager starts, so that no signal comes too early.
  const undo = ports.onStopSignals((signal, exitCode) => {
    if (signal === "SIGINT") return;
    if (pager !== null) signalChild(pager, signal);
    ports.exit(exitCode);
  });
  try {
    pager = spawn("sh", {
      args: ["-c", command],
      // less passes colours through, and leaves a text that fits on the screen.
      env: { LESS: ports.env("LESS") ?? "FRX" },
      stdin: "piped",
      stdout: "inherit",
      // The usual pager may be missing.
      stderr: command === USUAL_PAGER ? "null" : "inherit",
    });
    await new Blob([text]).stream().pipeTo(pager.stdin).catch(() => {
      // The user left before the end.
    });
    return !NOT_STARTED.includes((await pager.status).code);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  } finally {
    undo();
  }
}
