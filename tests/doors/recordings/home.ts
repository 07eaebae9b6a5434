/** The verbs about recordings, called on fixtures that a test has written. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { type Answer as RawAnswer, RawUpstream } from "../../support/raw_upstream.ts";
import { type Called, type CallOptions, said, Sandbox } from "../../support/reprise.ts";
import { type GivenExchange, write, writeFixture } from "./recording_files.ts";
import { Recorder, type RecordOptions } from "./recorder.ts";

/** A scratch directory with fixtures; calls have it as working directory. */
export class RecordingHome extends Sandbox {
  /** Writes a fixture; returns its path. */
  fixture(
    name: string,
    exchanges: readonly GivenExchange[],
    header: Readonly<Record<string, Json>> = {},
  ): string {
    return writeFixture(`${this.directory}/${name}`, exchanges, header);
  }

  /** Writes a file below the directory; returns its path. */
  file(name: string, content: string | Uint8Array): string {
    write(`${this.directory}/${name}`, content);
    return `${this.directory}/${name}`;
  }

  /** Calls a verb of `fixture`. */
  verb(args: readonly string[], options: CallOptions = {}): Promise<Called> {
    return this.call(["fixture", ...args], { cwd: this.directory, ...options });
  }

  /** Calls a verb of `fixture` with `--json`, which must end with one of `codes`; returns what it printed. */
  async json(args: readonly string[], { codes = [0], ...options }: JsonOptions = {}): Promise<Json> {
    const called = await this.verb([...args, "--json"], options);
    assert.ok(codes.includes(called.code), said(called));
    return JSON.parse(called.stdout);
  }

  /** Asserts that a verb refuses with exit code 2 and an error of this code, whose message and hint fit. */
  async refused(args: readonly string[], code: string, says: RegExp, hint?: RegExp): Promise<void> {
    const error = await this.json(args, { codes: [2] });
    assert.equal(error.code, code, JSON.stringify(error));
    assert.match(error.message, says);
    if (hint !== undefined) assert.match(error.hint, hint);
  }

  /** Findings of `lint` as `severity code path: message`. */
  async findings(
    name: string,
    options: JsonOptions & { readonly flags?: readonly string[] } = {},
  ): Promise<string[]> {
    const { fixtures } = await this.json(["lint", name, ...options.flags ?? []], {
      codes: [0, 7],
      ...options,
    });
    return fixtures.flatMap(({ findings }: Json) => findings)
      .map(({ severity, code, path, message }: Json) => `${severity} ${code} ${path}: ${message}`);
  }

  /** Starts `record` in this process, in front of an upstream. */
  record(upstream: string, options: RecordOptions = {}): Promise<Recorder> {
    return Recorder.start(this, upstream, options);
  }
}

/** Options of a call with `--json`. */
export interface JsonOptions extends CallOptions {
  /** @default {[0]} */
  readonly codes?: readonly number[];
}

/** Registers a test with a home of its own; `register` is `Deno.test` or `test.long`. */
export function withHome(
  name: string,
  fn: (home: RecordingHome) => Promise<void>,
  register: (name: string, fn: () => Promise<void>) => void = Deno.test,
): void {
  register(name, async () => {
    await using home = new RecordingHome();
    await fn(home);
  });
}

/** Parts that a test of `record` works with. */
export interface Recording {
  readonly home: RecordingHome;
  readonly upstream: RawUpstream;
  readonly recorder: Recorder;
}

/** Registers a test with a recorder in front of an upstream that answers like this. */
export function recording(
  name: string,
  answer: RawAnswer,
  fn: (recording: Recording) => Promise<void>,
  { register = Deno.test, ...options }: RecordOptions & {
    readonly register?: (name: string, fn: () => Promise<void>) => void;
  } = {},
): void {
  withHome(name, async (home) => {
    await using upstream = new RawUpstream(answer);
    await using recorder = await home.record(upstream.origin, options);
    await fn({ home, upstream, recorder });
  }, register);
}
