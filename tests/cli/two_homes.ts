/** Two homes that exchange sessions through a remote. */
import { livePorts } from "../../src/cli/live_ports.ts";
import { openHome } from "../../src/store/home.ts";
import type { TurnDraft } from "../../src/domain/turn.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";
import { type Called, Sandbox } from "../support/reprise.ts";
import { S3Server } from "../support/s3_server.ts";
import { appendRun, ID, newSession, testPorts } from "../unit/store/support.ts";

/** Two homes, `a` and `b`, and the server between them. */
export class TwoHomes implements AsyncDisposable {
  readonly server = new S3Server();
  readonly #sandbox = new Sandbox();

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.#sandbox[Symbol.asyncDispose]();
  }

  #home(name: string): string {
    return `${this.#sandbox.directory}/${name}`;
  }

  async call(home: string, ...args: readonly string[]): Promise<Called> {
    return await this.#sandbox.call([...args, "--home", this.#home(home)], { env: this.server.env });
  }

  /** Adds a run to the session; run 1 creates it. */
  async write(name: string, run: number): Promise<void> {
    const { files } = livePorts();
    const { clock } = testPorts();
    // At another time, so that the turns of both homes differ.
    const later = name === "b" ? 3_600_000 : 0;
    const ports = testPorts({ files, clock: { ...clock, now: () => clock.now() + later } });
    const home = openHome(ports, this.#home(name), { create: true });
    const writer = run === 1
      ? await newSession(ports, home)
      : await SessionWriter.open(ports, home, { id: ID });
    if (run > 1) appendRun(writer, run);
    writer.close();
  }

  /** Adds a turn here alone. */
  async add(name: string, draft: TurnDraft): Promise<void> {
    const ports = testPorts({ files: livePorts().files });
    const home = openHome(ports, this.#home(name), { create: true });
    const writer = await SessionWriter.open(ports, home, { id: ID });
    writer.append(draft);
    writer.close();
  }

  /** The directory of a session. */
  directory(home: string, id: string = ID): string {
    return `${this.#home(home)}/sessions/${id}`;
  }

  /** Alters a turn on the remote; returns its new bytes. */
  damage(turn: number): Uint8Array {
    const key = `${ID}/turns/${String(turn).padStart(6, "0")}.json`;
    const bytes = this.server.objects.get(key)?.slice() ?? new Uint8Array();
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    this.server.objects.set(key, bytes);
    return bytes;
  }

  /** Bytes of all turn files, as text. */
  turns(home: string, id: string = ID): string[] {
    const directory = `${this.#home(home)}/sessions/${id}/turns`;
    const names = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
    return names.map((name) => Deno.readTextFileSync(`${directory}/${name}`));
  }
}
