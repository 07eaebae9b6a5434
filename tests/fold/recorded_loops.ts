/**
 * Recorded tool loops: each request's input beside what the response before it brought.
 *
 * @module
 */
import { parse as parseYaml } from "yaml";
import type { Item } from "../../src/domain/event.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/domain/json.ts";
import { openaiResponses } from "../../src/provider/openai/dialect.ts";
import { readSse } from "../../src/transport/sse.ts";
import { RECORDINGS } from "../provider/openai/recorded_streams.ts";

/** One request of a loop and its answer. */
export interface RecordedStep {
  readonly body: JsonObject;
  readonly status: number;
  /** The items of the response; none where it was refused. */
  readonly items: readonly Item[];
  /** The parsed body of an answer that is not a stream. */
  readonly answer: JsonValue;
}

/** The steps of one recording, in order. */
export async function recordedLoop(file: string): Promise<RecordedStep[]> {
  const { interactions } = parseYaml(Deno.readTextFileSync(`${RECORDINGS}/${file}`)) as {
    readonly interactions: readonly { readonly request: JsonObject; readonly response: JsonObject }[];
  };
  return await Promise.all(interactions.map(async ({ request, response }, index) => {
    const status = isJsonObject(response.status) ? Number(response.status.code) : 0;
    const text = isJsonObject(response.body) ? String(response.body.string) : "";
    const streamed = text.startsWith("event: ");
    const answer = streamed ? null : response.parsed_body ?? decoded(file, index);
    const output = isJsonObject(answer) && Array.isArray(answer.output) ? answer.output as Item[] : [];
    return { body: bodyOf(request), status, answer, items: streamed ? await itemsOf(text) : output };
  }));
}

function bodyOf({ parsed_body: parsed, body }: JsonObject): JsonObject {
  if (isJsonObject(parsed)) return parsed;
  return JSON.parse(isJsonObject(body) ? String(body.string) : String(body));
}

/** Bodies that were recorded compressed lie beside their recording in plain text. */
function decoded(file: string, index: number): JsonValue {
  const bodies = JSON.parse(Deno.readTextFileSync(`${RECORDINGS}/${file}.decoded.json`));
  return bodies[index].response.body;
}

async function itemsOf(text: string): Promise<Item[]> {
  const assembler = openaiResponses.newAssembler();
  const items: Item[] = [];
  for await (const batch of readSse(ReadableStream.from([new TextEncoder().encode(text)]))) {
    for (const event of batch) {
      for (const update of assembler.feed(event)) if (update.kind === "item") items.push(update.item);
    }
  }
  return items;
}
