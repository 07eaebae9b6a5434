/** A folder into which `record` writes a recording for each test, in front of an upstream that echoes. */
import type { CallOptions } from "../support/reprise.ts";
import { Sandbox } from "../support/reprise.ts";
import { answering, RawUpstream } from "../support/raw_upstream.ts";
import { Serving } from "./serving.ts";

/** An upstream that answers with the path and the body that it got. */
export function echoing(): RawUpstream {
  return new RawUpstream(async (connection, request) => {
    const [, path] = request.head.split(" ");
    const body = JSON.stringify({ path, got: new TextDecoder().decode(request.body) });
    await answering("200 OK\r\ncontent-type: application/json", body)(connection, request);
  });
}

/** A folder for recordings, and an upstream. */
export class TestFolder extends Sandbox {
  readonly upstream = echoing();
  readonly out = `${this.directory}/suite`;
  readonly #servers: Serving[] = [];

  /** Starts `record` into the folder. */
  async record(
    flags: readonly string[] = [],
    options: Omit<CallOptions, "stdin"> = {},
  ): Promise<Serving> {
    const args = ["record", "--json", "--upstream", this.upstream.origin, "--out", this.out, ...flags];
    const server = await Serving.start(this, args, options);
    this.#servers.push(server);
    return server;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server[Symbol.asyncDispose]();
    await this.upstream[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}
