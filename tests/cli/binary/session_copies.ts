/** Copies of the recorded sessions in tests/sessions. */
import { write } from "../../doors/recordings/recording_files.ts";
import { bytesBelow } from "../../support/files.ts";

/** Folder of the recorded sessions. */
export const SESSIONS = new URL("../../sessions/", import.meta.url).pathname;

/** Copies all files below a folder. */
export function copyBelow(from: string, to: string): void {
  for (const [name, bytes] of bytesBelow(from)) write(`${to}/${name}`, bytes);
}
