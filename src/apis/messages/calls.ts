/** Arguments of calls in answers of the Messages API (protocol §10). */
import { type JsonObject, objectMember, plainText, stringMember } from "../../domain/json.ts";
import {
  type ArgumentsDelta,
  type CallArguments,
  type ChangeArguments,
  changedDeltas,
  changedJson,
  withMember,
  withObjects,
} from "../calls.ts";

/** Finds the arguments of the client's calls: those of `tool_use` blocks. */
export const messagesCalls: CallArguments = {
  inEvents(events, change) {
    const changed = new Map<number, JsonObject>();
    const deltas: ArgumentsDelta[] = [];
    const calls = new Set<unknown>();
    for (const [index, data] of events.entries()) {
      const block = objectMember(data ?? {}, "content_block");
      if (data === null) continue;
      if (block?.type === "tool_use") {
        calls.add(data.index);
        const next = withMember(data, "content_block", inBlock(block, change));
        if (next !== data) changed.set(index, next);
      }
      const text = stringMember(objectMember(data, "delta") ?? {}, "partial_json");
      if (text === undefined || !calls.has(data.index)) continue;
      deltas.push({ index, call: plainText(data.index), text, isJson: true });
    }
    for (const [index, text] of changedDeltas(deltas, change)) {
      const data = events[index] ?? {};
      changed.set(index, { ...data, delta: { ...objectMember(data, "delta"), partial_json: text } });
    }
    return changed;
  },
  inDocument: (document, change) => withObjects(document, "content", (block) => inBlock(block, change)),
};

function inBlock(block: JsonObject, change: ChangeArguments): JsonObject {
  const input = block.type === "tool_use" ? objectMember(block, "input") : undefined;
  return input === undefined ? block : withMember(block, "input", changedJson(input, change));
}
