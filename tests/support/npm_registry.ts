/** A small npm registry on this machine. */
import { createHash } from "node:crypto";
import { outputOf, run } from "../../scripts/process.ts";

/** A package in the registry. */
interface Published {
  readonly manifest: { readonly name: string; readonly version: string };
  readonly file: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Earlier than the age that package managers demand of a release. */
const PUBLISHED_AT = "2026-01-01T00:00:00.000Z";

/** Serves the tarballs of a directory, each as the only version of its package. Other packages are not found. */
export class NpmRegistry implements AsyncDisposable {
  readonly #packages: ReadonlyMap<string, Published>;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #requests: string[] = [];

  private constructor(packages: readonly Published[]) {
    this.#packages = new Map(packages.map((published) => [published.manifest.name, published]));
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
  }

  /** Starts a registry with the tarballs in `directory`. */
  static async start(directory: string): Promise<NpmRegistry> {
    const files = Array.from(Deno.readDirSync(directory), ({ name }) => name).filter((name) =>
      name.endsWith(".tgz")
    );
    return new NpmRegistry(await Promise.all(files.sort().map((file) => published(directory, file))));
  }

  /** Base URL, with a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  /** Paths of the requests so far, decoded. */
  get requests(): readonly string[] {
    return this.#requests;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  #answer(request: Request): Response {
    const path = decodeURIComponent(new URL(request.url).pathname).slice(1);
    this.#requests.push(path);
    const [name = "", file] = path.split("/-/");
    const found = this.#packages.get(name);
    if (found === undefined) return Response.json({ error: "Not found" }, { status: 404 });
    if (file === undefined) return Response.json(this.#document(found));
    return new Response(found.bytes, { headers: { "content-type": "application/octet-stream" } });
  }

  #document({ manifest, file, bytes }: Published): unknown {
    const { name, version } = manifest;
    const dist = {
      tarball: `${this.url}${name}/-/${file}`,
      integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
      shasum: createHash("sha1").update(bytes).digest("hex"),
    };
    return {
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, dist } },
      modified: PUBLISHED_AT,
      time: { created: PUBLISHED_AT, modified: PUBLISHED_AT, [version]: PUBLISHED_AT },
    };
  }
}

async function published(directory: string, file: string): Promise<Published> {
  const manifest = await manifestOf(`${directory}/${file}`);
  return { manifest, file, bytes: Deno.readFileSync(`${directory}/${file}`) };
}

/**
 * Reads the `package.json` in a tarball.
 *
 * @throws {Error} if the tarball holds none.
 */
// deno-lint-ignore no-explicit-any
export async function manifestOf(tarball: string): Promise<any> {
  const unpacked = await run("tar", ["-xzOf", tarball, "package/package.json"]);
  if (unpacked.code !== 0) throw new Error(`Cannot read package.json in ${tarball}: ${outputOf(unpacked)}`);
  return JSON.parse(unpacked.stdout);
}
