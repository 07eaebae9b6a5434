/**
 * What a run may do: by default reading, beyond that what its flags say, and nothing that a session's files say. Calls
 * run in a scratch copy of the workspace, so that each result shows what was done.
 *
 * @module
 */
import { edit, EVERYTHING, read, shellArgv, shellLine, write } from "../../tests/support/calls.ts";
import { answer, reasoning } from "../../tests/support/responses_server.ts";
import { httpError } from "../../tests/support/responses_server/faults.ts";
import type { ScriptedItem } from "../../tests/support/responses_server/script.ts";
import { HELLO } from "./ends.ts";
import { goOn, type Scenario, type ScenarioStep } from "./scenario.ts";

const WORKSPACE = { "a.txt": "alpha\nbeta\n" };
const COMPLETED = { exit: 0, state: "completed" } as const;

/** The first run, with these flags. */
function starting(...flags: readonly string[]): readonly string[] {
  return ["run", "--new", "-s", "s", "--instructions", "Be brief.", ...flags, "Go"];
}

/** A run that makes these calls, then answers. */
function making(args: readonly string[], calls: readonly ScriptedItem[]): ScenarioStep {
  return { args, answers: [answer([reasoning("Hm"), ...calls]), HELLO], ...COMPLETED };
}

/** A run that only answers: its request shows which tools it offers. */
function offering(...flags: readonly string[]): ScenarioStep {
  return { args: goOn(...flags, "Again"), answers: [HELLO], ...COMPLETED };
}

/** A session whose first run has these flags and makes these calls. */
function posture(
  name: string,
  note: string,
  flags: readonly string[],
  calls: readonly ScriptedItem[],
  ...further: readonly ScenarioStep[]
): Scenario {
  const steps = [making(starting(...flags), calls), ...further];
  return { name, note, workspace: WORKSPACE, runsTools: true, steps };
}

const WRITES_AND_EDITS = [
  write("new.txt", "x"),
  write("secret/new.txt", "x"),
  edit("a.txt", "alpha", "ALPHA"),
];
const ECHOES = [
  "echo hi",
  "echo hi; touch x",
  "echo hi && touch x",
  "echo $(touch x)",
  "echo hi >x",
  "echo `touch x`",
  "echo hi\ntouch x",
].map((line) => shellLine(line));

/** Them. */
export const PERMISSIONS: readonly Scenario[] = [
  posture(
    "allow-nothing",
    "Writing, editing and commands are not offered and are denied where nothing allows them; reading is allowed",
    [],
    [...EVERYTHING, read("a.txt")],
  ),
  posture("allow-group", "--allow takes a group of tools", ["--allow", "write"], EVERYTHING),
  posture("allow-tool", "--allow takes one tool", ["--allow", "edit_file"], EVERYTHING),
  posture("allow-list", "--allow takes a list with commas", ["--allow", "write,shell"], EVERYTHING),
  posture(
    "allow-patterns",
    "--allow may come again, with patterns of paths and of commands",
    ["--allow", "write:src/**", "--allow", "shell:true"],
    [write("src/deep/new.txt", "x"), write("new.txt", "x"), shellArgv("true"), shellArgv("true", "x")],
  ),
  posture(
    "allow-with-colon",
    "A value with a colon is one pattern, whatever commas it holds",
    ["--allow", "shell:echo a,write"],
    [shellLine("echo a,write"), shellLine("echo a"), write("new.txt", "x")],
  ),
  posture(
    "allow-no-operators",
    "A command line with operators matches no pattern, not even one of its parts",
    ["--allow", "shell:echo **"],
    ECHOES,
  ),
  posture(
    "deny-wins",
    "--deny wins over --allow, whatever the order",
    ["--deny", "edit_file", "--deny", "write:secret/**", "--allow", "write"],
    WRITES_AND_EDITS,
  ),
  posture(
    "deny-reading",
    "Reading is denied too; a denied group is not offered",
    ["--deny", "read:a.txt"],
    [read("a.txt")],
    offering("--deny", "read"),
  ),
  posture(
    "deny-unclear",
    "A denied command cannot hide in a line that only a shell understands",
    ["--allow", "shell", "--deny", "shell:touch **"],
    [shellLine("touch x"), shellLine("true && touch x"), shellArgv("sh", "-c", "touch x"), shellLine("true")],
  ),
  posture(
    "ask-nobody",
    "--ask is a denial where nobody can be asked; what is denied anyway is not offered",
    ["--ask"],
    EVERYTHING,
    offering("--ask", "--deny", "shell"),
  ),
  posture(
    "fail-on-denied-unused",
    "--fail-on-denied is nothing where nothing is denied",
    ["--fail-on-denied"],
    [read("a.txt")],
  ),
  posture(
    "allow-ends-with-run",
    "What one run was allowed is denied in the next, which has no flags",
    ["--allow", "write,shell"],
    EVERYTHING,
    making(goOn("Again"), EVERYTHING),
  ),
  posture(
    "deny-stays",
    "What was denied once stays denied in every later run, whatever that allows",
    ["--deny", "shell:touch **", "--deny", "edit_file"],
    EVERYTHING,
    making(goOn("Again"), EVERYTHING),
    making(goOn("--allow", "write,shell", "Again"), EVERYTHING),
    making(goOn("--allow", "write,shell", "Once more"), EVERYTHING),
  ),
  {
    name: "allow-not-continued",
    note: "What a run was allowed does not carry over to the run that goes on with it",
    workspace: WORKSPACE,
    steps: [
      {
        args: starting("--allow", "shell"),
        answers: [httpError(400, { message: "Not now" })],
        exit: 13,
        state: "failed",
      },
      { args: goOn(), answers: [answer([reasoning("Hm"), ...EVERYTHING]), HELLO], ...COMPLETED },
    ],
  },
];
