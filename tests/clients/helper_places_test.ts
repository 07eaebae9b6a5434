/**
 * Recordings of tests with the helpers are found wherever the runner was started: in a monorepo at its root, in a package
 * and below it. Recordings of earlier versions, in folders of the working directory, are moved once.
 */
import assert from "node:assert/strict";
import { sha256 } from "../support/files.ts";
import { needing } from "../support/needs.ts";
import { HelperProject, PACKAGES } from "./helper_project.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";

const FETCH = (base: string) =>
  `const answer = await fetch(${base} + "/responses", { method: "POST", headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "gpt-5.6", input: "Hi" }) });
if (!answer.ok) throw new Error(await answer.text());`;

const VITEST = `import { withReplay } from "@reprise-cli/reprise/vitest";
import { test as base } from "vitest";
const test = base.extend({ api: withReplay("fixtures/chat") });
test("asks", async ({ api }) => { ${FETCH("api.openai")} });
`;
const NODE = `import { withReplay } from "@reprise-cli/reprise/node";
import test from "node:test";
test("asks", withReplay("fixtures/chat", async (t, api) => { ${FETCH("api.openai")} }));
`;
const DENO = `import { withReplay } from "@reprise-cli/reprise/deno";
Deno.test({ name: "asks", ...withReplay("fixtures/chat", async (t, api) => { ${FETCH("api.openai")} }) });
`;

/** A runner in a monorepo: its tests, by the folder of the package that they belong to, and commands that run all or one. */
interface Monorepo {
  readonly runner: string;
  readonly files: Readonly<Record<string, string>>;
  /** Test files by the folder with their recordings. */
  readonly tests: Readonly<Record<string, string>>;
  /** Commands, and the folders whose tests they run. */
  readonly commands: readonly (readonly [command: string, ...folders: string[]])[];
}

const MANIFESTS = {
  "package.json": '{ "type": "module", "workspaces": ["packages/*"] }',
  "packages/a/package.json": '{ "name": "a", "type": "module", "scripts": { "test": "vitest run" } }',
  "packages/b/package.json": '{ "name": "b", "type": "module", "scripts": { "test": "vitest run" } }',
};
const CONFIG = 'const reprise = ["@reprise-cli/reprise/vitest"];\n';

const MONOREPOS: readonly Monorepo[] = [
  {
    runner: "vitest with a configuration at the root only",
    files: {
      ...MANIFESTS,
      "vitest.config.js": "export default {};\n",
      "packages/a/tests/a.test.ts": VITEST,
      "packages/b/tests/deep/b.test.ts": VITEST,
    },
    tests: { "packages/a": "packages/a/tests/a.test.ts", "packages/b": "packages/b/tests/deep/b.test.ts" },
    commands: [
      ["npm test -w a", "packages/a"],
      ["cd packages/b && vitest run", "packages/b"],
      ["vitest run", "packages/a", "packages/b"],
      ["cd packages/b/tests && vitest run", "packages/b"],
      ["cd packages && vitest run", "packages/a", "packages/b"],
    ],
  },
  {
    runner: "vitest with projects",
    files: {
      ...MANIFESTS,
      "vitest.config.js":
        `${CONFIG}export default { test: { globalSetup: reprise, projects: ["packages/*", "apps/*"] } };\n`,
      // A project that is no package, and a configuration that is no project.
      "apps/c/vitest.config.js": `${CONFIG}export default { test: { setupFiles: reprise, name: "c" } };\n`,
      "apps/c/c.test.ts": VITEST,
      "packages/a/tests/vitest.config.js": "export default {};\n",
      "packages/a/vitest.config.js": "export default {};\n",
      "packages/a/tests/a.test.ts": VITEST,
    },
    tests: { "packages/a": "packages/a/tests/a.test.ts", "apps/c": "apps/c/c.test.ts" },
    commands: [
      ["vitest run", "packages/a", "apps/c"],
      ["cd apps/c && vitest run", "apps/c"],
      ["cd packages/a && vitest run", "packages/a"],
      ["cd packages/a && vitest run --config tests/vitest.config.js", "packages/a"],
    ],
  },
  {
    runner: "node:test",
    files: { ...MANIFESTS, "packages/a/tests/a.test.mjs": NODE },
    tests: { "packages/a": "packages/a/tests/a.test.mjs" },
    commands: [
      ["cd packages/a && node --test tests/a.test.mjs", "packages/a"],
      ["node --test packages/a/tests/a.test.mjs", "packages/a"],
      ["cd packages/a/tests && node --test a.test.mjs", "packages/a"],
    ],
  },
  {
    runner: "Deno.test",
    files: { ...MANIFESTS, "packages/a/tests/a_test.ts": DENO },
    tests: { "packages/a": "packages/a/tests/a_test.ts" },
    commands: [
      ["cd packages/a && deno test -A --no-check --no-lock tests/a_test.ts", "packages/a"],
      ["deno test -A --no-check --no-lock packages/a/tests/a_test.ts", "packages/a"],
    ],
  },
];

/** Name of the recording of a test whose folder of recordings is in `folder`. */
function nameFrom(folder: string, file: string): string {
  const up = folder === "" ? [] : folder.split("/").map(() => "..");
  const path = file.startsWith(`${folder}/`)
    ? `../../${file.slice(folder.length + 1)}`
    : ["..", "..", ...up, file].join("/");
  return `asks-${sha256(`${path} > asks`).slice(0, 8)}`;
}

for (const { runner, files, tests, commands } of MONOREPOS) {
  Deno.test({
    ...needing(`${runner}: a monorepo finds its recordings from each working directory`, LACKS_AGENTS),
    async fn() {
      await using project = new HelperProject();
      await project.prepare(PACKAGES, [], files);
      const { requests } = project.apis;
      const all = Object.entries(tests);
      const recordings = (folder: string) => Object.keys(project.recordings(`${folder}/fixtures/chat`));
      for (const [command] of commands) await project.passes(command, { REPRISE_RECORD: "new" });
      assert.equal(requests.length, all.length, "a test was recorded twice");
      for (const [folder, file] of all) assert.deepEqual(recordings(folder), [nameFrom(folder, file)]);
      for (const [command] of commands) await project.passes(command);
      for (const [folder] of all) Deno.removeSync(`${project.root}/${folder}/fixtures`, { recursive: true });
      for (const [command, ...folders] of commands) {
        const { code, output } = await project.runs(command);
        assert.notEqual(code, 0, output);
        for (const folder of folders) {
          const path = `${project.root}/${folder}/fixtures/chat/${nameFrom(folder, tests[folder] ?? "")}`;
          assert(output.includes(`no fixture is at "${path}"`), output);
        }
      }
    },
  });
}

Deno.test({
  ...needing("vitest: a recording in a folder of an earlier working directory is moved once", LACKS_AGENTS),
  async fn() {
    await using project = new HelperProject();
    const file = "packages/a/tests/a.test.ts";
    await project.prepare(PACKAGES, [], { ...MANIFESTS, [file]: VITEST });
    await project.passes("cd packages/a && vitest run", { REPRISE_RECORD: "new" });
    const place = (folder: string) => `${project.root}/${folder}fixtures/chat/`;
    const own = place("packages/a/") + nameFrom("packages/a", file);
    for (
      const [folder, old] of [["", nameFrom("", file)], [
        "packages/",
        nameFrom("packages", "a/tests/a.test.ts"),
      ]]
    ) {
      const earlier = place(folder ?? "") + (folder === "" ? old : nameFrom("packages", file));
      Deno.mkdirSync(place(folder ?? ""), { recursive: true });
      Deno.renameSync(own, earlier);
      const moved = `moved ${earlier} to ${own}: `;
      assert((await project.passes("npm test -w a")).includes(moved));
      assert.doesNotMatch(await project.passes("vitest run"), /moved/);
    }
    // The recording of another test of the same name stays where it is.
    const other = place("") + `asks-${sha256("other > asks").slice(0, 8)}`;
    Deno.renameSync(own, other);
    const { code, output } = await project.runs("npm test -w a");
    assert.notEqual(code, 0, output);
    assert.doesNotMatch(output, /moved/);
    // A place that cannot be written is an error that names both.
    Deno.renameSync(other, place("") + nameFrom("", file));
    Deno.removeSync(place("packages/a/"), { recursive: true });
    project.write("packages/a/fixtures/chat", "a file");
    const failed = await project.runs("npm test -w a");
    assert.notEqual(failed.code, 0, failed.output);
    assert.match(
      failed.output,
      /Cannot move the recording ".*\/shop\/fixtures\/chat\/asks-.*" to ".*\/packages\/a\//,
    );
  },
});

Deno.test({
  ...needing(
    "vitest: a session with some of the tests of a folder reports none of its recordings as left",
    LACKS_AGENTS,
  ),
  async fn() {
    await using project = new HelperProject();
    const config = `${CONFIG}export default { test: { setupFiles: reprise, globalSetup: reprise } };\n`;
    await project.prepare(PACKAGES, [], {
      "vitest.config.js": config,
      "unit/a.test.ts": VITEST,
      "end/b.test.ts": VITEST.replaceAll("asks", "asks again"),
    });
    await project.passes("vitest run", { REPRISE_RECORD: "new" });
    for (const part of ["cd unit && vitest run", "vitest run --dir end", "vitest run unit"]) {
      assert.doesNotMatch(await project.passes(part, { REPRISE_RECORD: "prune" }), /no test/);
    }
    assert.equal(Object.keys(project.recordings("fixtures/chat")).length, 2);
    Deno.removeSync(`${project.root}/end`, { recursive: true });
    assert.match(
      await project.passes("vitest run"),
      /^1 recording in \/.*\/fixtures\/chat belongs to no test/m,
    );
  },
});
