/**
 * Terminal of a user in the rehearsal: prints each command with its time, and ends the rehearsal if the command does
 * not do what is expected.
 *
 * @module
 */
import { dirname, resolve } from "node:path";
import { RepriseError } from "../../src/domain/errors.ts";
import { type Block, blocksOf } from "../../tests/support/page.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Longer than any command takes, also with a slow registry. */
const HANGS_AFTER_S = 240;

/** Outcome that a command must have, and its origin. */
export interface Expected {
  /** Page of the docs that has this command, with other names of files or tests if `command` says so. */
  readonly page?: string;
  /** The command in the page. @default {the command that runs} */
  readonly documented?: string;
  /** @default {0} */
  readonly code?: number;
  /** Texts that stdout or stderr must contain. */
  readonly prints?: readonly (string | RegExp)[];
}

/** Terminal with a working directory and an environment. */
export class UserTerminal {
  readonly #env: Record<string, string>;
  readonly #say: (line: string) => void;
  #directory: string;
  #totalMs = 0;
  #commands = 0;

  /**
   * @param env The whole environment of the commands.
   * @param say Prints a line.
   */
  constructor(directory: string, env: Readonly<Record<string, string>>, say: (line: string) => void) {
    this.#directory = directory;
    this.#env = { ...env };
    this.#say = say;
  }

  /** Time of all commands, in milliseconds. */
  get totalMs(): number {
    return this.#totalMs;
  }

  /** Number of commands that ran. */
  get commands(): number {
    return this.#commands;
  }

  /** Prints a comment before the commands that follow it. */
  comment(text: string): void {
    this.#say(`\n# ${text}`);
  }

  /** Prints a comment between two commands. */
  note(text: string): void {
    this.#say(`${MARGIN}  # ${text}`);
  }

  /** Changes the working directory. */
  cd(path: string): void {
    this.#directory = resolve(this.#directory, path);
    this.#print(`cd ${path}`);
  }

  /** Sets variables. The values may use `$PWD` and `$PATH`. */
  export(variables: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(variables)) {
      this.#env[name] = value.replaceAll("$PWD", this.#directory).replaceAll(
        "$PATH",
        this.#env["PATH"] ?? "",
      );
    }
    const words = Object.entries(variables).map(([name, value]) => `${name}="${value}"`);
    this.#print(`export ${words.join(" ")}`);
  }

  /** Unsets variables. */
  unset(...names: readonly string[]): void {
    for (const name of names) delete this.#env[name];
    this.#print(`unset ${names.join(" ")}`);
  }

  /** Writes files of a page of the docs: the blocks that begin with a comment with the file's path. */
  copyFiles(page: string, ...paths: readonly string[]): void {
    const blocks = blocksOf(Deno.readTextFileSync(`${ROOT}${page}`));
    for (const path of paths) {
      const block = blocks.find((candidate: Block) => candidate.path === path);
      if (block === undefined) throw unexpected(`${page} has no file ${path}`);
      this.write(path, block.text, page);
    }
  }

  /** Writes a file, whose text is from `origin`. */
  write(path: string, text: string, origin = "the editor"): void {
    const full = resolve(this.#directory, path);
    Deno.mkdirSync(dirname(full), { recursive: true });
    Deno.writeTextFileSync(full, text);
    this.note(`write ${path}, from ${origin}`);
  }

  /** Replaces a text in a file, as a user does in an editor. */
  edit(path: string, from: string, to: string): void {
    const full = resolve(this.#directory, path);
    const text = Deno.readTextFileSync(full);
    if (!text.includes(from)) throw unexpected(`${path} does not contain ${JSON.stringify(from)}`, text);
    Deno.writeTextFileSync(full, text.replace(from, () => to));
    this.note(`edit ${path}`);
    for (const [sign, part] of [["-", from], ["+", to]] as const) {
      for (const line of part.trimEnd().split("\n")) this.#say(`${MARGIN}  ${sign}${line}`);
    }
  }

  /**
   * Runs a command in a shell.
   *
   * @returns its output, stdout before stderr.
   * @throws {RepriseError} `unexpected` with the output if the command does not do what is expected.
   */
  async run(command: string, expected: Expected = {}): Promise<string> {
    const { code = 0, prints = [], page, documented = command } = expected;
    if (page !== undefined) requireText(page, documented);
    const started = performance.now();
    const finished = await new Deno.Command("timeout", {
      args: ["-k", "5", String(HANGS_AFTER_S), "sh", "-c", command],
      cwd: this.#directory,
      clearEnv: true,
      env: this.#env,
      stdin: "null",
    }).output();
    const elapsedMs = performance.now() - started;
    this.#totalMs += elapsedMs;
    this.#commands++;
    this.#print(command, elapsedMs, finished.code);
    const decoder = new TextDecoder();
    const output = `${decoder.decode(finished.stdout)}${decoder.decode(finished.stderr)}`;
    if (finished.code !== code) {
      throw unexpected(`"${command}" ended with exit code ${finished.code}, not ${code}`, output);
    }
    const missing = prints.find((text) =>
      typeof text === "string" ? !output.includes(text) : !text.test(output)
    );
    if (missing !== undefined) throw unexpected(`"${command}" did not print ${missing}`, output);
    return output;
  }

  #print(command: string, elapsedMs?: number, code = 0): void {
    const time = elapsedMs === undefined ? MARGIN : `${seconds(elapsedMs)} s`.padStart(MARGIN.length);
    this.#say(`${time}  $ ${command}${code === 0 ? "" : `  # exit code ${code}`}`);
  }
}

/** Width of the column with the times. */
const MARGIN = " ".repeat(8);

/** Formats milliseconds as seconds. */
export function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1);
}

/** Returns `text`. @throws {RepriseError} `unexpected` if a page of the docs does not contain it. */
export function requireText(page: string, text: string): string {
  if (Deno.readTextFileSync(`${ROOT}${page}`).includes(text)) return text;
  throw unexpected(`${page} does not contain ${JSON.stringify(text)}`);
}

/** Error of a rehearsal that does not go as expected. */
export function unexpected(message: string, output = ""): RepriseError {
  const shown = output.trimEnd() === "" ? "" : `\n\n${output.trimEnd()}\n`;
  return new RepriseError("unexpected", `The rehearsal failed: ${message}${shown}`);
}
