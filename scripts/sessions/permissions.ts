/**
 * Permissions of a run: reading by default, more by its flags, and nothing by a session's files.
 * Calls run in a scratch copy of the workspace, so that each result shows what was done.
 * tests/unit/cli/run/permissions_test.ts has a row for each way to allow and deny.
 *
 * @module
 */
import { EVERYTHING, shellArgv, write } from "../../tests/support/calls.ts";
import { answer, reasoning } from "../../tests/support/responses_server.ts";
import type { ScriptedItem } from "../../tests/support/responses_server/script.ts";
import { COMPLETED, HELLO, START, type Story, type StoryStep } from "./story.ts";

const WORKSPACE = { "a.txt": "alpha\nbeta\n" };

/** A run that makes these calls, then answers. */
function calling(args: readonly string[], calls: readonly ScriptedItem[] = EVERYTHING): StoryStep {
  return { args, answers: [answer([reasoning("Hm"), ...calls]), HELLO], ...COMPLETED };
}

function again(...flags: readonly string[]): readonly string[] {
  return ["run", "-s", "s", ...flags, "Again"];
}

/** The stories. */
export const PERMISSIONS: readonly Story[] = [
  {
    name: "allow",
    note: "What --allow matches runs, in this run only: the next one has no flags and changes nothing",
    workspace: WORKSPACE,
    runsTools: true,
    steps: [
      calling([...START, "--allow", "write:src/**", "--allow", "shell:true", "Go"], [
        write("src/deep/new.txt", "x"),
        write("new.txt", "x"),
        shellArgv("true"),
        shellArgv("true", "x"),
      ]),
      calling(again()),
    ],
  },
  {
    name: "deny",
    note: "What one run denied stays denied in the next, whatever that allows",
    workspace: WORKSPACE,
    runsTools: true,
    steps: [
      calling([...START, "--deny", "shell:touch **", "--deny", "edit_file", "Go"]),
      calling(again("--allow", "write,shell")),
    ],
  },
];
