import assert from "node:assert/strict";
import type { ToolOutput } from "../../../../src/tools/output.ts";
import { shell } from "../../../../src/tools/shell/shell.ts";
import type { ToolContext } from "../../../../src/tools/tool.ts";
import type { Workspace } from "../workspace.ts";

/** Runs a command line with the tool, in a workspace, with an environment that lets programs be found. */
export function run(
  workspace: Workspace,
  command: string,
  options: Partial<ToolContext> & { readonly seconds?: number } = {},
): Promise<ToolOutput> {
  const { seconds = null, ...context } = options;
  return shell.run(
    { command, argv: null, timeout_seconds: seconds },
    workspace.context({ env: (name) => name === "PATH" ? Deno.env.get("PATH") : undefined, ...context }),
  );
}

/** The process ids that a command wrote into a file of the workspace, one a line. */
export function pidsIn(workspace: Workspace, file: string): number[] {
  return Deno.readTextFileSync(`${workspace.root}/${file}`).trim().split("\n").map(Number)
    // A command that was ended between opening the file and writing to it.
    .filter((pid) => pid > 0);
}

/** Fails when a process of one of the groups still runs; those that wait to be collected do not count. */
export function assertGroupsGone(groups: readonly number[]): void {
  const { stdout } = new Deno.Command("ps", { args: ["-e", "-o", "pgid=,stat=,args="] }).outputSync();
  const alive = new TextDecoder().decode(stdout).split("\n").filter((line) => {
    const [, group, state = ""] = /^\s*(\d+)\s+(\S+)/.exec(line) ?? [];
    return groups.includes(Number(group)) && !state.startsWith("Z");
  });
  assert.deepEqual(alive, []);
}
