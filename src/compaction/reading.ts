/** Reads names, arguments and text of events for compaction. */
import { attachmentNote } from "../domain/attachment.ts";
import type { Item, SessionEvent, ToolCallEvent } from "../domain/event.ts";
import { callArgumentsOf, callNameOf, messageTextOf } from "../domain/item.ts";
import { isJsonObject, type JsonValue, parsedObject } from "../domain/json.ts";
import { headOf } from "../domain/text.ts";

/** Members of a call's arguments that say what it is about: paths, and what a shell is given. */
const SUBJECTS = ["path", "file", "file_path", "directory", "glob", "pattern", "command", "argv"] as const;
/** The subjects that name a file or a directory. */
const PATHS: readonly string[] = ["path", "file", "file_path", "directory"];

/** Tools of ours that read or change the file that they name. */
const FILE_TOOLS: Readonly<Record<string, "read" | "changed">> = {
  read_file: "read",
  write_file: "changed",
  edit_file: "changed",
};

/** One member of a call's arguments, with its value as text. */
interface Subject {
  readonly name: string;
  readonly text: string;
}

/** The arguments of a call that name its object: paths, and the command of a shell. */
export function callSubjects(call: ToolCallEvent): Subject[] {
  // Models write arguments that are no JSON: such a call has no subject.
  const args = parsedObject(callArgumentsOf(call.item)) ?? {};
  return SUBJECTS.flatMap((name): Subject[] => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value === "string") return [{ name, text: value }];
    return Array.isArray(value) ? [{ name, text: value.map(String).join(" ") }] : [];
  });
}

/** The paths that a call names. */
export function callPaths(call: ToolCallEvent): string[] {
  return callSubjects(call).filter(({ name }) => PATHS.includes(name)).map(({ text }) => text);
}

/** The effect of a call on the file that it names; `null` for other tools. */
export function fileEffect(call: ToolCallEvent): "read" | "changed" | null {
  const name = callNameOf(call.item);
  return Object.hasOwn(FILE_TOOLS, name) ? FILE_TOOLS[name] ?? null : null;
}

/** The words of a message of either side; `null` for every other event. */
export function messageOf(
  event: SessionEvent,
): { readonly role: "user" | "assistant"; readonly text: string } | null {
  if (event.type === "user_message") return { role: "user", text: textOf(event.content) };
  if (event.type === "attachment") return { role: "user", text: attachmentNote(event) };
  if (event.type === "assistant_message") return { role: "assistant", text: messageTextOf(event.item) };
  return null;
}

/** The part of an event that a request sends, as JSON: its item, content or output; `""` for events that are never sent. */
export function payloadText(event: SessionEvent): string {
  switch (event.type) {
    case "user_message":
      return JSON.stringify(event.content);
    case "attachment":
      return attachmentNote(event);
    case "assistant_message":
    case "reasoning":
    case "tool_call":
    case "provider_item":
      return JSON.stringify(event.item);
    case "tool_result":
      return JSON.stringify(event.output);
    default:
      return "";
  }
}

/**
 * Text of the log as data in a text of ours: one line, a JSON string, cut to `length` UTF-16 units at a character,
 * well-formed, and unable to close a tag.
 */
export function quotedText(text: string, length: number): string {
  const whole = text.toWellFormed().replace(/\s+/g, " ").trim();
  const cut = headOf(whole, length);
  return asData(JSON.stringify(cut === whole ? whole : `${cut}…`));
}

/** JSON that cannot close the tag around it. */
export function asData(json: string): string {
  return json.replaceAll("</", "<\\/");
}

function textOf(content: JsonValue | readonly Item[] | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: unknown) => {
    const text = isJsonObject(part) ? part.text ?? part.refusal : undefined;
    return typeof text === "string" ? text : "";
  }).filter((text) => text !== "").join("\n");
}
