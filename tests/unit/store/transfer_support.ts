/**
 * Support for the tests of exports: a session in memory as lines, and an import of any lines at all.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { sha256Hex } from "../../../src/domain/hash.ts";
import type { SessionId } from "../../../src/domain/ids.ts";
import type { Ports } from "../../../src/domain/ports.ts";
import { exportSession } from "../../../src/store/transfer/export.ts";
import type { Home } from "../../../src/store/home.ts";
import { importSession } from "../../../src/store/transfer/import.ts";
import { ID, testPorts } from "./support.ts";

/** The lines of an export, each without its newline. */
export function exported(
  home: Home,
  options: { readonly id?: SessionId; readonly redact?: boolean } = {},
): string[] {
  const { id = ID, redact = false } = options;
  const { chunks } = exportSession(testPorts(), home, { id, redact });
  return Buffer.concat([...chunks]).toString().split("\n").slice(0, -1);
}

/** Bytes that come in pieces of `size`. */
export function* pieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Imports a text. */
export async function imported(
  home: Home,
  text: string,
  options: { readonly dryRun?: boolean; readonly ports?: Ports; readonly size?: number } = {},
) {
  const { dryRun = false, ports = testPorts(), size = 64 * 1024 } = options;
  const source = pieces(new TextEncoder().encode(text), size);
  return await importSession(ports, home, { source, name: "x.jsonl", dryRun });
}

/** Lines as a file, with an end that fits them, so that what is wrong is what a test made wrong. */
export function sealedLines(lines: readonly string[]): string {
  const body = lines.map((line) => `${line}\n`).join("");
  return `${body}${JSON.stringify({ end: true, sha256: sha256Hex(body) })}\n`;
}
