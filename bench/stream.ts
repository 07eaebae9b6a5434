/**
 * Response streams as servers send them: recorded ones, and one made here.
 *
 * @module
 */
import { responsesApi } from "../src/apis/responses/api.ts";
import { readSse } from "../src/transport/sse.ts";
import { recordedStreams } from "../tests/unit/apis/responses/recorded_streams.ts";
import { MODEL } from "./session.ts";

const encoder = new TextEncoder();

/** Several streams one after the other. */
export interface StreamSet {
  /** Description for people. */
  readonly name: string;
  readonly streams: readonly Uint8Array[];
}

/** Every recorded stream that kept its `event:` lines and ends well. */
export async function sampleStreams(): Promise<StreamSet> {
  const streams: Uint8Array[] = [];
  for (const { bytes } of recordedStreams()) {
    if (await endsWell(bytes)) streams.push(bytes);
  }
  return { name: `${streams.length} recorded streams`, streams };
}

/** True for a completed response that says nothing after its terminal event: others would end a whole set. */
async function endsWell(bytes: Uint8Array): Promise<boolean> {
  const assembler = responsesApi.newAssembler();
  let named = true;
  let status: string | undefined;
  let after = false;
  const body = (async function* () {
    yield await Promise.resolve(bytes);
  })();
  for await (const batch of readSse(body)) {
    for (const event of batch) {
      named &&= event.event !== undefined;
      after ||= status !== undefined;
      const last = assembler.feed(event).at(-1);
      if (last?.kind === "finished") status = last.response.status;
    }
  }
  return named && status === "completed" && !after;
}

/** One response of exactly `events` events, at least 12: a reasoning item with a summary, then a message. */
export function syntheticStream(events: number): Uint8Array {
  const frames: string[] = [];
  const add = (type: string, members: object) => {
    const data = JSON.stringify({ type, sequence_number: frames.length, ...members });
    frames.push(`event: ${type}\ndata: ${data}\n\n`);
  };
  const head = { id: "resp_bench", object: "response", created_at: 1795292280, model: MODEL, output: [] };
  add("response.created", { response: { ...head, status: "in_progress" } });
  add("response.in_progress", { response: { ...head, status: "in_progress" } });
  const thought = { id: "rs_bench", type: "reasoning", summary: [], encrypted_content: "gAAAA".repeat(200) };
  add("response.output_item.added", { output_index: 0, item: { ...thought, encrypted_content: "" } });
  add("response.output_item.done", { output_index: 0, item: thought });
  const place = { item_id: "msg_bench", output_index: 1, content_index: 0 };
  const message = { id: "msg_bench", type: "message", role: "assistant", phase: "final_answer" };
  add("response.output_item.added", {
    output_index: 1,
    item: { ...message, status: "in_progress", content: [] },
  });
  add("response.content_part.added", { ...place, part: { type: "output_text", text: "", annotations: [] } });
  let text = "";
  for (let left = events - frames.length - 4; left > 0; left--) {
    const delta = left % 8 === 0 ? "discounted, " : "total ";
    text += delta;
    add("response.output_text.delta", { ...place, delta, logprobs: [] });
  }
  const part = { type: "output_text", text, annotations: [] };
  const done = { ...message, status: "completed", content: [part] };
  add("response.output_text.done", { ...place, text, logprobs: [] });
  add("response.content_part.done", { ...place, part });
  add("response.output_item.done", { output_index: 1, item: done });
  const usage = {
    input_tokens: 812,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 396,
    output_tokens_details: { reasoning_tokens: 64 },
    total_tokens: 1208,
  };
  add("response.completed", { response: { ...head, status: "completed", output: [thought, done], usage } });
  return encoder.encode(frames.join(""));
}
