import { functionCall, type ScriptedItem } from "./scripted_api/responses_script.ts";

/** A call of `shell` with one command line. */
export function shellLine(command: string, timeoutSeconds: number | null = null): ScriptedItem {
  return functionCall("shell", { command, argv: null, timeout_seconds: timeoutSeconds });
}

/** A call of `shell` with a program and its arguments. */
export function shellArgv(...argv: readonly string[]): ScriptedItem {
  return functionCall("shell", { command: null, argv, timeout_seconds: null });
}

/** A call of `write_file`. */
export function write(path: string, content: string): ScriptedItem {
  return functionCall("write_file", { path, content });
}

/** A call of `edit_file`. */
export function edit(path: string, oldText: string, newText: string): ScriptedItem {
  return functionCall("edit_file", { path, old_text: oldText, new_text: newText });
}

/** A call of `read_file`. */
export function read(path: string): ScriptedItem {
  return functionCall("read_file", { path, offset: null, limit: null });
}

/** One call of each tool that changes something, all of them possible where `a.txt` holds `alpha`. */
export const EVERYTHING: readonly ScriptedItem[] = [
  write("new.txt", "new"),
  edit("a.txt", "alpha", "ALPHA"),
  shellLine("touch touched"),
];
