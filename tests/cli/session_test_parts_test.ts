import assert from "node:assert/strict";
import { parse } from "yaml";
import { compareEnd, compareSessions, compareUse, type Divergence } from "../../src/cli/test/compare.ts";
import { livePorts } from "../../src/cli/live_ports.ts";
import { expectedState, writeExpectation } from "../../src/cli/test/expectation.ts";
import { exists, filesBelow } from "../../src/cli/test/files.ts";
import { findTests } from "../../src/cli/test/test.ts";
import { inOrder, type TestResult } from "../../src/cli/test/runner.ts";
import { createScratch } from "../../src/cli/test/scratch.ts";
import { type ReporterName, reporterOf } from "../../src/cli/test/reporters.ts";
import { checkStepArguments } from "../../src/cli/step_arguments.ts";
import { RepriseError } from "../../src/domain/errors.ts";
import type { Fixture } from "../../src/fixture/read.ts";
import { writeNewFile } from "../../src/fixture/seal.ts";
import { readSessionFile, SESSION_FORMAT } from "../../src/fixture/session/session_file.ts";
import { denoFiles } from "../../src/store/deno_files.ts";

function assertCode(act: () => unknown, code: string, says: RegExp): void {
  assert.throws(
    act,
    (error) => error instanceof RepriseError && error.code === code && says.test(error.message),
  );
}

/** Text that means something to every reporter. */
const NASTY = `# TODO <b> & "x" \\ ]]> ok 9 - \u0000\u001b[31m é 🙂\r\n...\nnot ok 7\n--- |`;
const DIVERGENCE: Divergence = {
  kind: "turn",
  where: "session s, turn 3",
  message: "differs",
  path: "events[0].output",
  expected: NASTY,
  received: "b",
  said: NASTY,
};

function result(name: string, rest: Partial<TestResult> = {}): TestResult {
  return { name, note: null, divergences: [], error: null, updated: [], removed: [], seconds: 0.25, ...rest };
}

const RESULTS: readonly TestResult[] = [
  result("a", { note: NASTY }),
  result("b", { divergences: [DIVERGENCE, { ...DIVERGENCE, kind: "exit" }] }),
  result("c", { error: new RepriseError("bad_fixture", NASTY, { hint: NASTY }) }),
];

function report(name: ReporterName, skipped: readonly string[] = [], why = "stopped by SIGINT"): string {
  const reporter = reporterOf(name);
  return [
    reporter.begin(RESULTS.length + skipped.length),
    ...RESULTS.map((each, index) => reporter.result(each, index + 1)),
    reporter.end({ passed: 1, failed: 2, broken: 1, skipped, why }),
  ].join("");
}

Deno.test("a TAP report stays one, whatever the texts in it: a plan, a point a test, YAML below", () => {
  const lines = report("tap").split("\n");
  assert.deepEqual(lines.slice(0, 2), ["TAP version 14", "1..3"]);
  const points = lines.filter((line) => /^(not )?ok /.test(line));
  assert.deepEqual(points.map((line) => line.slice(0, 12)), [
    "ok 1 - a: \\#",
    "not ok 2 - b",
    "not ok 3 - c",
  ]);
  assert.ok(!points.some((line) => /(?<!\\)#/.test(line)), "no point has a directive");
  const blocks = lines.join("\n").match(/^ {2}---\n[^]*?\n {2}\.\.\.$/gm) ?? [];
  assert.equal(blocks.length, 2);
  for (const block of blocks) {
    const { message } = parse(block.replace(/^ {2}---\n/, "").replace(/\n {2}\.\.\.$/, "\n"));
    assert.match(message, /TODO <b> & "x"/);
  }
  assert.ok(report("tap", ["d"]).endsWith("Bail out! stopped by SIGINT\n"));
  assert.doesNotMatch(report("tap"), /Bail out/);
});

Deno.test("a JUnit report stays XML, whatever the texts in it, and counts every test as what it is", () => {
  const xml = report("junit", ["d"]);
  const counts = 'tests="4" failures="1" errors="1" skipped="1" time="0.750">';
  assert.ok(
    xml.includes(`<testsuites ${counts}`) && xml.includes(`<testsuite name="reprise test" ${counts}`),
  );
  const count = (pattern: RegExp) => xml.match(pattern)?.length;
  assert.deepEqual([/<testcase /g, /<failure /g, /<error /g, /<skipped/g].map(count), [4, 1, 1, 1]);
  const open: string[] = [];
  for (const [, end, name = "", alone] of xml.matchAll(/<(\/?)([a-z]+)(?: [a-z]+="[^"<>]*")*(\/?)>/g)) {
    if (end === "/") assert.equal(open.pop(), name);
    else if (alone === "") open.push(name);
  }
  assert.deepEqual(open, []);
  const rest = xml.replace(/<\?xml[^>]*>|<\/?[a-z]+(?: [a-z]+="[^"<>]*")*\/?>/g, "");
  assert.doesNotMatch(rest, /[<>]/, "nothing else begins or ends a tag");
  assert.doesNotMatch(xml, /&(?!(amp|lt|gt|quot|#10);)/);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(xml, /[\u0000-\u0008\u000b-\u001f]/);
});

Deno.test("a JSON report is one object a line, with every divergence unchanged", () => {
  const lines = report("json").trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ type }) => type), ["test.started", "test", "test", "test", "test.ended"]);
  assert.deepEqual(lines[2].divergences[0], DIVERGENCE);
  assert.deepEqual([lines[1].passed, lines[2].passed, lines[3].error.code], [true, false, "bad_fixture"]);
});

Deno.test("results come in the order of the tests, however long each takes, and leaving starts no more", async () => {
  const started: number[] = [];
  const waiting = new Map<number, () => void>();
  let abandoned = 0;
  const play = async (test: number) => {
    started.push(test);
    await new Promise<void>((resolve) => waiting.set(test, resolve));
    return test;
  };
  const seen: number[] = [];
  const loop = (async () => {
    for await (const each of inOrder([1, 2, 3, 4, 5], 2, { play, abandon: () => abandoned++ })) {
      seen.push(each);
      if (each === 2) break;
    }
  })();
  const free = async (test: number) => {
    await new Promise((resolve) => setTimeout(resolve));
    waiting.get(test)?.();
    await new Promise((resolve) => setTimeout(resolve));
  };
  await free(2);
  assert.deepEqual([started, seen], [[1, 2, 3], []], "a later step is not reported before an earlier one");
  await free(1);
  assert.deepEqual(seen, [1, 2]);
  await free(3);
  await free(4);
  await loop;
  assert.deepEqual([started.includes(5), abandoned], [false, 1]);
});

Deno.test("tests are found at and below the folders, once each, in order, and none inside of another", async () => {
  const root = await Deno.makeTempDir();
  try {
    for (const name of ["b/2", "b/10", "a", "a/start", "c"]) {
      Deno.mkdirSync(`${root}/${name}`, { recursive: true });
      if (name !== "c") Deno.writeTextFileSync(`${root}/${name}/session.json`, "{}");
    }
    const found = (...names: string[]) =>
      findTests(names.map((name) => `${root}/${name}`), (path) => path.replace("/b/../", "/"))
        .map(({ name }) => name.slice(root.length + 1));
    assert.deepEqual(found("b/", "a", "b/../a"), ["b/10", "b/2", "a"]);
    assert.deepEqual(found("."), ["./a", "./b/10", "./b/2"]);
    const refused = (says: RegExp) =>
      assert.throws(
        () => found("a", "c"),
        (error) =>
          error instanceof RepriseError && error.code === "usage" && /no session\.json/.test(error.message) &&
          says.test(error.hint ?? ""),
      );
    refused(/run --record writes: a folder/);
    Deno.mkdirSync(`${root}/c/recorded`);
    Deno.writeTextFileSync(`${root}/c/recorded/fixture.json`, "{}");
    refused(/use run --fixture or serve/);
    Deno.symlinkSync("../b", `${root}/c/linked`);
    Deno.symlinkSync("..", `${root}/c/up`);
    Deno.symlinkSync("nowhere", `${root}/c/broken`);
    assert.deepEqual(found("c"), ["c/linked/10", "c/linked/2", "c/up/a", "c/up/b/10", "c/up/b/2"]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("of each session the first different turn is reported, and a broken checksum only if nothing else differs", () => {
  const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const turn = (text: string, prev: string) =>
    bytes({ turn: 1, prev, events: [{ seq: 1, text }], sum: prev });
  const name = (number: number) => `s/turns/00000${number}.json`;
  const was = new Map([[name(1), turn("a", "0")], [name(2), turn("b", "1")], [name(3), turn("c", "2")]]);
  const one = new Map([...was, [name(2), turn("B", "9")], [name(3), turn("C", "8")]]);
  const [first, ...rest] = compareSessions(was, one);
  assert.deepEqual(rest, []);
  assert.deepEqual(JSON.parse(JSON.stringify(first)), {
    kind: "turn",
    where: "session s, turn 2",
    message: "differs",
    path: "events[0].text",
    expected: '"b"',
    received: '"B"',
  });
  const whole = (text: string) => JSON.stringify({ turn: 1, events: [{ seq: 1, text }] }, null, 2);
  assert.deepEqual(first?.documents?.(), { expected: whole("b"), received: whole("B") });
  const [link] = compareSessions(was, new Map([...was, [name(3), turn("c", "3")]]));
  assert.equal(link?.path, "prev");
  assert.deepEqual(compareSessions(was, was), []);
});

Deno.test("a step whose kill never happened fails, however it ended", () => {
  const step = { args: ["run"], fixture: "1", exit: 137, kill: { after: "turn.saved", turn: 3 } } as const;
  const end = { exit: 137, hung: false, state: null, requests: [], said: "" };
  const [found, ...rest] = compareEnd({ ...step, args: [...step.args] }, { ...end, saved: [1, 2] }, 1);
  assert.deepEqual(rest, []);
  assert.deepEqual(found, {
    kind: "kill",
    where: "step 1 (run)",
    message: "never saved the turn of its kill",
    expected: "turn 3",
    received: "turns 1, 2",
  });
  assert.deepEqual(compareEnd({ ...step, args: [...step.args] }, { ...end, saved: [1, 2, 3] }, 1), []);
});

Deno.test("expect/ is made what the sessions are; what is no turn file and no list of blobs there is left alone", () => {
  const directory = Deno.makeTempDirSync();
  try {
    const own = [
      "expect/NOTES.md",
      "expect/s/NOTES",
      "expect/s/turns/NOTES",
      "expect/s/turns/deep/000001.json",
    ];
    const turns = ["expect/s/turns/000001.json", "expect/s/turns/000002.json", "expect/old/blobs"];
    for (const name of [...own, ...turns]) writeNewFile(denoFiles, `${directory}/${name}`, name);
    const expected = expectedState(directory);
    assert.deepEqual([...expected?.keys() ?? []].map((name) => `expect/${name}`).sort(), turns.toSorted());
    const state = new Map([
      ["s/turns/000001.json", new TextEncoder().encode("expect/s/turns/000001.json")],
      ["s/turns/000003.json", new TextEncoder().encode("new")],
    ]);
    assert.deepEqual(writeExpectation(denoFiles, directory, state), {
      updated: ["expect/s/turns/000003.json"],
      removed: ["expect/old/blobs", "expect/s/turns/000002.json"],
    });
    assert.deepEqual(expectedState(directory), state);
    assert.deepEqual(own.map((name) => Deno.readTextFileSync(`${directory}/${name}`)), own);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("a session.json of another shape is refused: what is wrong, where, and where to read on", () => {
  const directory = Deno.makeTempDirSync();
  const fixture = "1";
  const kill = { after: "turn.saved", turn: 2 };
  try {
    const refusal = (content: string) => {
      Deno.writeTextFileSync(`${directory}/session.json`, content);
      try {
        readSessionFile(denoFiles, directory, checkStepArguments);
      } catch (error) {
        assert.ok(error instanceof RepriseError && error.code === "bad_fixture", String(error));
        assert.match(error.hint ?? "", /docs\/fixtures\.md/);
        return error.message.replace(/^.*session\.json": /, "");
      }
      return "";
    };
    const steps = (...steps: object[]) => refusal(JSON.stringify({ format: SESSION_FORMAT, steps }));
    const step = { args: ["run", "Hi"], exit: 0 };
    assert.equal(steps({ ...step, fixture, kill }), "");
    assert.equal(refusal("{"), "it is not JSON");
    assert.match(refusal(JSON.stringify({ format: SESSION_FORMAT, steps: "x" })), /^steps: .*expected array/);
    assert.match(steps(step, { ...step, kil: 1, env: {} }), /^steps\[1\]: .*"kil", "env"$/);
    assert.match(steps({ ...step, fixture, kill: { ...kill, at: 1 } }), /^steps\[0\]\.kill: .*"at"$/);
    const onlyRun = "steps[0].kill: only a run with a fixture can be stopped after a turn";
    assert.equal(steps({ ...step, kill }), onlyRun);
    assert.equal(steps({ ...step, args: ["compact", "a"], fixture, kill }), onlyRun);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("a session.json may not lead out of its folder", async () => {
  const root = await Deno.makeTempDir();
  try {
    const read = (fixture: string) => {
      const steps = [{ args: ["run"], fixture, exit: 0 }];
      Deno.writeTextFileSync(`${root}/session.json`, JSON.stringify({ format: SESSION_FORMAT, steps }));
      return readSessionFile(denoFiles, root, checkStepArguments).steps[0]?.fixture;
    };
    for (const name of [".", "1", "a/b", "..a", "a..", ".hidden/x"]) assert.equal(read(name), name);
    for (const name of ["..", "../a", "a/..", "a/../b", "/a", ""]) {
      assertCode(() => read(name), "bad_fixture", /session\.json/);
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("a step calls no verb that listens or sends, and names no home, workspace or file of its own", () => {
  const directory = Deno.makeTempDirSync();
  const read = (args: readonly string[]) => {
    const session = { format: SESSION_FORMAT, steps: [{ args, exit: 0 }] };
    Deno.writeTextFileSync(`${directory}/session.json`, JSON.stringify(session));
    return readSessionFile(denoFiles, directory, checkStepArguments);
  };
  try {
    for (
      const args of [
        ["run", "--new", "-s", "a", "--home is where it is"],
        ["run", "-c", "--", "--home=/tmp"],
        ["run", "-s", "a", "--", "-w"],
        ["rm", "a", "--yes"],
        ["run", "-m", "gpt-5-pro", "-c", "Go on"],
      ]
    ) assert.deepEqual(read(args).steps[0]?.args, args);
    for (
      const args of [
        ["rm", "a", "--yes", "--home", "/tmp"],
        ["rm", "a", "--home=/tmp", "--yes"],
        ["run", "-w", "/", "Hi"],
        ["run", "-w/", "Hi"],
        ["run", "-cw/", "Hi"],
        ["run", "-o", "/tmp/x", "Hi"],
        ["run", "--record=/tmp/x", "Hi"],
      ]
    ) {
      assertCode(
        () => read(args),
        "bad_fixture",
        /steps\[0\]\.args\[\d\]: "-[^"]+" is not allowed in a step: the program that plays the test sets home/,
      );
    }
    for (const args of [["serve", "."], ["record", "--out", "x"], ["export", "a", "/tmp/x"]]) {
      assertCode(() => read(args), "bad_fixture", /args\[0\]: "\w+" is no verb of a step; these are: run, /);
    }
    for (
      const args of [
        // Here the double dash is the session's name.
        ["run", "-s", "--", "--home=/tmp"],
        ["run", "-s", "--", "--home=/tmp", "--", "Hi"],
      ]
    ) assertCode(() => read(args), "bad_fixture", /args\[3\]: "--home=\/tmp" is not allowed in a step/);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("start/ is a session only where its manifest names one in a string, and holds no link", async () => {
  const directory = Deno.makeTempDirSync();
  try {
    Deno.mkdirSync(`${directory}/start`);
    for (
      const manifest of ["", "null", "[]", "{}", '{"session":null}', '{"session":true}', '{"session":"A"}']
    ) {
      Deno.writeTextFileSync(`${directory}/start/manifest.json`, manifest);
      await assert.rejects(createScratch(livePorts(), directory), {
        code: "bad_fixture",
        message: /start\/manifest\.json": it does not name a session/,
      });
    }
    Deno.writeTextFileSync(`${directory}/start/manifest.json`, '{"session":"s"}');
    const scratch = await createScratch(livePorts(), directory);
    assert.deepEqual(filesBelow(scratch.home), ["sessions/s/manifest.json"]);
    scratch[Symbol.dispose]();
    Deno.symlinkSync("manifest.json", `${directory}/start/owner`);
    await assert.rejects(createScratch(livePorts(), directory), {
      code: "bad_fixture",
      message: /start\/owner": it is a link/,
    });
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("a folder that cannot be looked into is a disk's error, and not one of ours", () => {
  const path = Deno.makeTempFileSync();
  try {
    assertCode(() => filesBelow(path), "storage_failed", /Cannot read a folder of a session test/);
    assertCode(() => exists(`${path}/a`), "storage_failed", /Cannot look for a file of a session test/);
  } finally {
    Deno.removeSync(path);
  }
});

Deno.test("unused exchanges are counted in words", () => {
  const end = { exit: 0, hung: false, state: null, saved: [], requests: [], said: "" };
  const expected = [1, 2].map((length) =>
    compareUse({ exchanges: Array.from({ length }) } as unknown as Fixture, end, 1)[0]?.expected
  );
  assert.deepEqual(expected, ["1 request", "2 requests"]);
});
