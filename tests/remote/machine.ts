/** A machine: a home of its own, runs of the program in it that may be killed, and what they acknowledged. */
import { PROGRAM } from "../support/reprise.ts";

/** Sums of acknowledged turns, by number. */
export type Acknowledged = Map<number, string>;

/** Shared settings of all machines. */
export interface Surroundings {
  readonly session: string;
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** One machine. */
export class Machine {
  readonly home: string;
  readonly #around: Surroundings;

  constructor(name: string, around: Surroundings) {
    this.#around = around;
    this.home = `${around.directory}/${name}`;
    Deno.mkdirSync(this.home, { recursive: true });
  }

  /** Calls the program; SIGKILL after `killAfterMs`. Notes acknowledged turns, and refuses two turns with one number. */
  async run(
    acknowledged: Acknowledged,
    { args, killAfterMs, through = [] }: {
      readonly args: readonly string[];
      readonly killAfterMs?: number;
      /** A command that is given the program's command line as its last arguments. */
      readonly through?: readonly string[];
    },
  ): Promise<{ readonly code: number; readonly stderr: string; readonly stdout: string }> {
    const { session, env, directory } = this.#around;
    const [program, ...before] = [...through, ...PROGRAM] as [string, ...string[]];
    const child = new Deno.Command(program, {
      args: [...before, "run", "--json", ...args, "-s", session],
      cwd: directory,
      clearEnv: true,
      env: { HOME: this.home, REPRISE_HOME: this.home, PATH: "/usr/bin:/bin", ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => {
      try {
        child.kill("SIGKILL");
      } catch { /* Ended already. */ }
    }, killAfterMs);
    const { code, stdout, stderr } = await child.output();
    clearTimeout(timer);
    const text = new TextDecoder().decode(stdout);
    for (const line of text.split("\n")) {
      // A killed process may leave a part of a line.
      if (!line.startsWith('{"type":"turn.saved"') || !line.endsWith("}")) continue;
      const { turn, sum } = JSON.parse(line) as { readonly turn: number; readonly sum: string };
      const other = acknowledged.get(turn);
      if (other !== undefined && other !== sum) throw new Error(`turn ${turn} was acknowledged twice`);
      acknowledged.set(turn, sum);
    }
    return { code, stdout: text, stderr: new TextDecoder().decode(stderr) };
  }

  /** The texts of the session's turn files, by number; of those that wait for the remote with `pending`. */
  turns(folder: "turns" | "pending" = "turns"): Map<number, string> {
    const directory = `${this.home}/sessions/${this.#around.session}/${folder}`;
    try {
      return new Map(
        [...Deno.readDirSync(directory)].map(({ name }) =>
          [Number(name.slice(0, -5)), Deno.readTextFileSync(`${directory}/${name}`)] as const
        ),
      );
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return new Map();
      throw error;
    }
  }
}
