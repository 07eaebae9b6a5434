/** Directories of one run of the command: its own temporary directory, and with flags its own copy and home. */
import type { Ports } from "../../domain/ports.ts";
import { orFileError } from "../../store/fs_errors.ts";
import type { CertifyFlags } from "./command.ts";

type PlaceFlags = Pick<CertifyFlags, "copy" | "home" | "answer" | "effects">;

export interface Place extends Disposable {
  /** Working directory. */
  readonly directory: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that would lead out of the fresh home. */
  readonly without: readonly string[];
  /** Reads the files of answer and effects. */
  results(): { readonly answer: string; readonly effects: number };
}

const XDG_HOMES = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];

/** True if two runs at a time would write the same files. */
export function isShared({ copy, answer, effects }: PlaceFlags): boolean {
  return [answer, effects].some((path) => path !== undefined && (copy === undefined || path.startsWith("/")));
}

/**
 * Creates the directories; disposing removes them.
 *
 * @throws {RepriseError} `storage_…`, also if there is no directory to copy.
 */
export function openPlace(ports: Pick<Ports, "workingDirectory">, flags: PlaceFlags): Place {
  const { copy, home, answer, effects } = flags;
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-certify-" }));
  const directory = copy === undefined ? ports.workingDirectory() : `${root}/copy`;
  const variables: Record<string, string> = { TMPDIR: `${root}/tmp` };
  Deno.mkdirSync(`${root}/tmp`);
  try {
    if (copy !== undefined) orFileError("copy the working directory", copy, () => copyTree(copy, directory));
    if (home === true) {
      // Beside the copy: an agent that lists its files must find those of the recording.
      variables.HOME = `${root}/home`;
      Deno.mkdirSync(variables.HOME);
    }
  } catch (error) {
    Deno.removeSync(root, { recursive: true });
    throw error;
  }
  const readFile = (path: string | undefined) =>
    fileAt(path?.startsWith("/") === false ? `${directory}/${path}` : path);
  const before = { answer: readFile(answer), effects: readFile(effects) };
  return {
    directory,
    variables,
    without: home === true ? XDG_HOMES : [],
    results() {
      const said = readFile(answer);
      return {
        answer: said.text === before.answer.text && said.changed === before.answer.changed ? "" : said.text,
        effects: linesIn(readFile(effects).text) - linesIn(before.effects.text),
      };
    },
    [Symbol.dispose]() {
      try {
        Deno.removeSync(root, { recursive: true });
      } catch {
        // A process that left its group may still write there.
      }
    },
  };
}

function copyTree(from: string, to: string): void {
  Deno.mkdirSync(to);
  for (const { name, isSymlink, isDirectory } of Deno.readDirSync(from)) {
    const [source, target] = [`${from}/${name}`, `${to}/${name}`];
    if (isSymlink) Deno.symlinkSync(Deno.readLinkSync(source), target);
    else if (isDirectory) copyTree(source, target);
    else Deno.copyFileSync(source, target);
  }
}

/** Returns the content of a file and the time of its last change; empty for no file. */
function fileAt(path: string | undefined): { readonly text: string; readonly changed: number } {
  if (path === undefined) return { text: "", changed: 0 };
  return orFileError("read a file of the command", path, () => {
    try {
      return { text: Deno.readTextFileSync(path), changed: Deno.statSync(path).mtime?.getTime() ?? 0 };
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return { text: "", changed: 0 };
      throw error;
    }
  });
}

function linesIn(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "").length;
}
