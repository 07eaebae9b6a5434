/** Recorded streams of both APIs as SSE bytes, one entry for each response, and errors. */
import { interactionsIn, recordingNames, recordingText } from "./recordings.ts";

/** One recorded response. */
export interface RecordedStream {
  readonly api: "responses" | "messages";
  /** The recording, and if it holds several responses its number from 1: `responses/web_search.yaml#2`. */
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

/** Members of a recording in JSON that hold streams: the network's chunks, or exchanges. */
interface JsonRecording {
  readonly chunks?: readonly { readonly b64: string }[];
  readonly exchanges?: readonly {
    readonly response: { readonly body: { readonly type: string; readonly value: string } };
  }[];
  readonly error?: { readonly code?: string };
}

const encoder = new TextEncoder();

/** Every recorded stream. Only recordings that may hold streams are parsed: all cassettes would take a second. */
export function recordedStreams(): RecordedStream[] {
  return recordingNames("responses", "messages").filter(mayStream).flatMap((name) =>
    (["responses", "messages"] as const).flatMap((api) => {
      const texts = textsIn(name, api);
      return texts.map((text, index) => ({
        api,
        name: texts.length === 1 ? name : `${name}#${index + 1}`,
        bytes: encoder.encode(text),
      }));
    })
  );
}

function mayStream(name: string): boolean {
  if (name.endsWith(".json")) return /^ *"(?:chunks|exchanges)":/m.test(recordingText(name));
  return !name.endsWith(".yaml") || /\/responses[^]*text\/event-stream|\/messages/.test(recordingText(name));
}

/** Every recorded error body. */
export function recordedErrors(): RecordedError[] {
  const names = recordingNames("responses", "messages");
  const bare = names.filter((name) => name.endsWith(".json")).flatMap((name) => {
    const body = recordingText(name);
    const { error } = JSON.parse(body) as JsonRecording;
    if (!error) return [];
    const status = error.code === "insufficient_quota" ? 429 : 400;
    return [{ name, status, headers: new Headers({ "content-type": "application/json" }), body }];
  });
  const refusing = names.filter((name) =>
    name.endsWith(".yaml") && /code: [45]\d\d/.test(recordingText(name))
  );
  const fromCassettes = refusing.flatMap((name) =>
    interactionsIn(name).flatMap(({ response }) => {
      const status = response.status?.code ?? 200;
      if (status < 400) return [];
      const body = response.body?.string ?? JSON.stringify(response.parsed_body);
      const type = response.headers?.["content-type"]?.[0] ?? "application/json";
      return [{ name, status, headers: new Headers({ "content-type": type }), body: String(body) }];
    })
  );
  return [...bare, ...fromCassettes];
}

/** The lines of a list of events, as the stream that they were. */
function framedLines(lines: string): string {
  return lines.split("\n").filter((line) => line !== "").map((line) => `data: ${line}\n\n`).join("");
}

function textsIn(name: string, api: string): string[] {
  if (name.endsWith(".yaml")) {
    return interactionsIn(name)
      .filter(({ request, response: { headers, body } }) =>
        request.uri.includes(`/${api}`) && body?.string !== undefined &&
        (api === "messages" || headers?.["content-type"]?.[0]?.startsWith("text/event-stream") === true)
      )
      .map(({ response }) => String(response.body?.string));
  }
  if (!name.startsWith(`${api}/`)) return [];
  if (name.endsWith(".sse")) return [recordingText(name)];
  if (name.endsWith(".json")) return textsInJson(JSON.parse(recordingText(name)));
  // One recording may hold the responses of a whole tool loop.
  return recordingText(name).split(/\n(?=\{"type":"response\.created")/).map(framedLines);
}

function textsInJson({ chunks, exchanges = [] }: JsonRecording): string[] {
  const bodies = exchanges.map(({ response }) => response.body).filter(({ type }) => type === "text");
  const pieces = chunks?.map(({ b64 }) => atob(b64)).join("");
  const bytes = Uint8Array.from(pieces ?? "", (character) => character.charCodeAt(0));
  return [...bodies.map(({ value }) => value), ...pieces ? [new TextDecoder().decode(bytes)] : []];
}
