/**
 * Releases on a server of 127.0.0.1, with the layout of a GitHub releases page.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { join } from "node:path";
import { outputOf, run } from "../../../scripts/process.ts";

/** A way in which the mirror sends a file. `cut` closes the connection in the middle, `stall` sends no more from there. */
export type Delivery = "whole" | "cut" | "stall";

/** A server of files. Add to {@linkcode files} and {@linkcode delivery} before a request needs them. */
export class Mirror implements AsyncDisposable {
  /** The bytes of each path, which begins with a slash. */
  readonly files = new Map<string, Uint8Array>();
  /** Paths that do not arrive as a whole. */
  readonly delivery = new Map<string, Delivery>();
  /** The paths that were requested, in order. */
  readonly requests: string[] = [];
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open = new Set<Deno.TcpConn>();
  readonly #stalled = Promise.withResolvers<void>();
  readonly #serving = this.#serve();

  /** Base URL of the releases. */
  get url(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}/releases`;
  }

  /** Resolves when a file with the delivery `stall` has been sent in part. */
  get stalled(): Promise<void> {
    return this.#stalled.promise;
  }

  /** Adds a file to the release `version`. */
  add(version: string, name: string, bytes: Uint8Array): void {
    this.files.set(`/releases/download/v${version}/${name}`, bytes);
  }

  /** Adds SHA256SUMS of `archives` to the release `version`, which becomes the latest. */
  addSums(version: string, archives: Readonly<Record<string, Uint8Array>>): void {
    const lines = Object.entries(archives).map(([name, bytes]) => `${sha256Hex(bytes)}  ${name}\n`);
    this.addSumsText(version, lines.join(""));
  }

  /** Adds the text of SHA256SUMS to the release `version`, which becomes the latest. */
  addSumsText(version: string, text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.add(version, "SHA256SUMS", bytes);
    this.files.set("/releases/latest/download/SHA256SUMS", bytes);
  }

  /** Closes every connection and stops listening. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#open) connection.close();
    await this.#serving;
  }

  async #serve(): Promise<void> {
    try {
      for await (const connection of this.#listener) {
        this.#open.add(connection);
        void this.#answer(connection).catch(() => {});
      }
    } catch {
      // The listener was closed.
    }
  }

  async #answer(connection: Deno.TcpConn): Promise<void> {
    const path = await requestedPath(connection);
    this.requests.push(path);
    const bytes = this.files.get(path);
    const head = bytes === undefined
      ? "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
      : `HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\nconnection: close\r\n\r\n`;
    const delivery = this.delivery.get(path) ?? "whole";
    const body = bytes ?? new Uint8Array();
    const sent = delivery === "whole" ? body : body.subarray(0, Math.floor(body.length / 2));
    await writeAll(connection, Buffer.concat([Buffer.from(head), sent]));
    if (delivery === "stall") return this.#stalled.resolve();
    this.#open.delete(connection);
    connection.close();
  }
}

async function requestedPath(connection: Deno.TcpConn): Promise<string> {
  let text = "";
  const buffer = new Uint8Array(4096);
  while (!text.includes("\r\n\r\n")) {
    const count = await connection.read(buffer);
    if (count === null) break;
    text += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return text.split(" ")[1] ?? "";
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await connection.write(rest));
}

/**
 * An archive as a release has it: the folder `reprise-VERSION-TARGET` with an executable `reprise`.
 *
 * @param program The text of the executable, a script.
 */
export async function archiveOf(version: string, target: string, program: string): Promise<Uint8Array> {
  const directory = Deno.makeTempDirSync({ prefix: "reprise-archive-" });
  try {
    const folder = `reprise-${version}-${target}`;
    Deno.mkdirSync(join(directory, folder));
    Deno.writeTextFileSync(join(directory, folder, "reprise"), program, { mode: 0o755 });
    const packed = await run("tar", ["-cf", "archive.tar", folder], { cwd: directory });
    if (packed.code !== 0) throw new Error(outputOf(packed));
    return gzipSync(Deno.readFileSync(join(directory, "archive.tar")));
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}
