/** The binary's servers in the long harnesses. */
import type { Called, Sandbox, Started } from "../support/reprise.ts";

/**
 * Runs `body` against a server of the binary on a free port, then ends that the ordinary way, with SIGTERM. Returns the
 * result of both.
 */
export async function withServer<T>(
  sandbox: Sandbox,
  args: readonly string[],
  body: (origin: string, started: Started) => Promise<T>,
): Promise<{ readonly value: T; readonly called: Called }> {
  const started = sandbox.start([...args, "--json", "--port", "0"]);
  try {
    await started.printed('"type":"ready"');
    const port = /"type":"ready".*?"port":(\d+)/.exec(started.stdout)?.[1];
    const value = await body(`http://127.0.0.1:${port}`, started);
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
