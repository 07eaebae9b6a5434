/**
 * Finds a text in what people, models and tools said in a session. Reads every turn file, and parses only those whose bytes
 * may hold the text.
 */
import type { SearchHit, Unsearched } from "../../schemas/inspection.ts";
import { decodeLatin1, decodeUtf8Leniently } from "../../domain/bytes.ts";
import type { SessionId } from "../../domain/ids.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  numberMember,
  objectMember,
  plainText,
  stringMember,
  stringsIn,
} from "../../domain/json.ts";
import type { Ports } from "../../domain/ports.ts";
import { turnFileName } from "../../domain/turn.ts";
import type { Home } from "../home.ts";
import { isBlobName, type SessionPaths, sessionPaths, turnNumbers, turnPath } from "../layout.ts";
import { chunksOf, lookForFile, namesIn } from "./safe_open.ts";
import { openEnvelope, peekTurnFile } from "./turn_file.ts";

/** A text to find, prepared once for all files. Case does not count. */
export class Needle {
  /** The unchanged text. */
  readonly plain: RegExp;
  /** The text as a turn file may hold it: as JSON, or as JSON in a text, such as the arguments of a call. */
  readonly #inJson: RegExp;
  /** ASCII can be found in bytes that are not decoded as UTF-8, which is faster. */
  readonly #isAscii: boolean;
  readonly #length: number;

  constructor(text: string) {
    this.plain = pattern(RegExp.escape(text));
    this.#inJson = pattern([...text].map(inJson).join(""));
    this.#isAscii = /^[\0-\x7f]*$/.test(text);
    this.#length = text.length;
  }

  /** True if a turn file may hold the text. */
  mayBeIn(bytes: Uint8Array): boolean {
    return this.#inJson.test(this.#isAscii ? decodeLatin1(bytes) : decodeUtf8Leniently(bytes));
  }

  /** The text around its first place in a file, which is never whole in memory; `null` if the file lacks it. */
  excerptOf(chunks: Iterable<Uint8Array>): Excerpt | null {
    const decoder = new TextDecoder();
    let text = "";
    for (const chunk of chunks) {
      text += decoder.decode(chunk, { stream: true });
      const match = this.plain.exec(text);
      // What surrounds the place may be in two pieces.
      if (match !== null && text.length > match.index + match[0].length + AFTER) break;
      text = text.slice(Math.max(0, (match?.index ?? text.length - this.#length) - BEFORE - 1));
    }
    return excerpt(text, this.plain);
  }
}

function pattern(source: string): RegExp {
  return new RegExp(source, "iu");
}

/** Characters that no encoder of JSON escapes. */
const PLAIN = /^[A-Za-z0-9 _.,:;-]$/;

/** The pattern of a character in JSON, or in JSON in a text: as it is, or in any of its escapes. */
function inJson(character: string): string {
  if (PLAIN.test(character)) return RegExp.escape(character);
  const escaped = JSON.stringify(character).slice(1, -1);
  const cases = [character, character.toLowerCase(), character.toUpperCase()];
  const codes = [...new Set(cases)].map((each) =>
    each.split("").map((unit) => `\\\\+u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
  );
  const plain = character === "\\" ? "\\\\+" : `\\\\*${RegExp.escape(escaped.replace(/^\\/, ""))}`;
  return `(?:${[plain, ...codes].join("|")})`;
}

/** Searches one session. Damaged turns are reported, not searched. Throws the runtime's errors. */
export function searchSession(
  ports: Ports,
  home: Home,
  { id, needle, isOwn }: {
    readonly id: SessionId;
    readonly needle: Needle;
    /** False for a turn that the named session wrote, and that is searched there. */
    readonly isOwn: (writer: string) => boolean;
  },
): {
  /** In the order of the events. */
  readonly hits: readonly SearchHit[];
  readonly skipped: readonly Unsearched[];
} {
  const paths = sessionPaths(home.sessions, id);
  const skipped: Unsearched[] = [];
  const inBlobs = excerptsOfBlobs(ports, paths, needle);
  const hits = turnNumbers(namesIn(ports, paths.turns)).flatMap((number): SearchHit[] => {
    const read = peekTurnFile(ports, turnPath(paths, number));
    const skip = (why: string) => {
      skipped.push({ path: `turns/${turnFileName(number)}`, why });
      return [];
    };
    if (read.status === "missing") return [];
    if (read.status === "refused") return skip(read.message);
    if (inBlobs.size === 0 && !needle.mayBeIn(read.bytes)) return [];
    const opened = openEnvelope(read.bytes);
    if (opened.status !== "ok") return skip(opened.message);
    const { value } = opened;
    if (!isOwn(plainText(value.session))) return [];
    const events = Array.isArray(value.events)
      ? (value.events as readonly JsonValue[]).filter(isJsonObject)
      : [];
    return events.flatMap((event) => {
      const found = textsOf(event).map((text) => excerpt(text, needle.plain)).find((each) => each !== null) ??
        inBlobs.get(blobOf(event));
      return found === undefined
        ? []
        : [{ turn: number, seq: numberMember(event, "seq") ?? 0, type: plainText(event.type), ...found }];
    });
  });
  return { hits, skipped };
}

/** Blobs that hold the text, with the text around it. */
function excerptsOfBlobs(ports: Ports, paths: SessionPaths, needle: Needle): ReadonlyMap<string, Excerpt> {
  const found = new Map<string, Excerpt>();
  for (const name of namesIn(ports, paths.blobs).filter(isBlobName)) {
    const path = `${paths.blobs}/${name}`;
    if (lookForFile(ports, path).status !== "ok") continue;
    const text = needle.excerptOf(chunksOf(ports, path));
    if (text !== null) found.set(name, text);
  }
  return found;
}

/** The blob with the whole output of an event; `""` without one. */
function blobOf(event: JsonObject): string {
  return stringMember(objectMember(event, "blob") ?? {}, "sha256") ?? "";
}

/** Members with the texts of each kind of event; of any other kind, all members. */
const TEXT_MEMBERS: ReadonlyMap<JsonValue | undefined, readonly string[]> = new Map([
  ["tool_result", ["tool", "output"]],
  ["permission_decision", ["rule"]],
  ["history_compaction", ["summary", "limitations"]],
  ["branch_summary", ["summary"]],
  ["run_ended", ["error"]],
  ["replay_notice", ["error"]],
  ["calls_as_text", ["error"]],
  ["endpoint_notice", ["error"]],
  ["provider_usage", []],
  ["session_fork", []],
  ["compaction_withdrawn", []],
]);

/** Members whose strings are names of a provider, or bytes that only it can read. */
const NO_TEXT: ReadonlySet<string> = new Set([
  "id",
  "call_id",
  "tool_use_id",
  "type",
  "role",
  "status",
  "phase",
  "sha256",
  "encrypted_content",
  "signature",
  "data",
]);

function textsOf(event: JsonObject): string[] {
  const members = TEXT_MEMBERS.get(event.type) ?? Object.keys(event);
  return members.flatMap((name) => NO_TEXT.has(name) ? [] : textsIn(event[name], name));
}

/** The texts in a provider's item. Arguments of a call may be JSON in a text: then its strings count too. */
function textsIn(value: JsonValue | undefined, name: string): string[] {
  const isArguments = name === "arguments" || name === "input";
  if (isArguments && typeof value === "string") return [value, ...stringsIn(parsed(value))];
  if (isArguments) return stringsIn(value);
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap((each) => textsIn(each, name));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([member, each]) => NO_TEXT.has(member) ? [] : textsIn(each, member));
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Characters before and after the found text. */
const BEFORE = 40;
const AFTER = 80;

type Excerpt = Pick<SearchHit, "text" | "at">;

/** The text around the first match, on one line; `null` without one. */
function excerpt(text: string, wanted: RegExp): Excerpt | null {
  const match = wanted.exec(text);
  if (match === null) return null;
  const [from, to] = [match.index, match.index + match[0].length];
  const begin = Math.max(0, from - BEFORE);
  const end = Math.min(text.length, to + AFTER);
  const head = `${begin > 0 ? "…" : ""}${oneLine(text.slice(begin, from)).trimStart()}`;
  const found = oneLine(text.slice(from, to));
  const tail = `${oneLine(text.slice(to, end)).trimEnd()}${end < text.length ? "…" : ""}`;
  return { text: `${head}${found}${tail}`.toWellFormed(), at: [head.length, head.length + found.length] };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}
