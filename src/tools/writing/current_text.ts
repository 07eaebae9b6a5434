import { decodeContent } from "../output.ts";
import { locate, openFile, readAll } from "../sandbox_path.ts";
import { ToolFailure } from "../tool.ts";

/** Larger files are not shown as text, in bytes. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The text of a file of the workspace, for a preview of its change.
 *
 * @throws {ToolFailure} if it cannot be opened, is too large or binary.
 */
export async function currentText(root: string, path: string): Promise<string> {
  const file = openFile(root, locate(root, path));
  try {
    const bytes = await readAll(file, { maxBytes: MAX_BYTES });
    if (typeof bytes === "string") throw new ToolFailure(`Cannot show the change: the file is ${bytes}`);
    return decodeContent(bytes).text;
  } finally {
    file.close();
  }
}
