/**
 * Work in one directory of the workspace that nobody can lead elsewhere meanwhile.
 *
 * No check of a path holds until the path is used: a link may come into it in between. So the process steps into
 * the directory, asks the kernel where it is (`getcwd` names the directory itself, whatever way led there), and
 * then uses bare names only. These start at the directory that was checked, even when its path leads elsewhere
 * by now. All of it is synchronous, so that no other code of ours runs in a foreign working directory.
 *
 * Bare names reach the kernel unchanged only with `--allow-all`, which the binary is compiled with. With fewer
 * permissions Deno puts the path of the working directory in front of each name. A process that
 * exchanges that path for a link in those microseconds leads the write outside.
 *
 * @module
 */
import { join } from "node:path";
import { ToolFailure } from "../tool.ts";
import { refusal } from "./write_target.ts";

/** Which directory, and how failures name what is done in it. */
export interface InsideOptions {
  /** The workspace, canonical. */
  readonly root: string;
  /** Names of the directories that lead there from the workspace. */
  readonly directories: readonly string[];
  /** Makes the directories that are missing. */
  readonly create: boolean;
  /** The path that messages show. */
  readonly shown: string;
}

/**
 * Runs `body` with the directory as working directory, and steps back. `body` uses bare names.
 *
 * @throws {ToolFailure} when a link is in the way, a directory is missing or may not be entered.
 */
export function insideDirectory<T>(options: InsideOptions, body: () => T): T {
  const { root, directories, create, shown } = options;
  const before = workingDirectory();
  try {
    enter(root, root, shown);
    let place = root;
    for (const name of directories) {
      place = join(place, name);
      if (create) makeDirectory(name, shown);
      enter(name, place, shown);
    }
    return body();
  } finally {
    // Where the process was may be gone; the workspace is as good a place to be.
    if (before === null || !tryTo(() => Deno.chdir(before))) tryTo(() => Deno.chdir(root));
  }
}

/** Steps into `name` and makes sure that the kernel agrees on where that is. */
function enter(name: string, place: string, shown: string): void {
  if (!tryTo(() => Deno.chdir(name))) throw refusal(shown, "a directory on the way cannot be entered");
  if (workingDirectory() !== place) {
    throw refusal(shown, "a directory on the way changed while it was opened, or is a symbolic link");
  }
}

function makeDirectory(name: string, shown: string): void {
  try {
    Deno.mkdirSync(name);
  } catch (error) {
    // mkdir follows no link at its end; what is there already is judged by entering it.
    if (!(error instanceof Deno.errors.AlreadyExists)) throw asRefusal(error, shown);
  }
}

/** An error of the system as a refusal that names no absolute path. */
export function asRefusal(error: unknown, shown: string): ToolFailure {
  if (error instanceof ToolFailure) return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "EACCES":
    case "EPERM":
      return refusal(shown, "permission denied");
    case "ENOSPC":
    case "EDQUOT":
      return refusal(shown, "no space is left on the disk");
    case "EROFS":
      return refusal(shown, "the file system is read-only");
    case "ENAMETOOLONG":
      return refusal(shown, "a name in it is too long");
    default:
      return refusal(shown, `it changed meanwhile, or the system refused (${String(code ?? "no code")})`);
  }
}

function workingDirectory(): string | null {
  try {
    return Deno.cwd();
  } catch {
    return null;
  }
}

function tryTo(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
