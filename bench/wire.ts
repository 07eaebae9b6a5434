/**
 * Bytes that a long run sends: over a WebSocket only the new items of each step, over HTTP the whole input.
 *
 * @module
 */
import { join } from "node:path";
import { answer, message, reasoning } from "../tests/support/responses_server.ts";
import { functionCall } from "../tests/support/responses_server/script.ts";
import { type ResponsesSocket, startResponsesSocket } from "../tests/support/responses_socket.ts";
import { type Bench, type BenchContext, sized } from "./bench.ts";
import { makeBinaries } from "./binaries.ts";
import { memoryRow, type Report } from "./report.ts";
import { MODEL } from "./session.ts";

/** Size of the file that each step reads. */
const FILE_BYTES = 2000;

/** Measures one run over each transport. */
export const wireBench: Bench = async (context) => {
  const steps = sized(context, { full: 50, quick: 5 });
  const { reprise } = await makeBinaries(context);
  const sent = async (transport: "sse" | "ws") =>
    await bytesSent(context, { reprise, steps, transport }) / 1e6;
  const [overSocket, overHttp] = [await sent("ws"), await sent("sse")];
  return {
    rows: [memoryRow({
      name: `bytes sent in ${steps} steps, WebSocket`,
      against: "over HTTP",
      megabytes: [overSocket],
      againstMegabytes: [overHttp],
      target: { bound: "at_most", value: context.quick ? 1 : 0.2 },
    })],
    notes: [
      `One run with ${steps} calls that read a file of ${FILE_BYTES} bytes; bodies and messages without headers.`,
    ],
  } satisfies Report;
};

interface MeasuredRun {
  readonly reprise: string;
  readonly steps: number;
  readonly transport: "sse" | "ws";
}

async function bytesSent(context: BenchContext, { reprise, steps, transport }: MeasuredRun): Promise<number> {
  await using server = await startServer(steps);
  const workspace = join(context.workDirectory, `wire-${transport}`);
  Deno.mkdirSync(workspace);
  Deno.writeTextFileSync(join(workspace, "a.txt"), `${"x".repeat(99)}\n`.repeat(FILE_BYTES / 100));
  const { code, stderr } = await new Deno.Command(reprise, {
    args: ["run", "--json", "--transport", transport, "--max-steps", String(steps + 1), "Read a.txt"],
    cwd: workspace,
    clearEnv: true,
    env: {
      HOME: workspace,
      REPRISE_HOME: join(workspace, "home"),
      OPENAI_API_KEY: "key-1",
      OPENAI_BASE_URL: server.baseUrl,
      REPRISE_MODEL: MODEL,
    },
  }).output();
  if (code !== 0) throw new Error(`The run over ${transport} failed: ${new TextDecoder().decode(stderr)}`);
  const over = transport === "ws" ? "ws" : "http";
  if (server.requests.some((request) => request.transport !== over)) {
    throw new Error(`A request was not over ${over}`);
  }
  return server.requests.reduce((sum, { text }) => sum + new TextEncoder().encode(text).length, 0);
}

function startServer(steps: number): Promise<ResponsesSocket> {
  const read = functionCall("read_file", { path: "a.txt", offset: null, limit: null });
  return startResponsesSocket({
    script: ({ number }) => number <= steps ? answer([reasoning("Next"), read]) : answer([message("Done.")]),
  });
}
