/**
 * Where a script that starts a server finds out its port.
 *
 * @module
 */
import { replaceFile } from "../fixture/seal.ts";
import { denoFiles } from "../store/deno_files.ts";
import { orFileError } from "../store/fs_errors.ts";
import { absolute } from "./settings.ts";

/**
 * Writes the file, a line with the port: it is there whole or not at all. Disposing removes it, because nobody
 * listens there any more.
 *
 * @throws {ReprError} `storage_…`.
 */
export function writePortFile(path: string, port: number): Disposable {
  const full = absolute(path);
  orFileError("write the port file", full, () => replaceFile(denoFiles, full, `${port}\n`));
  return {
    [Symbol.dispose]() {
      try {
        denoFiles.unlink(full);
      } catch {
        // Gone already, which is what was wanted.
      }
    },
  };
}
