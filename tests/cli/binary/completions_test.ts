/** Completions in real shells, each in a terminal of tmux. */
import assert from "node:assert/strict";
import { lacksProgram, needing } from "../../support/needs.ts";
import { Sandbox, SHELL_PROGRAM } from "../../support/reprise.ts";

const SHELLS = {
  bash: { start: "bash --norc --noprofile", load: "source" },
  zsh: { start: "zsh -f", load: "autoload -Uz compinit && compinit -u -D; setopt no_beep; source" },
  fish: { start: "fish --no-config", load: "source" },
};
type Shell = keyof typeof SHELLS;

/** A shell in a terminal of 100 columns, with the completions loaded. */
class Terminal implements AsyncDisposable {
  readonly #sandbox: Sandbox;
  readonly #socket: string;

  private constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    this.#socket = `${sandbox.directory}/tmux`;
  }

  static async open(sandbox: Sandbox, shell: Shell): Promise<Terminal> {
    const terminal = new Terminal(sandbox);
    const { stdout, code } = await sandbox.call(["completions", shell]);
    assert.equal(code, 0);
    Deno.writeTextFileSync(`${sandbox.directory}/script`, stdout);
    Deno.mkdirSync(`${sandbox.directory}/bin`);
    const program = `#!/bin/sh\nexec ${SHELL_PROGRAM} "$@"\n`;
    Deno.writeTextFileSync(`${sandbox.directory}/bin/reprise`, program, { mode: 0o755 });
    const size = ["-x", "100", "-y", "40"];
    await terminal.#tmux("-f", "/dev/null", "new-session", "-d", ...size, SHELLS[shell].start);
    await terminal.type(`${SHELLS[shell].load} ${sandbox.directory}/script; echo load''ed`, "Enter");
    await terminal.shows(/^loaded/m);
    return terminal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tmux("kill-server");
  }

  /** Types text, then presses keys. */
  async type(text: string, ...keys: string[]): Promise<void> {
    if (text !== "") await this.#tmux("send-keys", "-l", text);
    for (const key of keys) await this.#tmux("send-keys", key);
  }

  /** Completes a command line on an empty screen; waits until the screen matches. */
  async completes(line: string, expected: RegExp): Promise<void> {
    await this.#clear();
    await this.type(line, "Tab");
    for (let tries = 0; !expected.test(await this.#screen()); tries++) {
      assert.ok(tries < 1000, `${line}: ${expected} in\n${await this.#screen()}`);
      // bash lists what is ambiguous after a second Tab; some shells swallow keys that come early.
      if (tries % 20 === 5) await this.type("", "Tab");
      // A busy shell may take the C-c of before only now, and then completes an empty line.
      if (tries % 60 === 59) {
        await this.#clear();
        await this.type(line, "Tab");
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Leaves the line and empties the screen. A shell that still completes swallows keys. */
  async #clear(): Promise<void> {
    for (let tries = 0; tries === 0 || (await this.#screen()).trim().includes("reprise"); tries++) {
      assert.ok(tries < 1000, await this.#screen());
      // An answer for bash, which asks before it lists very much.
      await this.type("n", "C-c", "C-l");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Waits until the screen matches. */
  async shows(expected: RegExp): Promise<void> {
    for (let tries = 0; !expected.test(await this.#screen()); tries++) {
      assert.ok(tries < 1000, `${expected} in\n${await this.#screen()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  #screen(): Promise<string> {
    return this.#tmux("capture-pane", "-p");
  }

  async #tmux(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await new Deno.Command("tmux", {
      args: ["-S", this.#socket, ...args],
      cwd: this.#sandbox.workspace,
      clearEnv: true,
      env: {
        ...this.#sandbox.environment(),
        PATH: `${this.#sandbox.directory}/bin:/usr/bin:/bin`,
        TERM: "xterm",
        LC_ALL: "C.UTF-8",
        PS1: "$ ",
      },
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  }
}

for (const shell of ["bash", "zsh", "fish"] as const) {
  Deno.test(
    needing(`${shell} completes verbs, flags, values, sessions and folders`, lacksProgram("tmux", shell)),
    async () => {
      await using sandbox = new Sandbox();
      for (const id of ["fix-ci-7k2m", "fix-docs-3abc", "other-9xyz"]) {
        Deno.mkdirSync(`${sandbox.home}/sessions/${id}`, { recursive: true });
      }
      Deno.mkdirSync(`${sandbox.directory}/elsewhere/sessions/far-1abc`, { recursive: true });
      Deno.mkdirSync(`${sandbox.workspace}/tapes/chat`, { recursive: true });
      await using terminal = await Terminal.open(sandbox, shell);
      await terminal.completes("reprise omi", /reprise omit\b/);
      await terminal.completes("reprise run --max-st", /--max-steps\b/);
      await terminal.completes("reprise show fix-", /fix-ci-7k2m\s+(?:\S+\s+)?fix-docs-3abc/);
      await terminal.completes("reprise run -s oth", /-s other-9xyz\b/);
      await terminal.completes(`reprise --home ${sandbox.directory}/elsewhere show fa`, /show far-1abc\b/);
      await terminal.completes("reprise fixture se", /fixture seal\b/);
      await terminal.completes("reprise fixture show tap", /show tapes\//);
      await terminal.completes("reprise serve tapes -- mkf", /-- mkfifo\b/);
      await terminal.completes("reprise completions fi", /completions fish\b/);
    },
  );
}
