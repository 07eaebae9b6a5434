/** Recordings into a folder of a test, without a server. */
import { livePorts, type ProgramPorts } from "../../../src/cli/live_ports.ts";
import type { RecordFlags } from "../../../src/cli/serve/command.ts";
import { openRecording } from "../../../src/cli/serve/open_recording.ts";
import type { Files } from "../../../src/domain/ports.ts";
import { readFixture } from "../../../src/fixture/read.ts";
import type { RecordingSummary } from "../../../src/fixture/record/summaries.ts";
import type { ExchangeEvent } from "../../../src/fixture/record/writer.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import type { RequestFacts } from "../../../src/fixture/record/exchange_outcome.ts";
import type { FixtureWriter } from "../../../src/fixture/record/writer.ts";
import { COMPLETED } from "../../support/raw_upstream.ts";

/** The program's ports with this file system. */
export function portsWith(files: Files): ProgramPorts {
  // No repository, so that Git is not asked.
  return { ...livePorts(), files, workingDirectory: () => "/" };
}

/** Options for appending exchanges. */
export interface AppendOptions {
  readonly files?: Files;
  readonly flags?: Partial<RecordFlags>;
  /** @default {true} */
  readonly grows?: boolean;
  readonly onExchange?: (event: ExchangeEvent) => void;
}

/** Records these inputs into the folder at `path`, as `record --append` does. */
export async function append(
  path: string,
  inputs: readonly string[],
  { files = denoFiles, flags = {}, grows = true, onExchange = () => {} }: AppendOptions = {},
): Promise<RecordingSummary> {
  const recording = await openRecording(portsWith(files), path, {
    flags: { out: path, ...flags } as RecordFlags,
    declared: {},
    grows,
    onExchange,
  });
  for (const input of inputs) {
    const body = new TextEncoder().encode(JSON.stringify({ model: "m", input }));
    const pending = answer(recording.writer, request("/v1/responses", { body }));
    pending.finish("complete", 1);
    await pending.outcome;
    // The writer publishes when it hears the outcome.
    await Promise.resolve();
  }
  return await recording.close();
}

/** The inputs of a fixture's exchanges, in order. */
export function inputsOf(path: string): string[] {
  return readFixture(denoFiles, path).exchanges
    .map(({ request }) => (request.json as { readonly input: string }).input);
}

/** A folder of a test, removed at the end. */
export class ScratchFolder implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "reprise-test-" });
  readonly path = `${this.root}/fixture`;

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

/** A request to OpenAI. */
export function request(path = "/v1/responses", given: Partial<RequestFacts> = {}): RequestFacts {
  const body = new TextEncoder().encode('{"model":"gpt-5.6"}');
  return { method: "POST", path, headers: {}, body, atMs: 0, origin: "https://api.openai.com", ...given };
}

/** Records a whole answer, but for its end. */
export function answer(writer: FixtureWriter, facts: RequestFacts, body = COMPLETED) {
  const pending = writer.begin(facts);
  pending.respond(200, new Headers({ "content-type": "text/event-stream" }));
  pending.chunk(new TextEncoder().encode(body), 1);
  return pending;
}
