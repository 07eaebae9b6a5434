/** Support for the command line tests: a home with a server for its calls, and one way to check an error. */
import assert from "node:assert/strict";
import { type Lack, lacksCommand } from "../support/needs.ts";
import { sealed } from "../doors/sessions/session_files.ts";
import { bytesBelow, type Json } from "../support/files.ts";
import { type Called, type CallOptions, events, Sandbox, type Started } from "../support/reprise.ts";
import {
  answer,
  message,
  reasoning,
  type ResponsesServer,
  type Script,
  type ServerOptions,
  startResponsesServer,
} from "../support/scripted_api/responses.ts";
import { functionCall } from "../support/scripted_api/responses_script.ts";

/** The key of every call: a text that would be found wherever it leaked. */
export const KEY = "sk-test-4f1d0c7ea9-never-printed";
/** The model of every call. */
export const MODEL = "gpt-5.6";

/** A sandbox, a server, and the environment that leads from one to the other. */
export class Place implements AsyncDisposable {
  readonly sandbox = new Sandbox();
  readonly server: ResponsesServer;
  readonly #started: Started[] = [];

  constructor(script: Script, options: Omit<ServerOptions, "script"> = {}) {
    this.server = startResponsesServer({ script, key: KEY, ...options });
    Deno.writeTextFileSync(`${this.sandbox.workspace}/a.txt`, "alpha\nbeta\n");
  }

  /** Kills the processes that a failed case left running, so that the failure of the case is reported. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const started of this.#started) {
      try {
        started.process.kill("SIGKILL");
      } catch {
        // It ended by itself, as it should.
      }
      await started.ended();
    }
    await this.server.stop();
    await this.sandbox[Symbol.asyncDispose]();
  }

  /** The variables that a user of this server would have set. */
  get env(): Record<string, string> {
    return { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: this.server.baseUrl, REPRISE_MODEL: MODEL };
  }

  /** Runs the program to its end. */
  call(args: readonly string[], options: CallOptions = {}): Promise<Called> {
    return this.sandbox.call(args, { ...options, env: { ...this.env, ...options.env } });
  }

  /** Starts the program and leaves it running. */
  start(args: readonly string[], options: Parameters<Sandbox["start"]>[1] = {}): Started {
    const started = this.sandbox.start(args, { ...options, env: { ...this.env, ...options.env } });
    this.#started.push(started);
    return started;
  }

  /** A completed run that must succeed: of the new session `id`. */
  async session(id: string, prompt = "Look at a.txt"): Promise<void> {
    const called = await this.call(["run", "--json", "--new", "-s", id, prompt]);
    assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  }

  /** The directory of a session. */
  path(id: string): string {
    return `${this.sandbox.home}/sessions/${id}`;
  }

  /** The path of a turn file. */
  turnPath(id: string, turn: number): string {
    return `${this.path(id)}/turns/${String(turn).padStart(6, "0")}.json`;
  }
}

/** Runs the program, which must succeed; returns its stdout. */
export async function ok(
  place: Place,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const { code, stdout, stderr } = await place.call(args, { env });
  assert.equal(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** Runs the program with `--json`, which must succeed; returns the document that it printed. */
export async function json(
  place: Place,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Json> {
  return JSON.parse(await ok(place, [...args, "--json"], env));
}

/** Writes the user's configuration. */
export function configure({ directory }: Sandbox, config: object): void {
  Deno.mkdirSync(`${directory}/.config/reprise`, { recursive: true });
  Deno.writeTextFileSync(`${directory}/.config/reprise/config.json`, JSON.stringify(config));
}

/** An answer without tools. */
export const HELLO = answer([reasoning("Thinking"), message("Hello.")]);
/** An answer that reads a.txt. */
export const READS_A = answer([
  reasoning("Looking"),
  functionCall("read_file", { path: "a.txt", offset: null, limit: null }),
]);

/** A server that reads a file in each run's first step, then answers, for as many runs as come. */
export const readsThenAnswers: Script = ({ input }) => input.at(-1)?.type === "message" ? READS_A : HELLO;

/**
 * Places that begin with the same home, which `make` fills once for all of them, in a place of its own. Each has a
 * server that knows nothing of it: for what looks at files, not for what sends them.
 */
export function begun(script: Script, make: (place: Place) => Promise<void>): () => Promise<Place> {
  let made: Promise<ReadonlyMap<string, Uint8Array>> | undefined;
  const fill = async () => {
    await using place = new Place(script);
    await make(place);
    return bytesBelow(place.sandbox.home);
  };
  return async () => {
    made ??= fill();
    const files = await made;
    const place = new Place(script);
    for (const [name, bytes] of files) {
      const path = `${place.sandbox.home}/${name}`;
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
      Deno.writeFileSync(path, bytes, { mode: 0o600 });
    }
    return place;
  };
}

/** Expected error. */
export interface ExpectedError {
  readonly code: string;
  readonly exit: number;
  /** Pattern of the message. */
  readonly says?: RegExp;
  /** Pattern of the hint. */
  readonly hint?: RegExp;
}

/**
 * Checks a failed `--json` call: exit code, the error object where it belongs, and that it says what to do.
 * Returns the error object.
 */
export function assertError(called: Called, expected: ExpectedError): Json {
  const shown = `${called.stdout}${called.stderr}`;
  assert.equal(called.code, expected.exit, shown);
  const lines: Json[] = events(called);
  const ended = lines.filter(({ type }) => type === "run.ended").length;
  const began = lines.some(({ type }) => type === "run.started");
  assert.equal(ended, began ? 1 : 0, `run.ended exactly once after run.started: ${shown}`);
  const error = lines.at(began ? -2 : -1) ?? {};
  assert.equal(error.type, "error", shown);
  assert.equal(error.code, expected.code, shown);
  assert.equal(error.exit_code, expected.exit);
  assert.equal(lines.filter(({ type }) => type === "error").length, 1, shown);
  if (began) assert.equal(lines.at(-1)?.exit_code, expected.exit, shown);
  const { message: text, hint } = error;
  assert.match(String(text), /^[A-Z]/, "a message starts with a capital");
  assert.doesNotMatch(String(text), /\.$/, "a message has no final full stop");
  if (expected.says !== undefined) assert.match(String(text), expected.says);
  const next = hint ?? lines.at(-1)?.resume;
  assert.equal(typeof next, "string", `a hint, or how to resume, says what to do next: ${shown}`);
  if (expected.hint !== undefined) assert.match(String(hint), expected.hint);
  assert.ok(!shown.includes(KEY), "the key is never printed");
  return error;
}

/** A command that makes file modes count: none for ordinary users; root gives up the rights that override modes. */
export const WITH_MODES: readonly string[] = Deno.uid() === 0
  ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
  : [];
/** Lack of what {@linkcode WITH_MODES} needs. */
export const LACKS_MODES: Lack = await lacksCommand([...WITH_MODES, "true"], "file modes do not count");

/** Changes a sealed file's text and seals it again, as another version of this program might have written it. */
export function reseal(path: string, edit: (text: string) => string): void {
  const text = Deno.readTextFileSync(path);
  const open = text.slice(0, text.lastIndexOf('"sum":"'));
  const edited = edit(open);
  assert.notEqual(edited, open, `the edit found nothing to change in ${path}`);
  Deno.writeTextFileSync(path, sealed(edited));
}

/** An owner line of this host that names `pid`. */
export function ownerLine(pid: number, more: object = {}): string {
  return `${JSON.stringify({ pid, host: Deno.hostname(), since: "2026-11-21T20:18:00.000Z", ...more })}\n`;
}

/** Holds a session's lock in this process. */
export function holdLock(path: string, line: string = ownerLine(Deno.pid)): Disposable {
  Deno.writeTextFileSync(path, line, { mode: 0o600 });
  const file = Deno.openSync(path, { read: true, write: true });
  file.lockSync(true);
  return file;
}

/** Waits until `condition` holds; fails after a minute. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
