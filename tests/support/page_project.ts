/**
 * A reader's project, in which the blocks of a page of the docs run in order.
 *
 * A block whose first line is a comment with a path is that file. A `sh` block is a script, which ends with 0 or with the
 * code in its comment `# exit code N`. A `text` block is what the last script printed; a line `…` replaces any lines, and
 * lines of programs that print at once may change places. A `diff` block is an edit of the file that its line `+++ PATH`
 * names. Blocks in other languages are only shown.
 *
 * `REPRISE_UPDATE_PAGES=1` writes the present output into the `text` blocks without `…`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { type Block, blocksOf } from "./page.ts";
import { reasonNotToRun } from "./pages.ts";
import { Sandbox, SHELL_PROGRAM } from "./reprise.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const UPDATES = Deno.env.get("REPRISE_UPDATE_PAGES") === "1";

/** Far longer than any script takes. */
const SCRIPT_TIMEOUT_MS = 100_000;

/** Result of a script. */
export interface ScriptResult {
  readonly code: number;
  /** stdout and stderr, as a terminal shows them. */
  readonly output: string;
}

/** Parts of a page's run that a test chooses. */
export interface PageOptions {
  /** Called after a block that is a file was written. */
  readonly file?: (block: Block) => Promise<void>;
  /** Returns variables of one script. */
  readonly env?: (
    script: string,
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** False if blocks of text are no output. @default {true} */
  readonly shows?: boolean;
}

/** Project of a reader, with `reprise` on the `PATH`. */
export class PageProject extends Sandbox {
  /** Variables of every script. */
  readonly env: Record<string, string> = {};
  /** Directories of programs after `bin/` and `tools/`. */
  path = "/usr/bin:/bin";
  /** Origins of loopback servers, with the origin that the pages show instead. */
  readonly origins = new Map<string, string>();

  constructor() {
    super();
    this.program("bin/reprise", `#!/bin/sh\nexec ${SHELL_PROGRAM} "$@"\n`);
    Deno.mkdirSync(`${this.directory}/tools`);
  }

  /** Writes a file of the project. */
  write(path: string, text: string): void {
    this.#write(`work/${path}`, text);
  }

  /** Writes an executable file below the sandbox's directory, such as `tools/pytest`. */
  program(path: string, text: string): void {
    this.#write(path, text);
    Deno.chmodSync(`${this.directory}/${path}`, 0o755);
  }

  #write(path: string, text: string): void {
    const full = `${this.directory}/${path}`;
    Deno.mkdirSync(dirname(full), { recursive: true });
    Deno.writeTextFileSync(full, text);
  }

  /** Runs a script in the project. It ends with its first command that fails, as a job's shell does. */
  async shell(
    script: string,
    env: Readonly<Record<string, string>> = {},
    path = `${this.directory}/bin`,
  ): Promise<ScriptResult> {
    // A file tells where a line ends, as a terminal does.
    const file = Deno.makeTempFileSync({ dir: this.directory });
    const child = new Deno.Command("sh", {
      args: ["-e", "-c", `exec >>"$0" 2>&1\n${script}`, file],
      cwd: this.workspace,
      clearEnv: true,
      env: {
        ...this.environment(),
        GIT_CONFIG_NOSYSTEM: "1",
        PYTHONDONTWRITEBYTECODE: "1",
        NO_COLOR: "1",
        TZ: "UTC",
        ...this.env,
        ...env,
        PATH: `${path}:${this.directory}/tools:${this.path}`,
      },
      stdin: "null",
      stdout: "inherit",
      stderr: "inherit",
      detached: true,
    }).spawn();
    // Ends a script that waits in vain, with all that it started.
    const timer = setTimeout(() => Deno.kill(-child.pid, "SIGKILL"), SCRIPT_TIMEOUT_MS);
    const { code } = await child.status.finally(() => clearTimeout(timer));
    return { code, output: Deno.readTextFileSync(file) };
  }

  /**
   * Runs the blocks of a page, in order, but those of {@linkcode reasonNotToRun}.
   *
   * @param name its path, such as `docs/ci.md`.
   * @returns what each block of commands printed.
   */
  async runPage(name: string, options: PageOptions = {}): Promise<readonly string[]> {
    const page = Deno.readTextFileSync(`${ROOT}${name}`);
    const lines = page.split("\n");
    // From the last to the first when applied, so that lines keep their numbers.
    const updates: (readonly [block: Block, output: string])[] = [];
    const all: string[] = [];
    let printed: string | null = null;
    for (const block of blocksOf(page)) {
      const { language, text, line, path } = block;
      const where = `${name}:${line}`;
      if (path !== null) {
        this.write(path, text);
        await options.file?.(block);
      } else if (language === "sh") {
        printed = null;
        if (reasonNotToRun(name, text) !== null) continue;
        const { code, output } = await this.shell(text, await options.env?.(text));
        const expected = Number(/# exit code (\d+)/.exec(text)?.[1] ?? 0);
        assert.equal(code, expected, `${where}: ${text}${output}`);
        printed = output;
        all.push(output);
      } else if (language === "text" && printed !== null && options.shows !== false) {
        assert.match(text, /[^…\s]|^$/, `${where}: shows nothing`);
        const [shown, output] = [text, printed].map((each) => this.#comparable(each)) as [string, string];
        if (shows(shown, output)) continue;
        const isWhole = !/^…$/m.test(text);
        if (!UPDATES || !isWhole) assert.equal(output, shown, `${where}: the output differs`);
        updates.push([block, output]);
      } else if (language === "diff") {
        this.#edit(text, where);
      }
    }
    for (const [{ line, text }, output] of updates.reverse()) {
      lines.splice(line - 1, text.split("\n").length - 1, ...output.split("\n").slice(0, -1));
    }
    if (updates.length > 0) Deno.writeTextFileSync(`${ROOT}${name}`, lines.join("\n"));
    return all;
  }

  /** Applies a `diff` block: its removed lines are one piece of the file, and its added lines replace them. */
  #edit(diff: string, where: string): void {
    const lines = diff.trimEnd().split("\n");
    const path = lines.find((line) => line.startsWith("+++ "))?.slice(4);
    assert.ok(path !== undefined, `${where}: the diff has no line +++ PATH`);
    const part = (sign: string) =>
      lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3)))
        .map((line) => `${line.slice(1)}\n`).join("");
    const file = `${this.workspace}/${path}`;
    const before = Deno.readTextFileSync(file);
    assert.ok(before.includes(part("-")), `${where}: nothing to change in ${path}`);
    Deno.writeTextFileSync(file, before.replace(part("-"), () => part("+")));
  }

  /** Output without what differs from call to call: directories, origins, ports, times and durations. */
  #comparable(text: string): string {
    let plain = text.replaceAll(this.workspace, "/srv/project").replaceAll(this.directory, "/srv");
    for (const [origin, shown] of this.origins) plain = plain.replaceAll(origin, shown);
    const ports: string[] = [];
    return plain
      // Pages show the usual base URL, which no command has to name.
      .replaceAll("OPENAI_BASE_URL=https://api.openai.com/v1 reprise", "reprise")
      .replace(/(?<=\b127\.0\.0\.1:)\d{4,5}\b/g, (port) => {
        if (!ports.includes(port)) ports.push(port);
        return String(4000 + ports.indexOf(port));
      })
      .replace(/\b([a-z]+(?:-[a-z]+){2,})-[0-9a-z]{4}\b/g, "$1-44f4")
      .replace(/\b[0-9a-f]{8}(?:[0-9a-f]{8})?\b/g, (id) => "1f3a9c02b7d45e68".slice(0, id.length))
      .replace(/\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?Z?)?/g, "2026-11-23 09:00")
      .replace(/\b\d\d:\d\d:\d\d\b/g, "09:00:00")
      .replace(/\b\d+(?:\.\d+)?( ?)(ms|s|seconds)\b/g, "1.2$1$2")
      .replace(/[ \t]+$/gm, "");
  }
}

/** True if `output` is `shown`, in which a line `…` replaces any lines. */
function shows(shown: string, output: string): boolean {
  const [expected, printed] = [shown, output].map((text) => text.split("\n").sort()) as [string[], string[]];
  const isWhole = !expected.includes("…");
  return isWhole
    ? expected.join("\n") === printed.join("\n")
    : expected.every((line) => line === "…" || printed.includes(line));
}
