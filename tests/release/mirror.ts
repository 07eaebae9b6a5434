/** Releases on a server of 127.0.0.1, with the layout of a GitHub releases page. */
import { gzipSync } from "node:zlib";
import { outputOf, run } from "../../scripts/process.ts";
import { sha256 } from "../support/files.ts";

/** Archive for this machine, without its `.tar.gz`. */
export const NAME = Deno.build.arch === "aarch64" ? "reprise-linux-arm64" : "reprise-linux-x64";

/** Serves the files of releases. */
export class Mirror implements AsyncDisposable {
  /** Bytes by path; `null` never ends. */
  readonly files = new Map<string, Uint8Array<ArrayBuffer> | null>();
  readonly requests: string[] = [];
  readonly #stop = new AbortController();
  readonly #server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, signal: this.#stop.signal },
    (request) => this.#answer(new URL(request.url).pathname),
  );
  readonly #stalled = Promise.withResolvers<void>();

  /** Base URL of the releases. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/releases`;
  }

  /** Resolves when a file that never ends was requested. */
  get stalled(): Promise<void> {
    return this.#stalled.promise;
  }

  /** Adds a file to the release `version`, which becomes the latest. */
  add(version: string, name: string, bytes: Uint8Array<ArrayBuffer> | null): void {
    for (const folder of ["latest/download", `download/v${version}`]) {
      this.files.set(`/releases/${folder}/${name}`, bytes);
    }
  }

  /** Adds an archive with this executable, and its checksum. */
  async publish(version: string, program: string | Uint8Array, name = NAME): Promise<void> {
    const archive = await archiveOf(name, program);
    this.add(version, `${name}.tar.gz`, archive);
    this.addSums(version, `${sha256(archive)}  ${name}.tar.gz\n${"0".repeat(64)}  other.tar.gz\n`);
  }

  /** Adds the text of SHA256SUMS. */
  addSums(version: string, text: string): void {
    this.add(version, "SHA256SUMS", new TextEncoder().encode(text));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#server.finished;
  }

  #answer(path: string): Response {
    this.requests.push(path);
    const bytes = this.files.get(path);
    if (bytes === undefined) return new Response("", { status: 404 });
    if (bytes !== null) return new Response(bytes);
    this.#stalled.resolve();
    return new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(9)) }));
  }
}

/** A script that prints `version`, and reports to `doctor --json` that it is intact. */
export function programOf(version: string): string {
  const intact = `'{"name":"executable","level":"ok"}'`;
  return `#!/bin/sh\nif [ "$1" = doctor ]; then echo ${intact}; else echo ${version}; fi\n`;
}

/** Returns an archive of a release: the folder `name` with the executable `reprise`. */
export async function archiveOf(
  name: string,
  program: string | Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
  const directory = Deno.makeTempDirSync({ prefix: "reprise-archive-" });
  try {
    Deno.mkdirSync(`${directory}/${name}`);
    const bytes = typeof program === "string" ? new TextEncoder().encode(program) : program;
    Deno.writeFileSync(`${directory}/${name}/reprise`, bytes, { mode: 0o755 });
    const packed = await run("tar", ["-cf", "archive.tar", name], { cwd: directory });
    if (packed.code !== 0) throw new Error(outputOf(packed));
    return new Uint8Array(gzipSync(Deno.readFileSync(`${directory}/archive.tar`)));
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}
