/** Reads the files of `--attach`. */
import { mediaTypeOf } from "../../domain/attachment.ts";
import { concatBytes, decodeUtf8Leniently } from "../../domain/bytes.ts";
import { RepriseError } from "../../domain/errors.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { Ports } from "../../domain/ports.ts";
import type { AttachedFile } from "../../run/recover.ts";
import { chunksOf } from "../../store/read/safe_open.ts";
import { absolute, otherKind } from "../settings.ts";

/** Bytes of all files of one prompt: each request holds them in memory as base64. */
const MAX_BYTES = 50 * 1024 * 1024;

const KINDS = "Attach PNG, JPEG, GIF, WebP, PDF or UTF-8 text";

/**
 * Reads files and finds out their types by their content.
 *
 * @throws {RepriseError} `usage` for a file that is missing, special, empty, of another type, or too large.
 */
export function readAttachments(ports: Ports, paths: readonly string[] = []): AttachedFile[] {
  let left = MAX_BYTES;
  return paths.map((path) => {
    const bytes = readFile(ports, path, left);
    left -= bytes.length;
    const mediaType = mediaTypeOf(bytes);
    if (mediaType === null) throw unusable(path, "it is neither an image, a PDF nor UTF-8 text", KINDS);
    if (mediaType === "text/plain" && decodeUtf8Leniently(bytes).trim() === "") {
      throw unusable(path, bytes.length === 0 ? "it is empty" : "it holds only white space", KINDS);
    }
    const name = path.slice(path.lastIndexOf("/") + 1).toWellFormed();
    return { name, mediaType, bytes, sha256: sha256Hex(bytes) };
  });
}

/**
 * Refuses attached files without a prompt: they are part of a message.
 *
 * @throws {RepriseError} `usage`.
 */
export function requirePromptFor(paths: readonly string[] = [], prompt: string | null): void {
  const [first] = paths;
  if (first === undefined || prompt !== null) return;
  throw unusable(first, "there is no prompt to attach it to", 'Add a prompt: reprise run --attach FILE "…"');
}

function readFile(ports: Ports, path: string, limit: number): Uint8Array {
  const full = absolute(ports, path);
  const other = path === "" ? "a directory" : otherKind(full);
  if (other !== null) throw unusable(path, `it is ${other}, not a regular file`, "Give a file");
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (const chunk of chunksOf(ports, full)) {
      chunks.push(chunk.slice());
      size += chunk.length;
      if (size > limit) break;
    }
  } catch (cause) {
    const why = cause instanceof Deno.errors.NotFound ? "there is no such file" : "it cannot be read";
    throw unusable(
      path,
      why,
      "Give a file that exists; its path is relative to the working directory",
      cause,
    );
  }
  if (size <= limit) return concatBytes(chunks);
  throw unusable(
    path,
    `with it, the attached files have more than ${MAX_BYTES} bytes`,
    "Attach less, or name the file in the prompt: tools read files of the workspace",
  );
}

function unusable(path: string, why: string, hint: string, cause?: unknown): RepriseError {
  return new RepriseError("usage", `Cannot attach ${JSON.stringify(path)}: ${why}`, {
    hint,
    ...(cause === undefined ? {} : { cause }),
  });
}
