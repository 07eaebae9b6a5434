/** `--ask`: a question at the terminal about exactly what would run; a denial if there is no terminal to ask on. */
import assert from "node:assert/strict";
import type { ScriptedItem } from "../../support/scripted_api/responses_script.ts";
import { type Called, ending, type Started } from "../../support/reprise.ts";
import { Place, until } from "../harness.ts";
import {
  assertAnswered,
  calling,
  decisions,
  edit,
  eventsOf,
  names,
  NEW_RUN,
  read,
  shellArgv,
  shellLine,
  statuses,
  write,
} from "../changes.ts";

const QUESTION = "Allow? [y]es, [n]o, [a]lways this call, always this [t]ool, [q]uit: ";
const ASKING = ["run", "--ask", "--new", "-s", "s", "Go"];

/** A run on a terminal of its own, and a hand on its keyboard. */
class Terminal {
  readonly #place: Place;
  readonly #run: Started;
  readonly #keys: WritableStreamDefaultWriter<Uint8Array>;

  /** `redirected` is what a shell would append to the command, such as `</dev/null`. */
  constructor(place: Place, args: readonly string[] = ASKING, redirected = "") {
    const { directory } = place.sandbox;
    // `script` takes one line for a shell, so the command goes through a file.
    const before = `trap : INT; stty -a >${directory}/before`;
    const after = `code=$?; stty -a >${directory}/after; exit $code`;
    const file = `${directory}/called`;
    const make =
      `{ echo '${before}'; printf " '%s'" "$@"; echo ' ${redirected}'; echo '${after}'; } >${file}`;
    this.#place = place;
    this.#run = place.start(args, {
      through: ["sh", "-c", `${make}; exec script -qefc 'bash ${file}' /dev/null`, "sh"],
      env: { SHELL: "/bin/sh", NO_COLOR: "1" },
      stdin: "piped",
    });
    this.#keys = this.#run.process.stdin.getWriter();
  }

  /** Types each answer when its question is there; then waits for the end. */
  async answer(...answers: readonly string[]): Promise<Called> {
    for (const [index, answer] of answers.entries()) {
      await this.asked(index + 1);
      await this.type(answer);
    }
    return await this.ended();
  }

  /** Types, whether there is a question or not. */
  type(keys: string): Promise<void> {
    return this.#keys.write(new TextEncoder().encode(keys));
  }

  /** Waits for the question with this number, from 1. */
  asked(times: number): Promise<void> {
    return this.#run.printed(QUESTION, times);
  }

  /** The terminal goes away with the program that holds its other end. */
  async vanish(): Promise<void> {
    this.#run.process.kill("SIGKILL");
    await this.#run.ended();
    await this.#keys.close().catch(() => {});
  }

  async ended(): Promise<Called> {
    const called = await this.#run.ended();
    // The keyboard outlives the program, or went with it.
    await this.#keys.close().catch(() => {});
    const { directory } = this.#place.sandbox;
    const settings = ["before", "after"].map((name) => Deno.readTextFileSync(`${directory}/${name}`));
    assert.ok(settings[0]?.includes("icanon"), "it was a terminal");
    assert.equal(settings[1], settings[0], "the terminal is unchanged");
    return called;
  }
}

function questions(called: Called): number {
  return called.stdout.split(QUESTION).length - 1;
}

/** Calls of a model, the keys that answer the questions, and the decisions that are then on disk. */
interface Row {
  readonly calls: readonly ScriptedItem[];
  readonly flags?: readonly string[];
  readonly keys: readonly string[];
  readonly decisions: readonly string[];
}

const one = (key: string, decision: string): Row => ({
  calls: [shellLine("touch x")],
  keys: [key],
  decisions: [`shell: ${decision === "no" ? "denied" : "allowed"}, asked_${decision}`],
});
const again = (typed: string): Row => ({ ...one("n", "no"), keys: [typed, "n"] });

const ROWS: Readonly<Record<string, Row>> = {
  "y allows one call": one("y", "yes"),
  "n denies it": one("n", "no"),
  "the end of the input denies it": one("\x04", "no"),
  "a pasted text asks again": again("y\ny\ny\n"),
  "an answer of the terminal that ends with y asks again": again("\x1b[?2026;2$y"),
  "a bracketed paste asks again": again("\x1b[200~y\x1b[201~"),
  "reading is not asked about, nor what a rule decides": {
    calls: [read("a.txt"), shellArgv("true"), shellArgv("touch", "x"), edit("a.txt", "alpha", "A")],
    flags: ["--allow", "shell:true", "--deny", "shell:touch **"],
    keys: ["y"],
    decisions: [
      "shell: allowed, allowed_by_rule (shell:true)",
      "shell: denied, denied_by_rule (shell:touch **)",
      "edit_file: allowed, asked_yes",
    ],
  },
  "always is for the same call, and for no other content of a file": {
    calls: [
      ...[shellLine("touch x"), shellLine("touch x"), shellLine("touch y")],
      ...[write("b.txt", "one"), write("b.txt", "two")],
    ],
    keys: ["a", "n", "a", "n"],
    decisions: [
      "shell: allowed, asked_always",
      "shell: allowed, asked_always",
      "shell: denied, asked_no",
      "write_file: allowed, asked_always",
      "write_file: denied, asked_no",
    ],
  },
  // A deny rule for commands cannot tell about lines for a shell; these lines need none.
  "always this tool is for every later call of the tool, except those that a rule denies": {
    calls: [
      shellLine("touch x"),
      shellLine("touch y"),
      shellArgv("rm", "a.txt"),
      edit("a.txt", "alpha", "A"),
    ],
    flags: ["--deny", "shell:rm **"],
    keys: ["t", "n"],
    decisions: [
      "shell: allowed, asked_always_tool",
      "shell: allowed, asked_always_tool",
      "shell: denied, denied_by_rule (shell:rm **)",
      "edit_file: denied, asked_no",
    ],
  },
};

for (const [name, row] of Object.entries(ROWS)) {
  Deno.test(`at a terminal a single key answers: ${name}`, async () => {
    await using place = new Place(calling(...row.calls));
    const called = await new Terminal(place, [...ASKING, ...row.flags ?? []]).answer(...row.keys);
    assert.equal(called.code, 0, called.stdout);
    assert.equal(questions(called), row.keys.length, called.stdout);
    assert.deepEqual(decisions(place), row.decisions);
  });
}

Deno.test("keys typed before a question are no answer to it, and always ends with its run", async () => {
  await using place = new Place(calling(shellLine("touch x"), shellLine("touch y"), shellLine("touch z")));
  const terminal = new Terminal(place);
  await terminal.type("y\n\x04y\ny\n");
  const called = await terminal.answer("a", "n", "n");
  assert.equal(questions(called), 3);
  assert.deepEqual(statuses(place), ["ok", "denied", "denied"]);
  assert.deepEqual(names(place), ["a.txt", "x"]);
  const next = await new Terminal(place, ["run", "-s", "s", "--ask", "Again"]).answer("n", "n", "n");
  assert.equal(questions(next), 3);
});

Deno.test("questions are counted, and show exactly what would run, with nothing in it that a terminal obeys", async () => {
  const line = "rm -rf x \x1b[2K\r# harmless \u202e\u200b\nsecond line";
  const calls = [
    ...[shellLine(line), read("a.txt"), shellArgv("true")],
    ...[shellArgv("touch", "two words", "it's", "$HOME", ""), edit("a.txt", "beta", "B\x07\nC")],
  ];
  await using place = new Place(calling(...calls));
  const called = await new Terminal(place, [...ASKING, "--allow", "shell:true"]).answer("n", "n", "n");
  const shown = called.stdout.replaceAll("\r\n", "\n");
  for (
    const lines of [
      [
        "\n1 of 3: The model wants to run shell:",
        "  │ rm -rf x ␛[2K␍# harmless \\u{202e}\\u{200b}",
        "  │ second line",
        QUESTION,
      ],
      ["2 of 3: The model wants to run shell:", `  │ touch 'two words' 'it'\\''s' '$HOME' ''\n`],
      [
        ...["3 of 3: The model wants to change a.txt (edit_file):", "  │ line 1", "  │   alpha"],
        ...["  │ - beta", "  │ + B␇", "  │ + C"],
      ],
    ]
  ) assert.ok(shown.includes(lines.join("\n")), shown);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(shown, /[\x1b\r\u202e\u200b]/);
});

Deno.test("a question about a long change shows 60 lines of 400 characters, and says how much more there is", async () => {
  const lines = ["x".repeat(500), ...Array.from({ length: 99 }, (_, index) => `${index}`)];
  await using place = new Place(calling(write("b.txt", lines.join("\n"))));
  const { stdout } = await new Terminal(place).answer("n");
  assert.ok(stdout.includes(`+ ${"x".repeat(400)} … 100 more characters`), stdout);
  assert.ok(stdout.includes("+ 58") && !stdout.includes("+ 59"), stdout);
  assert.match(stdout, /… \d+ more lines/);
});

for (
  const [what, key, flag] of [["quit", "q", "--debug"], ["control-c", "\x03", "--fail-on-denied"]] as const
) {
  Deno.test(`${what} at the question ends the run as interrupted, with every call answered, and names how to continue`, async () => {
    await using place = new Place(calling(shellLine("touch x"), shellLine("touch y"), read("a.txt")));
    // A stop is no denial, whatever would follow from one.
    const called = await new Terminal(place, ["run", "--ask", flag, "--new", "-s", "s", "Go"]).answer(key);
    assert.equal(called.code, 130, called.stdout);
    assert.equal(questions(called), 1, "no further question");
    assertClosed(place, 130);
    assert.deepEqual(statuses(place), ["not_run", "not_run", "not_run"]);
    assert.equal(place.server.requests.length, 1);
    assert.match(called.stdout, /continue: reprise run -s s --ask/);
  });
}

Deno.test("with a stdin that is no terminal, the question reads the terminal: a file, a pipe", async () => {
  for (const redirected of ["</dev/null", "< <(echo y; echo y)"]) {
    await using place = new Place(calling(shellLine("touch x"), shellLine("touch y")));
    const called = await new Terminal(place, ASKING, redirected).answer("maybe\n", "n", "y");
    assert.equal(called.code, 0, called.stdout);
    assert.deepEqual(decisions(place), ["shell: denied, asked_no", "shell: allowed, asked_yes"]);
    assert.deepEqual(names(place), ["a.txt", "y"]);
  }
});

Deno.test("a stop at the question ends the run as interrupted, with every call answered: the terminal's window is closed", async () => {
  await using place = new Place(calling(shellLine("touch x"), shellLine("touch y"), read("a.txt")));
  const terminal = new Terminal(place);
  await terminal.asked(1);
  await terminal.vanish();
  await until(() => eventsOf(place, "run_ended").length === 1, "the end of the run");
  // The end of the input may be seen just before the signal: a no, after which the reading call may run.
  assertClosed(place, 129);
});

function assertClosed(place: Place, code: number): void {
  const [ended] = place.sandbox.turns("s").at(-1).events.slice(-1);
  assert.deepEqual([ended.type, ended.state, ended.exit_code], ["run_ended", "interrupted", code]);
  assertAnswered(place);
  assert.deepEqual(names(place), ["a.txt"]);
}

Deno.test("--ask is a denial without a terminal, whatever stdin holds", async () => {
  for (const stdin of [undefined, "y\ny\n"]) {
    await using place = new Place(calling(shellLine("touch x"), edit("a.txt", "alpha", "A")));
    const called = await place.call([...NEW_RUN, "--ask", "Go"], stdin === undefined ? {} : { stdin });
    assert.equal(called.code, 0, called.stdout);
    assert.equal(called.stderr, stdin === undefined ? "" : "stdin: 4 bytes added to the prompt\n");
    assert.ok(!called.stdout.includes("Allow?"));
    assert.deepEqual(decisions(place), ["shell: denied, no_terminal", "edit_file: denied, no_terminal"]);
    assert.equal(ending(called).denials, 2);
    assert.deepEqual(names(place), ["a.txt"]);
  }
});

Deno.test("--ask is a denial without a terminal for stderr", async () => {
  await using place = new Place(calling(shellLine("touch x")));
  const terminal = new Terminal(place, ASKING, "2>/dev/null");
  // Ends for a question that no person sees, so that it fails the test instead of waiting for ever.
  await terminal.type("\x04".repeat(20));
  const called = await terminal.ended();
  assert.equal(called.code, 0, called.stdout);
  assert.ok(!called.stdout.includes("Allow?"), called.stdout);
  assert.deepEqual(decisions(place), ["shell: denied, no_terminal"]);
});
