/** Support for tests of runs over a WebSocket: a home, a server of both transports, and a loop of three steps. */
import { strictEqual } from "node:assert/strict";
import type { Json } from "./files.ts";
import { type Called, type CallOptions, Sandbox } from "./reprise.ts";
import {
  answer,
  functionCall,
  message,
  reasoning,
  type ScriptedResponse,
} from "./scripted_api/responses_script.ts";
import {
  type ResponsesSocket,
  type ResponsesSocketOptions,
  type SocketRequest,
  startResponsesSocket,
} from "./scripted_api/socket.ts";

/** The key of every call. */
export const KEY = "sk-test-4f1d0c7ea9-never-printed";
/** The session of every call. */
export const SESSION = "talk-1a2b";

/** A home, and a server that speaks both transports. */
export class TransportPlace implements AsyncDisposable {
  readonly sandbox = new Sandbox();
  readonly server: ResponsesSocket;

  private constructor(server: ResponsesSocket) {
    this.server = server;
    for (const name of ["a", "b", "c"]) {
      Deno.writeTextFileSync(`${this.sandbox.workspace}/${name}.txt`, `content of ${name}\n`);
    }
  }

  static async open(options: ResponsesSocketOptions): Promise<TransportPlace> {
    return new TransportPlace(await startResponsesSocket(options));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.sandbox[Symbol.asyncDispose]();
  }

  get env(): Record<string, string> {
    return { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: this.server.baseUrl, REPRISE_MODEL: "gpt-5.6" };
  }

  /** Runs the program to its end. */
  call(args: readonly string[], options: CallOptions = {}): Promise<Called> {
    return this.sandbox.call(args, { ...options, env: { ...this.env, ...options.env } });
  }

  run(args: readonly string[], options: CallOptions = {}): Promise<Called> {
    return this.call(["run", "--json", ...args], options);
  }

  /** The first run of the session. */
  first(...args: readonly string[]): Promise<Called> {
    return this.run(["--new", "-s", SESSION, ...args, "Look at the files"]);
  }
}

const read = (name: string) => functionCall("read_file", { path: `${name}.txt`, offset: null, limit: null });
/** Three steps: two files at once, a third, the answer. */
export const LOOP: readonly ScriptedResponse[] = [
  answer([reasoning("Looking"), message("I read both.", { phase: "commentary" }), read("a"), read("b")]),
  answer([reasoning("More"), read("c")]),
  answer([reasoning("Done"), message("Three files.")]),
];
/** Answers by the outputs in a request, so that a repeated request gets the same answer. */
export const loop = ({ input }: SocketRequest): ScriptedResponse => {
  const outputs = input.filter(({ type }) => type === "function_call_output").length;
  return LOOP[outputs === 0 ? 0 : outputs === 2 ? 1 : 2] as ScriptedResponse;
};

/** The turns of the session without what differs from place to place: times, sums, the server's port, the workspace. */
export function comparableTurns({ sandbox }: TransportPlace): Json[] {
  return sandbox.turns(SESSION).map(({ at: _, prev: __, sum: ___, ...turn }) => {
    const text = JSON.stringify(
      turn,
      (name, value) => /^(endpoint|portless|workspace)$/.test(name) ? "-" : value,
    );
    return JSON.parse(text);
  });
}

/** Requires that the session is intact, and that its requests can be built again. */
export async function requireWhole(place: TransportPlace): Promise<void> {
  const checked = await place.call(["fsck", SESSION, "--requests"]);
  strictEqual(checked.code, 0, `${checked.stdout}${checked.stderr}`);
}
