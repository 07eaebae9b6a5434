import type { Finding, SourceFile } from "./finding.ts";
import { withoutComments } from "./source_text.ts";

const MAX_LINES = 400;
const MAX_MAIN_LINES = 40;

/** Code that uses the terminal or ends the process: only src/cli and main.ts may. */
const TERMINAL = /\bconsole\.|\b(?:Deno|process)\.(?:exit|exitCode|stdin|stdout|stderr)\b/;

/** Writing to a terminal, which only {@linkcode PRINTING_FILES} may. */
const PRINTING = /\bconsole\.|\b(?:Deno|process)\.(?:stdout|stderr)\b/;
/** Hands the streams to the output, which makes all that it prints visible. */
const PRINTING_FILES: ReadonlySet<string> = new Set([
  "src/cli/live_ports.ts",
  // Before the output is loaded.
  "src/cli/start/begin.ts",
]);

/** The rest of what the process has: `test` gives each step its own, so verbs take it from their ports. */
const PROCESS = /\bDeno\.(?:cwd|exit|stdin)\b/;
/** The ports themselves, and what serves until a signal comes: no step of a test does. */
const PROCESS_FILES: ReadonlySet<string> = new Set([
  "src/cli/live_ports.ts",
  "src/cli/serve/server_process.ts",
  "src/cli/start/begin.ts",
  "src/cli/serve/wrapped_command.ts",
]);

/** Reading the environment, which only {@linkcode ENVIRONMENT_FILES} may. */
const ENVIRONMENT = /\b(?:Deno|process)\.env\b/;
/** The list of variables, and the search for secrets, which is about all of them. */
const ENVIRONMENT_FILES: ReadonlySet<string> = new Set(["src/cli/environment.ts"]);

/** Loading code that is not part of the program. */
const FOREIGN_CODE =
  /\b(?:Deno|process)\.dlopen\b|\bcreateRequire\b|\bnode:vm\b|\bnew (?:Function|Worker)\b|\bWebAssembly\./;
/** The first loads the scripts in the executable, the second a function of its own in another thread. */
const FOREIGN_CODE_FILES: ReadonlySet<string> = new Set([
  "src/cli/start/embedded_script.ts",
  "src/store/read_ahead.ts",
]);

/** Folders whose functions give the same value for the same arguments. */
const PURE_FOLDERS = ["src/apis/", "src/compaction/", "src/domain/", "src/fold/"];

/** Calls that make a function depend on more than its arguments. */
const IMPURE =
  /\bDeno\.|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\bcrypto\.(?:randomUUID|getRandomValues)\b|\bfetch\(|\bset(?:Timeout|Interval)\(/;

/** Checks the length of each file: a file is read in one sitting. */
export function checkLength(files: readonly SourceFile[]): Finding[] {
  return files.flatMap((file) => {
    const limit = limitOf(file.path);
    const lines = file.text.split("\n").length - (file.text.endsWith("\n") ? 1 : 0);
    if (limit === null || lines <= limit) return [];
    return [{
      path: file.path,
      line: limit + 1,
      message: `Has ${lines} lines, more than ${limit}: split it by idea`,
    }];
  });
}

function limitOf(path: string): number | null {
  if (path === "main.ts") return MAX_MAIN_LINES;
  return /^(src|tests|scripts|bench|npm)\/.*\.(ts|js|mjs|cjs)$/.test(path) ? MAX_LINES : null;
}

/** Checks that only src/cli prints, reads stdin or exits. */
export function checkTerminal(files: readonly SourceFile[]): Finding[] {
  const inside = files.filter((file) => isSource(file) && !file.path.startsWith("src/cli/"));
  return inside.flatMap((file) =>
    linesMatching(file, TERMINAL, (what) => `Uses "${what}": only src/cli may`)
  );
}

/** Checks that the pure folders reach for no clock, randomness, file or network: those come in as ports. */
export function checkPurity(files: readonly SourceFile[]): Finding[] {
  const pure = files.filter((file) =>
    isSource(file) && PURE_FOLDERS.some((folder) => file.path.startsWith(folder))
  );
  return pure.flatMap((file) =>
    linesMatching(file, IMPURE, (what) => `Uses "${what}" in a pure folder: take it as an argument or a port`)
  );
}

/** Checks that src/cli prints through its output alone, which makes control characters visible on a terminal. */
export function checkPrinting(files: readonly SourceFile[]): Finding[] {
  const message = (what: string) => `Uses "${what}": print with src/cli/output.ts`;
  return files.filter(({ path }) => path.startsWith("src/cli/") && !PRINTING_FILES.has(path))
    .flatMap((file) => linesMatching(file, PRINTING, message));
}

/** Checks that src/cli takes stdin, the working directory and its exit from its ports. */
export function checkProcess(files: readonly SourceFile[]): Finding[] {
  const message = (what: string) => `Uses "${what}": take it from ProgramPorts of src/cli/live_ports.ts`;
  return files.filter(({ path }) => path.startsWith("src/cli/") && !PROCESS_FILES.has(path))
    .flatMap((file) => linesMatching(file, PROCESS, message));
}

/** Checks that only the environment's own module reads variables: it has the list of them. */
export function checkEnvironment(files: readonly SourceFile[]): Finding[] {
  const message = (what: string) =>
    `Uses "${what}": take readVariable of src/cli/environment.ts, or Ports.env`;
  return files.filter((file) => isSource(file) && !ENVIRONMENT_FILES.has(file.path))
    .flatMap((file) => linesMatching(file, ENVIRONMENT, message));
}

/** Checks that no source loads a library or other foreign code: the binary has all permissions, these too. */
export function checkForeignCode(files: readonly SourceFile[]): Finding[] {
  const message = (what: string) => `Uses "${what}": the program loads its own modules only`;
  return files.filter((file) => isSource(file) && !FOREIGN_CODE_FILES.has(file.path))
    .flatMap((file) => linesMatching(file, FOREIGN_CODE, message));
}

function isSource(file: SourceFile): boolean {
  return file.path.startsWith("src/") && file.path.endsWith(".ts");
}

function linesMatching(file: SourceFile, pattern: RegExp, message: (what: string) => string): Finding[] {
  return withoutComments(file.text).split("\n").flatMap((text, index) => {
    const match = pattern.exec(text);
    return match === null ? [] : [{ path: file.path, line: index + 1, message: message(match[0]) }];
  });
}
