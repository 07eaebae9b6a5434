/** Recorded answers of the Messages API: streams as SSE bytes, whole messages as parsed JSON. */
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { type Interaction, interactionsIn, recordingNames, recordingText } from "./recordings.ts";
import { framedLines, type RecordedStream } from "./recorded_streams.ts";

/** One recorded answer that was no stream. */
export interface RecordedMessage {
  readonly name: string;
  readonly message: JsonObject;
}

const encoder = new TextEncoder();

/** Streams of cassettes as they came, and those of lists of events, which have no `event:` lines. */
export function recordedStreams(): RecordedStream[] {
  return recordingNames("messages").flatMap((name) =>
    name.endsWith(".yaml")
      ? answersIn(name).flatMap(({ response: { body } }, index) =>
        body === undefined
          ? []
          : [{ name: `${name}#${index + 1}`, bytes: encoder.encode(String(body.string)) }]
      )
      : [{ name, bytes: encoder.encode(framedLines(recordingText(name))) }]
  );
}

/** Answers of requests without `stream`. */
export function recordedMessages(): RecordedMessage[] {
  return recordingNames("messages").filter((name) => name.endsWith(".yaml")).flatMap((name) =>
    answersIn(name).flatMap(({ response: { parsed_body: message } }, index) =>
      isJsonObject(message) ? [{ name: `${name}#${index + 1}`, message }] : []
    )
  );
}

function answersIn(name: string): Interaction[] {
  return interactionsIn(name).filter(({ request }) => request.uri.includes("/messages"));
}
