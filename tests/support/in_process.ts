/**
 * Calls of the program in this process: the same arguments, environment, files and outputs as a process of its own has,
 * in a fraction of the time.
 */
import { livePorts, type ProgramPorts } from "../../src/cli/live_ports.ts";
import { ALL_VERBS } from "../../src/cli/verbs.ts";
import { main } from "../../src/cli/main.ts";
import { stdinOf } from "../../src/cli/stdin.ts";

/** A call of the program: its arguments, and what a process would be given. */
export interface HereCall {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Content of stdin, then its end. */
  readonly stdin: Uint8Array<ArrayBuffer>;
  /** Changes the file system of the call. */
  readonly disk?: (files: ProgramPorts["files"]) => ProgramPorts["files"];
  /** Makes the clock of the call run that many times as fast. @default {1} */
  readonly speed?: number;
  /** Values that the call finds instead of this machine's own. */
  readonly machine?: HereMachine;
}

/** Values of a machine that no variable of the environment gives. */
export interface HereMachine {
  /** Working directory that the call reports; it need not exist. */
  readonly cwd?: string;
  readonly host?: string;
  /** Name, release and architecture, as `Linux 6.1.0-18-amd64 x86_64`. */
  readonly os?: string;
  /** The time, in milliseconds; it stands still. */
  readonly now?: number;
}

const HERE = Deno.cwd();
const OWN = Deno.env.toObject();
const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const OWN_SYSTEM = { build: Deno.build, osRelease: Deno.osRelease };
let running = 0;

/** Runs the program to its end in this process; resolves to its exit code and what it wrote. */
export function callHere(call: HereCall): Promise<HereEnded> {
  return new HereRun(call).ended;
}

/** Exit code of a call, and what it wrote. */
export interface HereEnded {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running call. */
export class HereRun {
  readonly ended: Promise<HereEnded>;
  readonly #out = new Written();
  readonly #err = new Written();
  #stop: Parameters<ProgramPorts["onStopSignals"]>[0] | null = null;

  constructor(call: HereCall) {
    this.ended = this.#run(call);
  }

  async #run(
    { args, cwd, env, stdin, disk = (files) => files, speed = 1, machine = {} }: HereCall,
  ): Promise<HereEnded> {
    const live = livePorts(() => import("../../src/prices/table.ts"));
    const ports: ProgramPorts = {
      ...live,
      files: disk(live.files),
      clock: clockOf(live.clock, speed, machine),
      env: (name) => env[name],
      process: { ...live.process, host: machine.host ?? live.process.host },
      workingDirectory: () => machine.cwd ?? cwd,
      stdin: stdinOf(stdin),
      openTerminal: () => null,
      stdout: this.#out,
      stderr: this.#err,
      onStopSignals: (act) => {
        this.#stop = act;
        return () => this.#stop = null;
      },
      exit(code) {
        throw new Error(`The program ends at once, with ${code}: that is a test for a process of its own`);
      },
    };
    running++;
    Deno.chdir(cwd);
    setEnvironment(env);
    setSystem(machine.os);
    try {
      const code = await main(args, ports, ALL_VERBS);
      return { code, stdout: this.#out.text, stderr: this.#err.text };
    } finally {
      if (--running === 0) {
        Deno.chdir(HERE);
        setEnvironment(OWN);
        setSystem();
      }
    }
  }

  get stdout(): string {
    return this.#out.text;
  }

  /** Waits until stdout fits, or until the call ends. */
  async printed(fits: (stdout: string) => boolean): Promise<void> {
    let done = false;
    void this.ended.finally(() => done = true).catch(() => {});
    while (!done && !fits(this.stdout)) await Promise.race([this.#out.next(), this.ended]);
  }

  /** Sends SIGTERM to the call, if it listens for it. */
  stop(): void {
    this.#stop?.("SIGTERM", 143);
  }
}

function clockOf(live: ProgramPorts["clock"], speed: number, { now }: HereMachine): ProgramPorts["clock"] {
  const clock = speed === 1 ? live : hurried(live, speed);
  return now === undefined ? clock : { ...clock, now: () => now };
}

function hurried(clock: ProgramPorts["clock"], speed: number): ProgramPorts["clock"] {
  const [now, monotonic] = [clock.now(), clock.monotonic()];
  return {
    now: () => now + Math.round((clock.now() - now) * speed),
    monotonic: () => monotonic + (clock.monotonic() - monotonic) * speed,
    sleep: (milliseconds, signal) => clock.sleep(milliseconds / speed, signal),
  };
}

/** Gives this process an environment: some code asks for all variables, to know the secrets among them. */
function setEnvironment(env: Readonly<Record<string, string>>): void {
  // A process whose zone is taken away keeps it.
  if (Deno.env.get("TZ") !== undefined && env.TZ === undefined) Deno.env.set("TZ", OWN_ZONE);
  for (const name of Object.keys(Deno.env.toObject())) if (!(name in env)) Deno.env.delete(name);
  for (const [name, value] of Object.entries(env)) Deno.env.set(name, value);
}

/** Names of systems in `Deno.build`, by those of `uname`. */
const SYSTEMS: Readonly<Record<string, typeof Deno.build.os>> = {
  ...{ Linux: "linux", Darwin: "darwin", Windows_NT: "windows", FreeBSD: "freebsd" },
};

/** Gives this process a system, as {@linkcode HereMachine} has it, or its own. */
function setSystem(system?: string): void {
  const [name = "", release = "", arch] = system?.split(" ") ?? [];
  Object.assign(
    Deno,
    system === undefined ? OWN_SYSTEM : {
      build: { ...Deno.build, os: SYSTEMS[name], arch },
      osRelease: () => release,
    },
  );
}

/** Collects what the program writes. */
class Written {
  readonly #decoder = new TextDecoder();
  #written = Promise.withResolvers<void>();
  text = "";

  /** Resolves at the next write. */
  next(): Promise<void> {
    return this.#written.promise;
  }

  readonly isTerminal = () => false;

  writeSync(bytes: Uint8Array): number {
    this.text += this.#decoder.decode(bytes, { stream: true });
    this.#written.resolve();
    this.#written = Promise.withResolvers();
    return bytes.length;
  }
}
