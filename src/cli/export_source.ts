/** The bytes of an export that an argument names. */
import { RepriseError } from "../domain/errors.ts";
import { chunksOf } from "../store/read/safe_open.ts";
import type { ExportSource } from "../store/transfer/reader.ts";
import type { ProgramPorts } from "./live_ports.ts";
import { isFile, otherKind } from "./settings.ts";

const HINTS = {
  import: 'Name a file of "reprise export ID FILE", a session file of another agent, or "-" for stdin',
  show: 'Name a file of "reprise export ID FILE", or "-" for stdin',
};

/**
 * The bytes of the file at `path`; of stdin for `-`. `does` is the verb, for messages.
 *
 * @throws {RepriseError} `usage` if it is not a regular file, or if stdin is a terminal.
 */
export function exportSource(ports: ProgramPorts, path: string, does: "import" | "show"): ExportSource {
  if (path === "-") {
    if (!ports.stdin.isTerminal()) return ports.stdin.readable;
    throw new RepriseError("usage", `Cannot ${does} from stdin: it is a terminal`, {
      hint: "Name the file, or pipe it in",
    });
  }
  // A link to a file is fine: the user chose it.
  if (isFile(path)) return chunksOf(ports, path);
  const kind = otherKind(path);
  throw new RepriseError(
    "usage",
    `Cannot ${does} ${JSON.stringify(path)}: ${kind === null ? "no such file" : `it is ${kind}, not a file`}`,
    { hint: HINTS[does] },
  );
}
