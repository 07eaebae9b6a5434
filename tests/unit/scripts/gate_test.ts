import assert from "node:assert/strict";
import { join } from "node:path";
import { hashOfInputs, isUpToDate, writeStamp } from "../../../scripts/binary.ts";
import { V8_FLAGS } from "../../../scripts/compile/build.ts";
import { type EndedSuite, runSuites, tasksIn } from "../../../scripts/gate/suites.ts";
import { closingLine, sum, tallyOfReport, withoutSkips } from "../../../scripts/gate/tally.ts";
import { run } from "../../../scripts/process.ts";

async function withDirectory(use: (root: string) => Promise<void> | void): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "reprise-gate-test-" });
  try {
    await use(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("the report of deno test is counted case by case, steps and skips included", () => {
  const xml = `<testsuites><testsuite name="./a_test.ts">
    <testcase name="passes" classname="./a_test.ts" time="0.1" line="2" col="6">
    </testcase>
    <testcase name="fails" classname="./a_test.ts" time="0.1">
        <failure message="&lt;skipped/&gt;">text &lt;testcase name="no"</failure>
    </testcase>
    <testcase name="skips &gt; a &quot;step&quot;" classname="./a_test.ts" time="0.1">
        <skipped/>
    </testcase>
    <testcase name="self-closed" classname="./a_test.ts" time="0.1"/>
  </testsuite></testsuites>`;
  assert.deepEqual(tallyOfReport(xml), {
    passed: 2,
    failed: ["./a_test.ts: fails"],
    skipped: ['./a_test.ts: skips > a "step"'],
  });
  assert.deepEqual(tallyOfReport(""), { passed: 0, failed: [], skipped: [] });
});

Deno.test("the report that this Deno writes is counted", async () => {
  await withDirectory(async (root) => {
    const source = `
        Deno.test("passes", async (t) => { await t.step("a step", () => {}); });
        Deno.test("fails", () => { throw new Error("<skipped/>"); });
        Deno.test({ name: "is skipped", ignore: true, fn() {} });
      `;
    await Deno.writeTextFile(join(root, "a_test.ts"), source);
    const finished = await run(
      Deno.execPath(),
      ["test", "--no-config", "--no-check", "--junit-path=r.xml", "a_test.ts"],
      {
        cwd: root,
      },
    );
    assert.equal(finished.code, 1);
    const tally = tallyOfReport(await Deno.readTextFile(join(root, "r.xml")));
    assert.deepEqual(tally, {
      passed: 2,
      failed: ["./a_test.ts: fails"],
      skipped: ["./a_test.ts: is skipped"],
    });
  });
});

Deno.test("tallies add up, and where nothing may be skipped a skip is a failure", () => {
  const total = sum([
    { passed: 1, failed: ["c"], skipped: [] },
    { passed: 3, failed: [], skipped: ["a", "b"] },
  ]);
  assert.equal(closingLine(total), "4 passed, 1 failed, 2 skipped");
  assert.equal(closingLine(withoutSkips(total)), "4 passed, 3 failed, 0 skipped");
  assert.deepEqual(withoutSkips(total).failed, ["c", "a", "b"]);
});

/** Runs suites of a project with these tasks and files, one at a time unless `jobs` says otherwise. */
async function suitesOf(
  project: { readonly tasks: Readonly<Record<string, string>>; readonly files?: Record<string, string> },
  names: readonly string[],
  jobs = 1,
): Promise<EndedSuite[]> {
  let ended: EndedSuite[] = [];
  await withDirectory(async (root) => {
    const tasks = Object.entries(project.tasks).map(([name, command]) => [name, { command }]);
    Deno.writeTextFileSync(join(root, "deno.json"), JSON.stringify({ tasks: Object.fromEntries(tasks) }));
    Deno.mkdirSync(join(root, "tests"));
    for (const [name, text] of Object.entries(project.files ?? {})) {
      Deno.writeTextFileSync(join(root, "tests", name), text);
    }
    const reported: EndedSuite[] = [];
    ended = await runSuites(names, { root, jobs, onEnd: (suite) => reported.push(suite) });
    assert.deepEqual(reported, ended);
  });
  return ended;
}

Deno.test("a suite counts its tests, and one that ends badly without a failed test is a failure itself", async () => {
  const test = "deno test --no-check";
  const report = `<testcase name="n" classname="s"/>`;
  const ended = await suitesOf({
    tasks: {
      counts: `${test} tests/counts_test.ts`,
      fails: `${test} tests/fails_test.ts`,
      leaks: `${test} tests/leaks_test.ts`,
      "does not load": `${test} tests/unloadable_test.ts`,
      "has none": `${test} --permit-no-files tests/none`,
      "plays one": `echo '${report}' # reprise test`,
      "plays none": "true reprise test",
      "checks": "true",
      "checks badly": "exit 3",
    },
    files: {
      "counts_test.ts":
        `Deno.test("a", async (t) => { await t.step("b", () => {}); }); Deno.test.ignore("c", () => {});`,
      "fails_test.ts": `Deno.test("a", () => {}); Deno.test("b", () => { throw new Error(); });`,
      "leaks_test.ts": `Deno.test("a", () => { setTimeout(() => {}, 60_000); });`,
      "unloadable_test.ts": `throw new Error();`,
    },
  }, [
    "counts",
    "fails",
    "leaks",
    "does not load",
    "has none",
    "plays one",
    "plays none",
    "checks",
    "checks badly",
    "tests/counts_test.ts",
  ]);
  assert.deepEqual(
    ended.map(({ name, tally }) => [name, tally.passed, tally.failed, tally.skipped.length]),
    [
      ["counts", 2, [], 1],
      ["fails", 1, ["./tests/fails_test.ts: b"], 0],
      ["leaks", 0, ["./tests/leaks_test.ts: a"], 0],
      ["does not load", 0, ["does not load"], 0],
      ["has none", 0, ["has none"], 0],
      ["plays one", 1, [], 0],
      ["plays none", 0, ["plays none"], 0],
      ["checks", 1, [], 0],
      ["checks badly", 0, ["checks badly"], 0],
      ["tests/counts_test.ts", 2, [], 1],
    ],
  );
});

Deno.test("suites run side by side up to the limit, each of them once", async () => {
  // Each waits for a file of the other: alone it would end with an error.
  const meets = (own: string, other: string) =>
    `deno eval "Deno.writeTextFileSync('${own}', ''); for (let i = 0; ; i++) { try { Deno.statSync('${other}'); break; } catch { if (i > 400) Deno.exit(1); } await new Promise((go) => setTimeout(go, 25)); }"`;
  const ended = await suitesOf(
    {
      tasks: { a: meets("a", "b"), b: meets("b", "a"), c: "true" },
    },
    ["a", "b", "c"],
    2,
  );
  assert.equal(closingLine(sum(ended.map(({ tally }) => tally))), "3 passed, 0 failed, 0 skipped");
});

Deno.test("the name of no task is refused before anything runs", async () => {
  await assert.rejects(suitesOf({ tasks: { a: "true" } }, ["a", "b"]), { code: "usage", message: /"b"/ });
});

Deno.test("a binary is up to date until a source, the runtime or the binary itself changes", async () => {
  await withDirectory((root) => {
    for (const folder of ["src/cli", "scripts/compile", "scripts/demo", "fixtures/demo"]) {
      Deno.mkdirSync(join(root, folder), { recursive: true });
    }
    const files = [
      "deno.json",
      "deno.lock",
      "scripts/process.ts",
      "src/cli/main.ts",
      "scripts/compile/a.ts",
    ];
    for (const file of files) Deno.writeTextFileSync(join(root, file), file);
    const binary = join(root, "reprise");
    const stamp = join(root, "stamp");
    Deno.writeTextFileSync(binary, "binary");
    const inputs = hashOfInputs(root, "npm");
    assert.equal(isUpToDate(stamp, inputs, binary), false);
    writeStamp(stamp, inputs, binary);
    assert.equal(isUpToDate(stamp, hashOfInputs(root, "npm"), binary), true);
    assert.equal(isUpToDate(stamp, hashOfInputs(root, "official"), binary), false);
    Deno.writeTextFileSync(join(root, "src/cli/main.ts"), "changed");
    assert.equal(isUpToDate(stamp, hashOfInputs(root, "npm"), binary), false);
    Deno.writeTextFileSync(join(root, "src/cli/main.ts"), "src/cli/main.ts");
    assert.equal(isUpToDate(stamp, hashOfInputs(root, "npm"), binary), true);
    Deno.writeTextFileSync(binary, "another");
    assert.equal(isUpToDate(stamp, inputs, binary), false);
    Deno.removeSync(binary);
    assert.equal(isUpToDate(stamp, inputs, binary), false);
  });
});

Deno.test("a child process sees changed and unset variables, and is ended at its timeout", async () => {
  Deno.env.set("REPRISE_GATE_TEST", "ours");
  try {
    const script = 'console.log(Deno.env.get("REPRISE_GATE_TEST"), Deno.env.get("OTHER"))';
    const args = ["eval", "--no-config", script];
    assert.equal((await run(Deno.execPath(), args)).stdout, "ours undefined\n");
    const env = { REPRISE_GATE_TEST: undefined, OTHER: "set", NO_COLOR: "1" };
    assert.equal((await run(Deno.execPath(), args, { env })).stdout, "undefined set\n");
  } finally {
    Deno.env.delete("REPRISE_GATE_TEST");
  }
  const hung = await run("sleep", ["60"], { timeout: 50 });
  assert.equal(hung.code, 143);
});

const ROOT = new URL("../../../", import.meta.url).pathname;

function testFilesBelow(folder: string): string[] {
  return [...Deno.readDirSync(`${ROOT}${folder}`)].flatMap(({ name, isDirectory }) =>
    isDirectory ? testFilesBelow(`${folder}/${name}`) : name.endsWith("_test.ts") ? [`${folder}/${name}`] : []
  );
}

const TASKS = tasksIn(ROOT);
const SUITES = ["unit", "cli", "slow", "clients", "crash", "remote"];

Deno.test("every test file is run by one suite, and each suite names folders that are there", () => {
  const inTasks = SUITES.flatMap((name) =>
    [...(TASKS[name] ?? "").matchAll(/(?<!--config) (tests\/\S+)/g)].map(([, path = ""]) => path)
  );
  // A batch names the folders below tests/ whose files it loads.
  const inBatches = testFilesBelow("tests/batches").flatMap((batch) =>
    [...Deno.readTextFileSync(`${ROOT}${batch}`).matchAll(/"([\w/]+)"[,)]/g)].map(([, path]) =>
      `tests/${path}`
    )
  );
  assert.ok(inTasks.includes("tests/batches") && inBatches.length > 10);
  const folders = [...inTasks, ...inBatches];
  assert.ok(folders.length >= SUITES.length);
  for (const folder of folders) assert.ok(Deno.statSync(`${ROOT}${folder}`).isDirectory, folder);
  for (const file of testFilesBelow("tests")) {
    assert.equal(folders.filter((folder) => file.startsWith(`${folder}/`)).length, 1, file);
  }
});

Deno.test("a task per suite is a plain command of deno test; those on the binary build it first", () => {
  const { tasks } = JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`));
  for (const name of [...SUITES, "unit-tools", "fuzz", "fuzz-tools", "soak", "sessions"]) {
    const command = TASKS[name] ?? "";
    assert.match(
      command,
      name === "sessions" ? /^dist\/reprise test / : name === "clients" // Nothing else checks their types.
        ? /^(\w+=\S+ )*deno test -A --config tests\/clients\/deno.json /
        : /^(\w+=\S+ )*deno test -A --no-check /,
    );
    assert.deepEqual(
      tasks[name].dependencies,
      command.includes("dist/reprise") ? ["binary"] : undefined,
      name,
    );
  }
});

Deno.test("CI runs every suite but the soak, and on the oldest Deno those that load the sources", () => {
  const ci = Deno.readTextFileSync(`${ROOT}.ci/run`).replaceAll("\\\n", " ");
  const suitesOn = (deno: string) =>
    ci.split("\n").filter((line) => line.startsWith("suite ") && line.includes(`"deno@$${deno}" task test `))
      .flatMap((line) => line.split(" task test ")[1]?.trim().split(/ +/) ?? []);
  // `fuzz` tries all that `unit` tries.
  const developed = [
    "check",
    "cli",
    "cli-long",
    "tests/cli/verbs_test.ts",
    "sessions",
    "fuzz",
    "fuzz-tools",
    "slow",
    "clients",
    "crash",
    "remote",
  ];
  assert.deepEqual(suitesOn("DEVELOPED_ON").sort(), [...developed, "bench-smoke"].sort());
  assert.deepEqual(suitesOn("OLDEST_SUPPORTED").sort(), ["tests/slow/unit", "unit", "unit-tools"]);
});

Deno.test("the bench measures in one process with the flags of V8 that the executable has", () => {
  assert.ok(TASKS.bench?.includes(` --v8-flags=${V8_FLAGS.join(",")} `), TASKS.bench);
});

Deno.test("tests of the tools, which change the working directory of their process, never run in parallel", () => {
  const batch = "tests/batches/tools_test.ts";
  for (const [name, command] of Object.entries(TASKS)) {
    if (!command.includes("--parallel") || !/ tests\/(unit|batches)\b/.test(command)) continue;
    assert.ok(command.endsWith(` --ignore=${batch} tests/batches`), name);
  }
  for (const name of ["unit-tools", "fuzz-tools"]) {
    assert.match(TASKS[name] ?? "", / --no-check tests\/batches\/tools_test\.ts$/);
  }
  const loading = testFilesBelow("tests/batches").filter((path) =>
    Deno.readTextFileSync(`${ROOT}${path}`).includes('"unit/tools"')
  );
  assert.deepEqual(loading, [batch]);
});
