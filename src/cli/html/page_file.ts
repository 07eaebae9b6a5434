/** Writes pages: to a new file that only its owner can read, or to stdout. */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { RepriseError } from "../../domain/errors.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import { outputFile } from "../output_file.ts";

/**
 * Checks the place for a page; `-` is stdout. `write` returns its path, `null` for stdout, and its length; it throws
 * `storage_*`.
 *
 * @throws {RepriseError} `usage` for stdout beside `--json`, for an existing file without `force`, and for anything that
 * is no regular file.
 */
export function pageFile(
  { ports, output }: { readonly ports: ProgramPorts; readonly output: Output },
  path: string,
  force: boolean,
): { write(html: string): { readonly file: string | null; readonly bytes: number } } {
  if (path === "-") {
    if (output.options.json) {
      throw new RepriseError("usage", "Cannot print a page with --json: stdout would hold two documents", {
        hint: "Give --html a file",
      });
    }
    return {
      write(html) {
        output.text(html);
        return { file: null, bytes: encodeUtf8(html).length };
      },
    };
  }
  const write = outputFile(ports, path, { what: "the page", force });
  return { write: (html) => ({ file: path, bytes: write([encodeUtf8(html)]) }) };
}
