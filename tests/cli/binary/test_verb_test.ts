import assert from "node:assert/strict";
import { edit, foldersIn, headerOf, seal } from "../../doors/recordings/recording_files.ts";
import { bytesBelow, type Json, textsBelow } from "../../support/files.ts";
import { events, said, Sandbox } from "../../support/reprise.ts";
import { answer } from "../../support/scripted_api/responses.ts";
import { functionCall } from "../../support/scripted_api/responses_script.ts";
import { mark, running } from "../changes.ts";
import { HELLO, Place, until } from "../harness.ts";
import { copyBelow, SESSIONS } from "./session_copies.ts";

const WHOLE = `${SESSIONS}read`;
const TURN = "expect/s/turns/000003.json";
const ASKED = "1/exchanges/0002/request.json";

/** A copy of a session test that `change` has edited; its exchanges are sealed again. */
function edited(sandbox: Sandbox, name: string, change: (directory: string) => void, from = WHOLE): string {
  const directory = `${sandbox.workspace}/tests/${name}`;
  copyBelow(from, directory);
  change(directory);
  seal(`${directory}/1`);
  return directory;
}

const replaceIn = (file: string, was: string, is: string) => (directory: string) =>
  edit(`${directory}/${file}`, (text) => text.replaceAll(was, () => is));

/** The request as it would have been recorded with these words. */
function otherWords(directory: string): void {
  const path = `${directory}/${ASKED}`;
  const { body_sha256: _sum, ...request } = JSON.parse(Deno.readTextFileSync(path));
  request.body.input[0].content[0].text = "What is in b.txt?";
  Deno.writeTextFileSync(path, JSON.stringify(request));
}

/** A recording of a session `one` whose only call runs `command` when it is played; at first it was another command. */
async function playsCommand(directory: string, command: string): Promise<void> {
  // As long as the other command, so that the chunks stay where they are.
  const recorded = ": ".padEnd(command.length, "x");
  await using place = new Place(({ input }) =>
    input.at(-1)?.type === "message"
      ? answer([functionCall("shell", { command: recorded, argv: null, timeout_seconds: null })])
      : HELLO
  );
  const args = ["--new", "-s", "one", "--allow", "shell", "--record", directory, "Look"];
  const live = await place.call(["run", "--json", ...args]);
  assert.equal(live.code, 0, said(live));
  Deno.removeSync(`${directory}/tools.json`);
  replaceIn(`${foldersIn(directory)[0]}/body`, recorded, command)(directory);
  Deno.mkdirSync(`${directory}/workspace/deep`, { recursive: true });
  Deno.writeTextFileSync(`${directory}/workspace/deep/file`, "x");
  seal(directory, { ...headerOf(directory), tools: undefined });
}

/** Each way in which a session can leave its record, and what is said about it. */
const DIVERGENCES: Readonly<Record<string, readonly [(directory: string) => void, RegExp]>> = {
  "an exit code": [
    replaceIn("session.json", '"exit": 0', '"exit": 6'),
    /"exit","where":"step 1 \(run\)".*"expected":"6","received":"0"/,
  ],
  "a state": [
    replaceIn("session.json", '"completed"', '"refused"'),
    /"state",.*"expected":"refused","received":"completed"/,
  ],
  "a request": [
    otherWords,
    /"request","where":"step 1, request 2".*"path":"input\[0\].content\[0\].text","expected":"\\"What is in b/,
  ],
  "an exchange too many": [
    (directory) => copyBelow(`${directory}/1/exchanges/0002`, `${directory}/1/exchanges/0003`),
    /"unused_exchange","where":"step 1, exchange 3"/,
  ],
  "an exchange too few": [
    (directory) => Deno.removeSync(`${directory}/1/exchanges/0002`, { recursive: true }),
    /"exit",.*"received":"7","said":"fixture_miss: Cannot answer request 2/,
  ],
  "a call without a record": [
    replaceIn("1/tools.json", '"read_file"', '"list_files"'),
    /"received":"7","said":"fixture_miss: .*read_file/,
  ],
  "a turn": [
    replaceIn(TURN, "alpha", "alphabet"),
    /"turn","where":"session s, turn 3",.*"path":"events\[0\].output","expected":".*alphabet.*","received":".*alpha/,
  ],
  "a turn too many": [
    (directory) => Deno.copyFileSync(`${directory}/${TURN}`, `${directory}/${TURN.replace("3.", "9.")}`),
    /"missing_turn","where":"session s, turn 9"/,
  ],
  "a turn too few": [
    (directory) => Deno.removeSync(`${directory}/${TURN.replace("3.", "5.")}`),
    /"further_turn","where":"session s, turn 5"/,
  ],
  "a session": [
    (directory) => Deno.renameSync(`${directory}/expect/s`, `${directory}/expect/t`),
    /"further_session","where":"session s".*"missing_session","where":"session t"/,
  ],
  "a blob": [
    (directory) => Deno.writeTextFileSync(`${directory}/expect/s/blobs`, "0\n"),
    /"blobs","where":"session s, blobs".*"expected":"0"/,
  ],
  "nothing to compare with": [
    (directory) => Deno.removeSync(`${directory}/expect`, { recursive: true }),
    /"no_expectation",.*--update/,
  ],
};

Deno.test("each divergence from a recording is reported, in the order of the folders, and none hides another", async () => {
  await using sandbox = new Sandbox();
  const names = Object.keys(DIVERGENCES);
  for (const [index, name] of names.entries()) {
    edited(sandbox, `${String.fromCharCode(97 + index)}`, DIVERGENCES[name]?.[0] ?? (() => {}));
  }
  const called = await sandbox.call(["test", "--json", "--jobs", "3", "tests/"]);
  assert.equal(called.code, 7, said(called));
  const lines: Json[] = events(called);
  assert.deepEqual(lines[0], { type: "test.started", tests: names.length });
  assert.deepEqual(lines.at(-1), { type: "test.ended", passed: 0, failed: names.length, skipped: [] });
  for (const [index, name] of names.entries()) {
    const line = lines[index + 1];
    assert.equal(line.dir, `tests/${String.fromCharCode(97 + index)}`);
    assert.match(JSON.stringify(line.divergences), DIVERGENCES[name]?.[1] ?? /never/, name);
  }
});

Deno.test("--update rewrites and names a request and a turn, removes turns of no session, and keeps files of the user", async () => {
  await using sandbox = new Sandbox();
  const directory = edited(sandbox, "a", (path) => {
    otherWords(path);
    replaceIn(TURN, "alpha", "alphabet")(path);
    copyBelow(`${path}/expect/s`, `${path}/expect/old`);
    Deno.writeTextFileSync(`${path}/expect/NOTES.md`, "mine");
  });
  // A session that ends otherwise stays a failure, and nothing is rewritten.
  const other = replaceIn("session.json", '"exit": 0', '"exit": 6');
  other(directory);
  const before = textsBelow(directory);
  assert.equal((await sandbox.call(["test", "--update", "tests"])).code, 7);
  assert.deepEqual(textsBelow(directory), before);
  replaceIn("session.json", '"exit": 6', '"exit": 0')(directory);
  const called = await sandbox.call(["test", "--update", "tests"]);
  assert.equal(called.code, 0, said(called));
  const reported = called.stderr.split("\n").filter((line) => /^(?:updated|removed) /.test(line)).sort();
  const gone = [...bytesBelow(`${WHOLE}/expect/s`).keys()].map((name) =>
    `removed tests/a/expect/old/${name}`
  );
  assert.deepEqual(reported, [...gone.sort(), `updated tests/a/${ASKED}`, `updated tests/a/${TURN}`]);
  assert.equal(Deno.readTextFileSync(`${directory}/expect/NOTES.md`), "mine");
  assert.equal(Deno.readTextFileSync(`${directory}/${TURN}`), Deno.readTextFileSync(`${WHOLE}/${TURN}`));
  const [asked, asks] = [WHOLE, directory].map((path) =>
    JSON.parse(Deno.readTextFileSync(`${path}/${ASKED}`))
  );
  assert.deepEqual(asks, asked);
  assert.equal((await sandbox.call(["test", "tests"])).code, 0);
});

Deno.test("--update: commands print paths as if the scratch directory were the root; what changes from play to play never passes", async () => {
  await using sandbox = new Sandbox();
  const steady = `${sandbox.directory}/kept/steady`;
  const unsteady = `${sandbox.directory}/kept/unsteady`;
  await playsCommand(steady, "pwd; echo $HOME");
  await playsCommand(unsteady, "mktemp -u; true");
  const updated = await sandbox.call(["test", "--json", "--update", steady, unsteady]);
  assert.equal(updated.code, 7, said(updated));
  const [, first, second]: Json[] = events(updated);
  assert.deepEqual([first.passed, first.divergences], [true, []]);
  const turn = Deno.readTextFileSync(`${steady}/expect/one/turns/000004.json`);
  assert.ok(turn.includes("; 17 bytes of output follow]\\n/workspace\\n/user\\n"), turn);
  assert.ok(second.updated.length > 0);
  const [request] = second.divergences;
  assert.equal(request.where, "step 1, request 2, played once more");
  assert.match(request.expected + request.received, /\/tmp\/[^]*\/tmp\//);
  const temporary = `${sandbox.directory}/elsewhere`;
  Deno.mkdirSync(temporary);
  const again = await sandbox.call(["test", steady], { env: { TMPDIR: temporary } });
  assert.equal(again.code, 0, said(again));
});

Deno.test("@last in a step is the latest session of the test's own workspace, and errors name places below it", async () => {
  await using sandbox = new Sandbox();
  const directory = edited(sandbox, "a", (path) =>
    edit(`${path}/session.json`, (text) => {
      const session = JSON.parse(text);
      for (const name of ["@last", "missing"]) session.steps.push({ args: ["show", name], exit: 0 });
      return JSON.stringify(session);
    }));
  const called = await sandbox.call(["test", "--json", directory]);
  assert.equal(called.code, 7, said(called));
  const [{ where, said: told }, ...more]: Json[] = (events(called) as Json[])[1].divergences;
  assert.deepEqual([where, more], ["step 3 (show)", []]);
  assert.match(told, /^no_such_session: .* in "\/home\/sessions" /);
});

Deno.test("--bail ends with the first failure in order, and names what was not played", async () => {
  await using sandbox = new Sandbox();
  for (const name of ["a", "b", "c", "d"]) {
    edited(sandbox, name, name === "b" ? replaceIn("session.json", '"exit": 0', '"exit": 6') : () => {});
  }
  const called = await sandbox.call(["test", "--json", "--bail", "tests"]);
  assert.equal(called.code, 7, called.stdout);
  const lines: Json[] = events(called);
  assert.deepEqual(lines.map(({ dir }) => dir), [undefined, "tests/a", "tests/b", undefined]);
  assert.deepEqual(lines.at(-1).skipped, ["tests/c", "tests/d"]);
});

Deno.test("Ctrl-C ends the steps and commands that are running, says so, and leaves no files", async () => {
  await using sandbox = new Sandbox();
  const [directory, word] = [`${sandbox.directory}/kept`, mark()];
  await playsCommand(directory, `trap : TERM; while :; do sleep ${word}; done`);
  const TMPDIR = `${sandbox.directory}/temporary`;
  Deno.mkdirSync(TMPDIR);
  const started = sandbox.start(["test", directory], { env: { TMPDIR } });
  await until(() => running(`sleep ${word}`).length > 0, "the step");
  started.process.kill("SIGINT");
  const ended = await started.ended();
  assert.equal(ended.code, 130);
  assert.match(ended.stdout, /^Bail out! stopped by SIGINT$/m);
  assert.match(ended.stderr, /0 passed, 0 failed, 1 not played: stopped by SIGINT/);
  assert.deepEqual(running(word), [], "the command still runs");
  assert.deepEqual([...Deno.readDirSync(TMPDIR)], []);
});
