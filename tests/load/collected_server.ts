/**
 * `collected_server.ts FIXTURE PACE`: a replay server that prints its port, and, whenever something comes on stdin, the
 * bytes that it holds after a full collection. Needs `--v8-flags=--expose-gc`, which a compiled binary cannot be given.
 */
import { livePorts } from "../../src/cli/live_ports.ts";
import { readFixture } from "../../src/fixture/read.ts";
import { createReplayer } from "../../src/fixture/serve/replayer.ts";
import { startReplayServer } from "../support/replay_server.ts";
import { say } from "../../scripts/terminal.ts";

const [path = "", pace = "1"] = Deno.args;
const { files, clock } = livePorts();
const replayer = createReplayer([readFixture(files, path)], { match: "semantic", rules: null });
const server = startReplayServer({ replayer, pace: Number(pace), clock, port: 0, onEvent: () => {} });
say(String(server.port));
for await (const _asked of Deno.stdin.readable) {
  for (let times = 0; times < 3; times++) {
    (globalThis as unknown as { gc(): void }).gc();
    // Finalizers run after a collection; the next collection takes the memory that they held.
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const { heapUsed, external } = Deno.memoryUsage();
  say(String(heapUsed + external));
}
await server.stop();
