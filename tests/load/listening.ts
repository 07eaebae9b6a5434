/** The binary's servers in the long harnesses. */
import type { Called, Sandbox } from "../support/reprise.ts";

/** Result of a server's clients, and the outcome of the server. */
export interface Served<T> {
  readonly value: T;
  readonly called: Called;
}

/** Runs `body` against a server of the binary on a free port, then ends that the ordinary way, with SIGTERM. */
export async function withServer<T>(
  sandbox: Sandbox,
  args: readonly string[],
  body: (origin: string, pid: number) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<Served<T>> {
  const started = sandbox.start([...args, "--json", "--port", "0"], { env });
  try {
    await started.printed('"type":"ready"');
    const port = /"type":"ready".*?"port":(\d+)/.exec(started.stdout)?.[1];
    const value = await body(`http://127.0.0.1:${port}`, started.process.pid);
    started.process.kill("SIGTERM");
    return { value, called: await started.ended() };
  } catch (error) {
    try {
      started.process.kill("SIGKILL");
    } catch {
      // It ended by itself; the error says more.
    }
    const { stderr } = await started.ended();
    throw new Error(`The server said: ${stderr.slice(-2000)}`, { cause: error });
  }
}

/** Resolves once `done` is true; asks every 50 ms, for five minutes. */
export async function eventually(done: () => boolean, what: string): Promise<void> {
  const until = performance.now() + 300_000;
  while (!done()) {
    if (performance.now() > until) throw new Error(`Waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
