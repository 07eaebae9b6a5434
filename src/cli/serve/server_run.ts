/** Run of a server, the same for `record`, `serve` and the gateway: port file, ready event, tests or a command, and its end. */
import { RepriseError } from "../../domain/errors.ts";
import type { RouteServers } from "../../fixture/loopback/route.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import { unsetVariables } from "../environment.ts";
import {
  type EventFlags,
  type EventName,
  type EventOutput,
  type GracefulShutdown,
  gracefulShutdown,
  openEventOutput,
  PortFile,
} from "./server_process.ts";
import { answerTests, type TestProcess } from "./test_process.ts";
import { runWrapped } from "./wrapped_command.ts";

/** Flags that every server has. */
export interface ServerFlags extends EventFlags {
  readonly portFile?: string | undefined;
  readonly suite?: true | undefined;
  readonly verbose?: true | undefined;
}

/** Decides what a server runs for: a command, a process of tests, or any client. */
export interface ServerPlan {
  /** Wrapped command and its arguments; empty without one. */
  readonly command: readonly string[];
  readonly wraps: boolean;
  /** True if a process of tests started the server. */
  readonly isSuite: boolean;
  /** True if clients get their base URLs from us, in the environment of the command or in the ready line of `--suite`. */
  readonly leadsClients: boolean;
  /** False if a command has the terminal: then only problems are printed. */
  readonly isChatty: boolean;
  readonly portFile: PortFile | null;
}

/**
 * Reads the plan of a server from its flags.
 *
 * @throws {RepriseError} `usage` for `--suite` with a command or with several folders, and as {@linkcode PortFile}.
 */
export function planServer(
  ports: ProgramPorts,
  flags: ServerFlags,
  { command, folders }: { readonly command: readonly string[]; readonly folders: readonly string[] },
): ServerPlan {
  const wraps = command.length > 0;
  const isSuite = flags.suite === true;
  if (isSuite && (wraps || folders.length > 1)) {
    const why = wraps ? "a command is given" : "several folders are given";
    throw new RepriseError("usage", `Cannot use --suite: ${why}`, {
      hint: "--suite is for the helpers of test runners, which start reprise themselves",
    });
  }
  const portFile = flags.portFile === undefined ? null : new PortFile(ports, flags.portFile);
  return {
    command,
    wraps,
    isSuite,
    leadsClients: wraps || isSuite,
    isChatty: !wraps || flags.verbose === true,
    portFile,
  };
}

/** Begin of the ready event of every server. */
export interface Ready {
  readonly type: "ready";
  readonly port: number;
  readonly origin: string;
  readonly address: string;
}

/** Acts of a verb while its server runs. */
export interface ServerActs extends Partial<Pick<TestProcess, "begin" | "strays" | "end">> {
  /** Called when clients may send requests. */
  readonly onReady: (ready: Ready) => void;
  /** Variables of the wrapped command. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables that the wrapped command must not see. */
  readonly unset: readonly string[];
}

/** Output and signals of a server; dispose it after the run. */
export class ServerRun<Name extends EventName> implements Disposable {
  readonly events: EventOutput<Name>;
  readonly #ports: ProgramPorts;
  readonly #output: Output;
  readonly #plan: ServerPlan;
  readonly #shutdown: GracefulShutdown;

  /** @throws {RepriseError} `storage_…` if the file of `--events` cannot be written. */
  constructor(ports: ProgramPorts, plan: ServerPlan, { output, flags }: {
    readonly output: Output;
    readonly flags: EventFlags;
  }) {
    // With --suite, stdout has answers only: a process of tests that does not read yet must not stop the server.
    this.events = openEventOutput<Name>(output, flags, { wraps: plan.leadsClients });
    this.#ports = ports;
    this.#output = output;
    this.#plan = plan;
    this.#shutdown = gracefulShutdown(ports, plan);
    if (!plan.wraps) output.onClosed(() => this.#shutdown.request());
  }

  /**
   * Writes the port file, and waits for the end: of the tests, of the command, or by a signal. Then it stops the servers.
   *
   * @returns the exit code of the command, or 0.
   */
  async untilEnd(running: RouteServers, acts: ServerActs): Promise<number> {
    const { wraps, isChatty, portFile, command } = this.#plan;
    const [{ port, origin, address }] = running.servers;
    try {
      using _file = portFile?.write(port) ?? null;
      acts.onReady({ type: "ready", port, origin, address });
      if (acts.end !== undefined) {
        await answerTests({
          stdin: this.#ports.stdin,
          stopped: this.#shutdown.requested,
          begin: acts.begin,
          strays: acts.strays,
          end: acts.end,
          print: (line) => this.#output.json<"test-report">(line),
        });
        return 0;
      }
      if (!wraps) return await this.#shutdown.requested;
      if (!isChatty) this.#output.hold();
      unsetVariables(acts.unset);
      return await runWrapped(command, acts.environment, this.#shutdown);
    } finally {
      await running.stop();
      if (wraps) this.#output.release();
    }
  }

  [Symbol.dispose](): void {
    this.#shutdown[Symbol.dispose]();
    this.events[Symbol.dispose]();
  }
}
