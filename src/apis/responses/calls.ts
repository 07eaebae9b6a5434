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

/** Members with the arguments of a call that the client runs, by type, as a JSON text, free text or an object. */
const ARGUMENTS: ReadonlyMap<string, { readonly name: string; readonly as: "json" | "text" | "object" }> =
  new Map([
    ["function_call", { name: "arguments", as: "json" }],
    ["custom_tool_call", { name: "input", as: "text" }],
    ["local_shell_call", { name: "action", as: "object" }],
    ["shell_call", { name: "action", as: "object" }],
    ["apply_patch_call", { name: "operation", as: "object" }],
  ]);

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
  const { name, as } = ARGUMENTS.get(stringMember(item, "type") ?? "") ?? {};
  if (name === undefined) return item;
  const value = item[name];
  if (as === "object") return isJsonObject(value) ? withMember(item, name, changedJson(value, change)) : item;
  return typeof value === "string" ? withMember(item, name, change(value, as === "json")) : item;
}
