/** The recipe of docs/guarantees.md keeps an allowed command inside the workspace. */
import assert from "node:assert/strict";
import { ApiProject } from "../../support/api_project.ts";
import { existsSync } from "node:fs";
import { lacksBinary, lacksCommand, needing } from "../../support/needs.ts";
import { SHELL_PROGRAM } from "../../support/reprise.ts";
import { answer, message, reasoning, type Script } from "../../support/scripted_api/responses.ts";
import { functionCall } from "../../support/scripted_api/responses_script.ts";

/** Writes a file in the workspace, one beside it, and one where the others of the home are. */
const COMMAND = { command: 'touch inside ../beside "$HOME/.profile"', argv: null, timeout_seconds: null };

const model: Script = ({ input }) =>
  input.at(-1)?.role === "user"
    ? answer([reasoning(), functionCall("shell", COMMAND)])
    : answer([message("It is done.")]);

Deno.test({
  ...needing(
    "in the sandbox of docs/guarantees.md a command writes in the workspace only, and the session stays",
    lacksBinary(),
    await lacksCommand(["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"], "bubblewrap does not work"),
  ),
  async fn() {
    await using project = new ApiProject(model);
    // The program is outside the home, which the sandbox empties.
    project.write("tools/reprise", `#!/bin/sh\nexec ${SHELL_PROGRAM} "$@"\n`);
    Deno.chmodSync(`${project.workspace}/tools/reprise`, 0o755);
    project.path = `${project.workspace}/tools:${project.path}`;
    project.env.REPRISE_MODEL = "gpt-5.6";
    await project.runPage("docs/guarantees.md");
    assert.ok(existsSync(`${project.workspace}/inside`));
    for (const path of ["beside", ".profile"]) assert.ok(!existsSync(`${project.directory}/${path}`), path);
    const { code, output } = await project.shell("reprise ls --state completed --json && reprise fsck --all");
    assert.equal(code, 0, output);
    assert.match(output, /"title":"Fix the failing test"/);
  },
});
