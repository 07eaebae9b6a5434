/** Recorded sessions with Anthropic: what our fold sends where the recorded client sent its own history. */
import assert from "node:assert/strict";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { assertDifferences, type Difference, foldedBeside, recordedLoop, without } from "./recorded_loops.ts";

const DIFFERENCES = {
  /** `is_error: false` on a result; we say it of errors only. */
  no_error: { theirs: (message) => mapBlocks(message, (block) => [without(block, "is_error")]) },
  /** Thoughts of another provider's model, as text of the assistant; we leave them out. */
  foreign_thinking: {
    theirs: (message) =>
      mapBlocks(message, (block) => String(block.text).startsWith("<thinking>") ? [] : [block]),
  },
} satisfies Record<string, Difference>;

/** Each recorded session with exactly the differences that its client makes, and its number of requests. */
const LOOPS: readonly (readonly [string, number, readonly (keyof typeof DIFFERENCES)[]])[] = [
  ["messages/redacted.yaml", 2, []],
  ["messages/tool_loop.yaml", 2, ["no_error"]],
  ["messages/other_model.yaml", 1, ["foreign_thinking"]],
  ["messages/stream.yaml", 1, []],
];

for (const [file, requests, differences] of LOOPS) {
  Deno.test(`the fold of the responses of ${file} gives the recorded Messages request`, async () => {
    const steps = await recordedLoop(file);
    const folded = foldedBeside(steps);
    const pairs = folded.filter((_, index) => steps[index]?.provider === "anthropic");
    assert.equal(pairs.length, requests);
    assertDifferences(pairs, DIFFERENCES, differences);
  });
}

function mapBlocks(message: JsonObject, map: (block: JsonObject) => readonly JsonObject[]): JsonObject {
  if (!Array.isArray(message.content)) return message;
  return { ...message, content: message.content.filter(isJsonObject).flatMap(map) };
}
