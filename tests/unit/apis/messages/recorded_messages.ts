/**
 * The real Messages traffic beside the project: streams as SSE bytes, whole messages as parsed JSON.
 *
 * @module
 */
import { parse as parseYaml } from "yaml";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../../src/domain/json.ts";
import { RECORDINGS } from "../responses/recorded_streams.ts";

/** One recorded stream. */
export interface RecordedStream {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** One recorded answer that was no stream. */
export interface RecordedMessage {
  readonly name: string;
  readonly message: JsonObject;
}

interface Interaction {
  readonly request: { readonly uri: string };
  readonly response: { readonly body?: { readonly string?: string }; readonly parsed_body?: JsonValue };
}

const encoder = new TextEncoder();

/** Streams of cassettes as they came, and those of `.chunks.txt` files, which have no `event:` lines. */
export function recordedStreams(): RecordedStream[] {
  const chunks = files("vercel-ai").filter((file) => /anthropic|spliced-message-start/.test(file));
  return [
    ...chunks.map((name) => {
      const lines = read(name).split("\n").filter((line) => line !== "");
      return { name, bytes: encoder.encode(lines.map((line) => `data: ${line}\n\n`).join("")) };
    }),
    ...answers().flatMap(({ name, response }) => {
      const text = response.body?.string;
      return text === undefined ? [] : [{ name, bytes: encoder.encode(text) }];
    }),
  ];
}

/** Answers of requests without `stream`. */
export function recordedMessages(): RecordedMessage[] {
  return answers().flatMap(({ name, response }) =>
    isJsonObject(response.parsed_body) ? [{ name, message: response.parsed_body }] : []
  );
}

function answers(): (Pick<Interaction, "response"> & { readonly name: string })[] {
  return files("pydantic-ai").filter((file) => file.includes("anthropic")).flatMap((file) => {
    const { interactions } = parseYaml(read(file)) as { readonly interactions: readonly Interaction[] };
    return interactions.filter(({ request }) => request.uri.includes("/messages"))
      .map(({ response }, index) => ({ name: `${file}#${index + 1}`, response }));
  });
}

function files(folder: string): string[] {
  return [...Deno.readDirSync(`${RECORDINGS}/${folder}`)].map(({ name }) => `${folder}/${name}`).sort();
}

function read(file: string): string {
  return Deno.readTextFileSync(`${RECORDINGS}/${file}`);
}
