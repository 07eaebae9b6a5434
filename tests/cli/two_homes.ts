/** Two homes that exchange sessions through a remote. */
import assert from "node:assert/strict";
import { ID } from "../doors/sessions/home.ts";
import {
  call,
  ended,
  type GivenTurn,
  message,
  model,
  reasoning,
  results,
  SessionFiles,
  user,
} from "../doors/sessions/session_files.ts";
import type { Json } from "../support/files.ts";
import { type Called, said, Sandbox } from "../support/reprise.ts";
import { S3Server } from "../support/s3_server.ts";

export { ID };

/** The object with a turn of the session. */
export const key = (turn: number) => `${ID}/turns/${String(turn).padStart(6, "0")}.json`;

/** Two homes, `a` and `b`, and the server between them. */
export class TwoHomes extends Sandbox {
  readonly server = new S3Server();

  /** Home `a` and the remote have these runs; home `b` too if it is named. */
  static async pushed(runs = 1, ...fetching: readonly "b"[]): Promise<TwoHomes> {
    const place = new TwoHomes();
    place.write("a", runs);
    for (const home of ["a", ...fetching]) await place.ok(home, "sync", ID);
    return place;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }

  async in(home: string, ...args: readonly string[]): Promise<Called> {
    return await this.call([...args, "--home", `${this.directory}/${home}`], { env: this.server.env });
  }

  /** Runs a call that must succeed; returns its stdout. */
  async ok(home: string, ...args: readonly string[]): Promise<string> {
    const called = await this.in(home, ...args);
    assert.equal(called.code, 0, `${args.join(" ")}: ${said(called)}`);
    return called.stdout;
  }

  /** Runs a call that must succeed; returns the JSON that it printed. */
  async json(home: string, ...args: readonly string[]): Promise<Json> {
    return JSON.parse(await this.ok(home, ...args, "--json"));
  }

  /** Runs a call that must end with `code`; returns what it said. */
  async fails(code: number, home: string, ...args: readonly string[]): Promise<string> {
    const called = await this.in(home, ...args);
    assert.equal(called.code, code, `${args.join(" ")}: ${said(called)}`);
    return called.stdout + called.stderr;
  }

  /** Writes the session with these runs and turns after them. The runs of both homes differ from the second on. */
  write(home: string, runs: number, ...more: readonly GivenTurn[]): void {
    const turns = Array.from({ length: runs }, (_, index) => {
      const run = index + 1;
      return [
        user(run === 1 ? "Fix the test" : `Go on, ${home}`, run),
        model([reasoning("rs_1"), call("call_a"), call("call_b")], run),
        results({ call_a: index * 10 + 3, call_b: index * 10 + 4 }, run),
        model([message("msg_1", "Done.")], run),
        ended(run),
      ];
    });
    Deno.mkdirSync(`${this.directory}/${home}/sessions`, { recursive: true, mode: 0o700 });
    new SessionFiles(`${this.directory}/${home}`, ID, [...turns.flat(), ...more]);
  }

  /** The directory of a session. */
  path(home: string, id: string = ID): string {
    return `${this.directory}/${home}/sessions/${id}`;
  }

  /** Alters a turn on the remote; returns its new bytes. */
  damage(turn: number): Uint8Array {
    const bytes = this.server.objects.get(key(turn)) as Uint8Array<ArrayBuffer>;
    const damaged = bytes.with(20, (bytes[20] as number) ^ 1);
    this.server.objects.set(key(turn), damaged);
    return damaged;
  }

  /** Texts of all turn files. */
  files(home: string, id: string = ID): string[] {
    const directory = `${this.path(home, id)}/turns`;
    const names = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
    return names.map((name) => Deno.readTextFileSync(`${directory}/${name}`));
  }

  /** Requires that a home has no such session. */
  requireNone(home: string, id: string = ID): void {
    assert.throws(() => Deno.statSync(this.path(home, id)), Deno.errors.NotFound);
  }
}
