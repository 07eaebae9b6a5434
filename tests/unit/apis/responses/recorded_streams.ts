/**
 * The real streams beside the project, as SSE bytes: one entry for each response.
 *
 * @module
 */
import { parse as parseYaml } from "yaml";

/** Folder of the recordings, from the project's root. */
export const RECORDINGS = "../shared/recordings";

/** False where the folder is absent: tests that need it are ignored then. */
export const HAS_RECORDINGS = isDirectory(RECORDINGS);

/** One recorded response. */
export interface RecordedStream {
  /** File, and where it holds several responses its number from 1: `llm/a.yaml#2`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** One recorded answer that is not 2xx. */
export interface RecordedError {
  readonly name: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

interface Cassette {
  readonly interactions: readonly {
    readonly request: { readonly uri: string };
    readonly response: {
      readonly status?: { readonly code: number };
      readonly headers?: Record<string, string[]>;
      readonly body?: { readonly string?: string };
      readonly parsed_body?: unknown;
    };
  }[];
}

const encoder = new TextEncoder();

/**
 * Recordings of the Responses and Messages APIs, as paths below {@linkcode RECORDINGS}. Those of Chat
 * Completions, in `chat/`, have tests of their own.
 */
export function recordingFiles(): string[] {
  return [...Deno.readDirSync(RECORDINGS)].filter((entry) => entry.isDirectory && entry.name !== "chat")
    .flatMap((folder) =>
      [...Deno.readDirSync(`${RECORDINGS}/${folder.name}`)].map((file) => `${folder.name}/${file.name}`)
    ).sort();
}

/** Every recorded stream of an API that speaks Responses. */
export function recordedStreams(): RecordedStream[] {
  return recordingFiles().flatMap((file) => {
    const streams = streamsOf(file);
    return streams.map((text, index) => ({
      name: streams.length === 1 ? file : `${file}#${index + 1}`,
      bytes: encoder.encode(text),
    }));
  });
}

/** Every recorded error body. */
export function recordedErrors(): RecordedError[] {
  const bare = recordingFiles()
    .filter((file) => /^vercel-ai\/.*error.*\.json$/.test(file))
    .map((file) => ({
      name: file,
      status: file.endsWith("openai-error.1.json") ? 429 : 400,
      headers: new Headers({ "content-type": "application/json" }),
      body: read(file),
    }));
  const fromCassettes = recordingFiles().filter((file) => file.endsWith(".yaml")).flatMap((file) =>
    cassette(file).interactions.flatMap(({ response }) => {
      const status = response.status?.code ?? 200;
      if (status < 400) return [];
      const body = response.body?.string ?? JSON.stringify(response.parsed_body);
      const type = response.headers?.["content-type"]?.[0] ?? "application/json";
      return [{ name: file, status, headers: new Headers({ "content-type": type }), body }];
    })
  );
  return [...bare, ...fromCassettes];
}

function streamsOf(file: string): string[] {
  if (/anthropic|spliced-message-start/.test(file)) return [];
  if (file.endsWith(".sse")) return [read(file)];
  if (file.endsWith(".yaml")) {
    return cassette(file).interactions
      .filter(({ request, response }) =>
        request.uri.includes("/responses") && isEventStream(response.headers)
      )
      .map(({ response }) => response.body?.string ?? "");
  }
  if (file.endsWith("codex-stream-tool.json")) return gatewayStreams(file);
  if (!file.endsWith(".chunks.txt")) return [];
  // One file may hold the responses of a whole tool loop.
  return read(file).split(/\n(?=\{"type":"response\.created")/).map((lines) =>
    lines.split("\n").filter((line) => line !== "").map((line) => `data: ${line}\n\n`).join("")
  );
}

function gatewayStreams(file: string): string[] {
  const { exchanges } = JSON.parse(read(file)) as {
    readonly exchanges: readonly { readonly response: { readonly body: { type: string; value: string } } }[];
  };
  return exchanges.filter(({ response }) => response.body.type === "text").map(({ response }) =>
    response.body.value
  );
}

function isEventStream(headers: Record<string, string[]> | undefined): boolean {
  return headers?.["content-type"]?.[0]?.startsWith("text/event-stream") ?? false;
}

function read(file: string): string {
  return Deno.readTextFileSync(`${RECORDINGS}/${file}`);
}

function cassette(file: string): Cassette {
  return parseYaml(read(file)) as Cassette;
}

function isDirectory(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
