import assert from "node:assert/strict";
import { join } from "node:path";
import { tallyOfReport } from "../../../scripts/gate/junit.ts";
import { DEFAULT_GROUPS, GROUPS } from "../../../scripts/gate/phases.ts";
import { type Phase, type PhaseResult, runPhases } from "../../../scripts/gate/phase.ts";
import { hashOfInputs, isUpToDate, writeStamp } from "../../../scripts/gate/stamp.ts";
import { closingLine, ONE_PASSED, oneFailed, sum, withoutSkips } from "../../../scripts/gate/tally.ts";
import { TEST_PATHS, type TestPaths } from "../../../scripts/gate/test_paths.ts";
import { run } from "../../../scripts/process.ts";

const OK: PhaseResult = { tally: ONE_PASSED, output: "" };

/** A clock that stands still. */
const still = () => 0;

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
  const total = sum([ONE_PASSED, oneFailed("c"), { passed: 3, failed: [], skipped: ["a", "b"] }]);
  assert.equal(closingLine(total), "4 passed, 1 failed, 2 skipped");
  assert.equal(closingLine(withoutSkips(total)), "4 passed, 3 failed, 0 skipped");
  assert.deepEqual(withoutSkips(total).failed, ["c", "a", "b"]);
});

Deno.test("phases run side by side up to the limit, and one that waits starts after its own", async () => {
  const events: string[] = [];
  let open = 0;
  let mostOpen = 0;
  function phase(name: string, turns: number, after?: string): Phase {
    return {
      name,
      ...(after === undefined ? {} : { after }),
      run: async () => {
        mostOpen = Math.max(mostOpen, ++open);
        events.push(`start ${name}`);
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        events.push(`end ${name}`);
        open--;
        return OK;
      },
    };
  }
  const phases = [phase("compile", 50), phase("binary", 1, "compile"), phase("a", 5), phase("b", 5)];
  const ended = await runPhases(phases, { jobs: 2, onEnd: () => {}, now: still });
  assert.equal(mostOpen, 2);
  assert.equal(events[1], "start a");
  assert.ok(events.indexOf("start binary") > events.indexOf("end compile"));
  assert.deepEqual(ended.map((phase) => phase.name).sort(), ["a", "b", "binary", "compile"]);
});

Deno.test("a phase that throws is one failure and stops no other, those waiting for it included", async () => {
  const phases: Phase[] = [
    { name: "bad", run: () => Promise.reject(new Error("broken")) },
    { name: "later", after: "bad", run: () => Promise.resolve(OK) },
    { name: "free", after: "not in the list", run: () => Promise.resolve(OK) },
  ];
  const ended = await runPhases(phases, { jobs: 2, onEnd: () => {}, now: still });
  assert.equal(closingLine(sum(ended.map((phase) => phase.tally))), "2 passed, 1 failed, 0 skipped");
  assert.deepEqual(sum(ended.map((phase) => phase.tally)).failed, ["bad"]);
  assert.equal(ended.find((phase) => phase.name === "bad")?.output, "broken");
});

Deno.test("phases that wait for each other are refused, not waited for", async () => {
  const phases: Phase[] = [
    { name: "a", after: "b", run: () => Promise.resolve(OK) },
    { name: "b", after: "a", run: () => Promise.resolve(OK) },
  ];
  await assert.rejects(runPhases(phases, { jobs: 2, onEnd: () => {}, now: still }), /waits for another/);
});

Deno.test("a binary is up to date until a source, the runtime or the binary itself changes", async () => {
  await withDirectory((root) => {
    for (const folder of ["src/cli", "scripts/compile"]) {
      Deno.mkdirSync(join(root, folder), { recursive: true });
    }
    const files = [
      "main.ts",
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

function runs({ paths, ignore = [] }: TestPaths, file: string): boolean {
  const isIn = (path: string) => file === path || file.startsWith(`${path}/`);
  return paths.some(isIn) && !ignore.some(isIn);
}

Deno.test("every test that tries a number of random cases is in the full run", () => {
  const sampled = testFilesBelow("tests").filter((path) =>
    !path.endsWith("gate_test.ts") && Deno.readTextFileSync(`${ROOT}${path}`).includes("support/samples.ts")
  );
  assert.deepEqual(sampled.sort(), [...TEST_PATHS.fuzz.paths].sort());
});

Deno.test("every test file is run by one part: those of the command line on the binary, each of them", () => {
  const { unit, slow, cli, long, crash } = TEST_PATHS;
  for (const file of testFilesBelow("tests")) {
    const parts = [unit, slow, cli, long, crash].filter((part) => runs(part, file));
    assert.equal(parts.length, 1, file);
  }
  for (const part of Object.values(TEST_PATHS)) {
    for (const path of part.paths) assert.ok(Deno.statSync(`${ROOT}${path}`), path);
  }
});

Deno.test("CI runs every part but the soak", () => {
  const ci = Deno.readTextFileSync(`${ROOT}.ci/run`);
  const tasks = JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`)).tasks as Record<
    string,
    { readonly command: string }
  >;
  const commands = [...ci.matchAll(/ task ([a-z]+)/g)].map(([, task = ""]) => tasks[task]?.command).join() +
    ci;
  for (const group of GROUPS) {
    const isDefault = DEFAULT_GROUPS.includes(group);
    assert.equal(isDefault || commands.includes(`--only ${group}`), group !== "soak", group);
  }
});
