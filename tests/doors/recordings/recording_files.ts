/** Recordings on disk, written and read as docs/fixtures.md says, by code that shares nothing with the program. */
import { bytesBelow, type Json, sha256 } from "../../support/files.ts";

/** One exchange as a test gives it. */
export interface GivenExchange {
  /** Members of `request.json`. @default {POST /v1/responses without a body} */
  readonly request?: Readonly<Record<string, Json>> | undefined;
  /** Members of `response.json`. @default {200 and an event stream} */
  readonly response?: Readonly<Record<string, Json>> | undefined;
  readonly body: string | Uint8Array;
  /** Bytes of the request, if its readable body does not restore them. */
  readonly sent?: string;
}

/** Header of the fixtures of tests. */
export const HEADER = {
  format: "reprise.fixture/1",
  created: "2026-11-21T20:18:00.000Z",
  provider: "openai",
  base_url: "https://api.openai.com/v1",
  models: ["gpt-5.6"],
};

/** Writes a file with the folders above it. */
export function write(path: string, content: string | Uint8Array): void {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  if (typeof content === "string") Deno.writeTextFileSync(path, content);
  else Deno.writeFileSync(path, content);
}

/** A value as a file of a fixture holds it. */
export function printed(value: Json): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Paths of the folders of exchanges that `fixture.json` lists, in order, below that of the fixture. */
export function foldersIn(path: string): string[] {
  const { files, order } = headerOf(path);
  if (order !== undefined) return order.map((name: string) => `exchanges/${name}`);
  const folders = new Set(
    Object.keys(files).flatMap((name) => /^exchanges\/[\da-f-]+/.exec(name)?.[0] ?? []),
  );
  return [...folders].sort();
}

/** Path of the folder of an exchange that a test writes, below that of the fixture. */
export function folderOf(number: number): string {
  return `exchanges/${String(number).padStart(4, "0")}`;
}

/** Writes a fixture with its sums; returns its path. */
export function writeFixture(
  path: string,
  exchanges: readonly GivenExchange[],
  header: Readonly<Record<string, Json>> = {},
): string {
  for (const [index, { request, response, body, sent }] of exchanges.entries()) {
    const folder = `${path}/${folderOf(index + 1)}`;
    const sum = sent === undefined ? {} : { body_sha256: sha256(sent) };
    write(
      `${folder}/request.json`,
      printed({ method: "POST", path: "/v1/responses", headers: {}, ...request, ...sum }),
    );
    if (sent !== undefined) write(`${folder}/request.body`, sent);
    const headers = { "content-type": "text/event-stream" };
    write(`${folder}/response.json`, printed({ status: 200, headers, ...response }));
    write(`${folder}/body`, body);
  }
  seal(path, { ...HEADER, ...header });
  return path;
}

/** Writes `fixture.json` with the sums of all files that are there. */
export function seal(path: string, header: Json = headerOf(path)): void {
  Deno.mkdirSync(path, { recursive: true });
  const files = [...bytesBelow(path)].filter(([name]) => isPart(name))
    .map(([name, bytes]) => [name, sha256(bytes)]);
  write(`${path}/fixture.json`, printed({ ...header, files: Object.fromEntries(files) }));
}

/** Edits the text of a file; sums stay. */
export function edit(path: string, change: (text: string) => string): void {
  const before = Deno.readTextFileSync(path);
  const after = change(before);
  if (after === before) throw new Error(`Nothing to change in ${path}`);
  Deno.writeTextFileSync(path, after);
}

/** Members of `fixture.json`. */
export function headerOf(path: string): Json {
  return JSON.parse(Deno.readTextFileSync(`${path}/fixture.json`));
}

/** An exchange as its files show it. */
export interface ReadExchange {
  readonly folder: string;
  readonly request: Json;
  /** Bytes of the request: those of `request.body`, or the body of `request.json` without spaces. */
  readonly sent: string | null;
  readonly response: Json;
  readonly body: Uint8Array;
  readonly text: string;
}

/**
 * Reads the exchanges of a fixture.
 *
 * @throws {Error} if a sum is wrong, a file is missing or not listed, or a request has another sum than its bytes.
 */
export function exchangesOf(path: string): ReadExchange[] {
  const { files } = headerOf(path);
  const found = bytesBelow(path);
  for (const name of new Set([...Object.keys(files), ...[...found.keys()].filter(isPart)])) {
    const bytes = found.get(name);
    if (bytes === undefined || sha256(bytes) !== files[name]) {
      throw new Error(`${path}/${name} is not sealed`);
    }
  }
  const decoder = new TextDecoder();
  const text = (name: string) => decoder.decode(found.get(name));
  return foldersIn(path).map((folder) => {
    const request = JSON.parse(text(`${folder}/request.json`));
    const raw = found.get(`${folder}/request.body`);
    const sent = raw !== undefined
      ? decoder.decode(raw)
      : request.body === undefined
      ? null
      : JSON.stringify(request.body);
    if (typeof request.body_sha256 === "string" && sha256(raw ?? sent ?? "") !== request.body_sha256) {
      throw new Error(`${path}/${folder}: body_sha256 is not that of the request`);
    }
    const response = JSON.parse(text(`${folder}/response.json`));
    return {
      folder,
      request,
      sent,
      response,
      body: found.get(`${folder}/body`) as Uint8Array,
      text: text(`${folder}/body`),
    };
  });
}

/** Returns true if `fixture.json` has to list a file. */
function isPart(name: string): boolean {
  return name !== "fixture.json" && name !== ".gitattributes" && !name.startsWith(".recording/");
}
