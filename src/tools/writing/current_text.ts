import { concatBytes } from "../../domain/bytes.ts";
import { decodeContent, isBinary } from "../output.ts";
import { locate, openFile } from "../sandbox_path.ts";
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
    const chunks: Uint8Array[] = [];
    const buffer = new Uint8Array(64 * 1024);
    for (let total = 0;;) {
      const length = await file.read(buffer);
      if (length === 0) break;
      total += length;
      if (total > MAX_BYTES) throw new ToolFailure("Cannot show the change: the file is too large");
      chunks.push(buffer.slice(0, length));
    }
    const bytes = concatBytes(chunks);
    if (isBinary(bytes)) throw new ToolFailure("Cannot show the change: the file is binary");
    return decodeContent(bytes).text;
  } finally {
    file.close();
  }
}
