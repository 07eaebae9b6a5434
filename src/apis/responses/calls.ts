/** Arguments of calls in answers of the Responses API (protocol §2.1, §3). */
import { isJsonObject, type JsonObject, objectMember, plainText, stringMember } from "../../domain/json.ts";
import {
  type ArgumentsDelta,
  type CallArguments,
  type ChangeArguments,
  changedDeltas,
  changedJson,
  withMember,
  withObjects,
} from "../calls.ts";

/** Members with the arguments of a call that the client runs, by type; those of `OBJECTS` hold an object. */
const TEXTS: Readonly<Record<string, string>> = { function_call: "arguments", custom_tool_call: "input" };
const OBJECTS: Readonly<Record<string, string>> = {
  local_shell_call: "action",
  shell_call: "action",
  apply_patch_call: "operation",
};

/** Events with a piece of the arguments, or with all of them. */
const ARGUMENT_EVENTS = /^response\.(function_call_arguments|custom_tool_call_input)\.(delta|done)$/;

export const responsesCalls: CallArguments = {
  inEvents(events, change) {
    const changed = new Map<number, JsonObject>();
    const deltas: ArgumentsDelta[] = [];
    for (const [index, data] of events.entries()) {
      if (data === null) continue;
      const [, kind, part] = ARGUMENT_EVENTS.exec(stringMember(data, "type") ?? "") ?? [];
      const isJson = kind === "function_call_arguments";
      if (part === "delta") {
        const call = plainText(data.output_index ?? data.item_id);
        deltas.push({ index, call, text: stringMember(data, "delta") ?? "", isJson });
        continue;
      }
      const next = part === "done" ? done(data, isJson, change) : whole(data, change);
      if (next !== data) changed.set(index, next);
    }
    for (const [index, delta] of changedDeltas(deltas, change)) {
      changed.set(index, { ...events[index], delta });
    }
    return changed;
  },
  inDocument: (document, change) => withObjects(document, "output", (item) => inItem(item, change)),
};

function done(data: JsonObject, isJson: boolean, change: ChangeArguments): JsonObject {
  const name = isJson ? "arguments" : "input";
  const text = stringMember(data, name);
  return text === undefined ? data : withMember(data, name, change(text, isJson));
}

function whole(data: JsonObject, change: ChangeArguments): JsonObject {
  const { item } = data;
  if (isJsonObject(item)) return withMember(data, "item", inItem(item, change));
  const response = objectMember(data, "response");
  if (response?.output === undefined) return data;
  return withMember(data, "response", responsesCalls.inDocument(response, change));
}

function inItem(item: JsonObject, change: ChangeArguments): JsonObject {
  const type = stringMember(item, "type") ?? "";
  const name = TEXTS[type];
  const text = name === undefined ? undefined : stringMember(item, name);
  if (name !== undefined && text !== undefined) {
    return withMember(item, name, change(text, type === "function_call"));
  }
  const member = OBJECTS[type];
  const object = member === undefined ? undefined : objectMember(item, member);
  return member === undefined || object === undefined
    ? item
    : withMember(item, member, changedJson(object, change));
}
