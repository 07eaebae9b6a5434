/** Pages of `ListObjectsV2`. */
import { decodeUtf8Leniently } from "../domain/bytes.ts";
import type { ListedObject } from "./object_store.ts";

/** An object with its whole key. */
type PageEntry = Omit<ListedObject, "isReachable"> & {
  /** False if the key is no text: then it is as the page spells it. */
  readonly isText: boolean;
};

/** Most objects of a page: S3 sends 1,000. */
const MOST_OBJECTS = 10_000;

/**
 * Parses a page that was requested with `encoding-type=url`, in which texts have no markup but entities. `null` if it is
 * no such page. Time is proportional to the length.
 */
export function parseListing(bytes: Uint8Array): {
  readonly objects: readonly PageEntry[];
  /** The token of the next page; `null` for the last one. */
  readonly next: string | null;
} | null {
  const xml = decodeUtf8Leniently(bytes);
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.trimEnd().endsWith("</ListBucketResult>")) return null;
  const objects: PageEntry[] = [];
  for (let start = xml.indexOf(OPEN); start !== -1; start = xml.indexOf(OPEN, start)) {
    const end = xml.indexOf(CLOSE, start);
    if (end === -1 || objects.length === MOST_OBJECTS) return null;
    const entry = xml.slice(start + OPEN.length, end);
    start = end;
    const [key, size] = [textOf(entry, "Key"), textOf(entry, "Size")];
    if (key === null || size === null || !/^\d+$/.test(size)) return null;
    const decoded = urlDecoded(key);
    const modified = Date.parse(textOf(entry, "LastModified") ?? "");
    objects.push({
      key: decoded ?? key,
      isText: decoded !== null,
      size: Number(size),
      modified: Number.isNaN(modified) ? null : modified,
    });
  }
  if (textOf(xml, "IsTruncated") !== "true") return { objects, next: null };
  const next = textOf(xml, "NextContinuationToken");
  return next === null ? null : { objects, next };
}

const [OPEN, CLOSE] = ["<Contents>", "</Contents>"];

function textOf(xml: string, name: string): string | null {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return text === undefined
    ? null
    : text.replace(/&(amp|lt|gt|quot|apos|#\d+|#x[0-9a-f]+);/gi, (_, name) => entity(name));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function entity(name: string): string {
  if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? "";
  const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

function urlDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", "%20"));
  } catch {
    return null;
  }
}
