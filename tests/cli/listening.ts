/** A running `serve` or `record` whose clients use WebSockets. */
import type { Sandbox, Started } from "../support/reprise.ts";

/** A running `serve --json` or `record --json`, without a command. */
export class Listening {
  readonly started: Started;
  readonly origin: string;

  private constructor(started: Started, origin: string) {
    this.started = started;
    this.origin = origin;
  }

  /** Starts the verb, and waits until it listens. */
  static async start(sandbox: Sandbox, verb: "serve" | "record", ...args: string[]): Promise<Listening> {
    const started = sandbox.start([verb, "--json", ...args]);
    await started.printed('"ready"');
    return new Listening(started, eventsOf(started)[0].origin);
  }

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  // deno-lint-ignore no-explicit-any
  get events(): any[] {
    return eventsOf(this.started);
  }

  /** Ends it as Ctrl+C does. */
  // deno-lint-ignore no-explicit-any
  async end(): Promise<{ readonly code: number; readonly ended: any }> {
    this.started.process.kill("SIGINT");
    const { code } = await this.started.ended();
    return { code, ended: this.events.at(-1) };
  }
}

// deno-lint-ignore no-explicit-any
function eventsOf({ stdout }: Started): any[] {
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}
