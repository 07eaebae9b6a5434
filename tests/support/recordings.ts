/** Recorded traffic to test with: the project's own in tests/recordings, or that of a folder that has their sources. */
import { parse as parseYaml } from "yaml";
import { SELECTION } from "./recording_sources.ts";

/** A request and its answer in a cassette. */
export interface Interaction {
  readonly request: {
    readonly method: string;
    readonly uri: string;
    readonly body?: string | { readonly string?: string };
    // deno-lint-ignore no-explicit-any
    readonly parsed_body?: any;
  };
  readonly response: {
    readonly status?: { readonly code: number };
    readonly headers?: Readonly<Record<string, readonly string[]>>;
    readonly body?: { readonly string?: string | Uint8Array };
    // deno-lint-ignore no-explicit-any
    readonly parsed_body?: any;
  };
}

const OWN = new URL("../recordings", import.meta.url).pathname;

let folder = OWN;
/** File of each recording, below the folder. */
let files: ReadonlyMap<string, string> = filesOf(OWN);
const cassettes = new Map<string, readonly Interaction[]>();

/** Tests with the recordings in another folder from now on; those that the project's own are made from keep their names. */
export function useRecordings(path: string): void {
  folder = path;
  files = namedAsOwn(filesOf(path));
  cassettes.clear();
}

/** Names of the recordings of some APIs, as `responses/azure.yaml`, sorted. */
export function recordingNames(...apis: readonly ("chat" | "messages" | "responses")[]): string[] {
  return [...files.keys()].filter((name) => apis.some((api) => name.startsWith(`${api}/`))).sort();
}

/** The text of a recording. */
export function recordingText(name: string): string {
  return Deno.readTextFileSync(pathOf(name));
}

/** The bytes of a recording. */
export function recordingBytes(name: string): Uint8Array {
  return Deno.readFileSync(pathOf(name));
}

/** The exchanges of a cassette in YAML, parsed once. */
export function interactionsIn(name: string): readonly Interaction[] {
  const known = cassettes.get(name) ??
    parseYaml(recordingText(name), { customTags: ["binary"] }).interactions;
  cassettes.set(name, known);
  return known;
}

function pathOf(name: string): string {
  const file = files.get(name);
  if (file === undefined) throw new Error(`There is no recording ${name}`);
  return `${folder}/${file}`;
}

function filesOf(path: string): Map<string, string> {
  const folders = [...Deno.readDirSync(path)].filter(({ isDirectory }) => isDirectory);
  return new Map(
    folders.flatMap(({ name: folder }) =>
      [...Deno.readDirSync(`${path}/${folder}`)].map(({ name }) =>
        [`${folder}/${name}`, `${folder}/${name}`] as const
      )
    ),
  );
}

function namedAsOwn(sources: ReadonlyMap<string, string>): Map<string, string> {
  const names = new Map(Object.entries(SELECTION).map(([name, source]) => [source, name]));
  return new Map([...sources.values()].flatMap((source) => {
    const name = names.get(source);
    if (name !== undefined) return [[name, source] as const];
    // The same recordings with their codings undone.
    if (source.includes(".decoded.")) return [];
    const api = source.startsWith("chat/") ? "chat" : /anthropic/.test(source) ? "messages" : "responses";
    return [[`${api}/${source}`, source] as const];
  }));
}
