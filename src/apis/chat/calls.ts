/** Arguments of calls in answers of Chat Completions (protocol §15). */
import { isJsonObject, type JsonObject, objectMember, plainText, stringMember } from "../../domain/json.ts";
import { type ArgumentsDelta, type CallArguments, changedDeltas, withMember, withObjects } from "../calls.ts";

export const chatCalls: CallArguments = {
  inEvents(events, change) {
    const deltas: ArgumentsDelta[] = [];
    events.forEach((data, index) =>
      argumentsIn(data ?? {}, (call, text) => {
        deltas.push({ index, call, text, isJson: true });
        return text;
      })
    );
    const changed = new Map<number, JsonObject>();
    // A chunk may hold pieces of several calls, so each call has texts of its own.
    for (const [call, pieces] of Map.groupBy(deltas, (delta) => delta.call)) {
      for (const [index, text] of changedDeltas(pieces, change)) {
        const data = changed.get(index) ?? events[index] ?? {};
        changed.set(index, argumentsIn(data, (key, piece) => key === call ? text : piece));
      }
    }
    return changed;
  },
  inDocument: (document, change) => argumentsIn(document, (_call, text) => change(text, true)),
};

/** Replaces the arguments of each call in the `delta` or the `message` of each choice. */
function argumentsIn(data: JsonObject, replace: (call: string, text: string) => string): JsonObject {
  return withObjects(data, "choices", (choice) => {
    const name = isJsonObject(choice.delta) ? "delta" : "message";
    const message = objectMember(choice, name);
    if (message === undefined) return choice;
    return withMember(
      choice,
      name,
      withObjects(message, "tool_calls", (call) => {
        const called = objectMember(call, "function");
        const text = stringMember(called ?? {}, "arguments");
        if (called === undefined || text === undefined) return call;
        const key = `${plainText(choice.index)} ${plainText(call.index ?? call.id)}`;
        return withMember(call, "function", withMember(called, "arguments", replace(key, text)));
      }),
    );
  });
}
