/** Homes that cannot be used, disks that are full, and special files in place of files. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { lacksCommand, needing } from "../support/needs.ts";
import { answer, message, reasoning } from "../support/scripted_api/responses.ts";
import { ending } from "../support/reprise.ts";
import { assertError, HELLO, LACKS_MODES, ok, Place, readsThenAnswers, WITH_MODES } from "./harness.ts";

const RUN = ["run", "--json", "--new", "-s", "s", "Hi"];

/** Lack of a way to give one process a file system of its own; many containers forbid it. */
const LACKS_MOUNTS = await lacksCommand(
  ["unshare", "-rm", "sh", "-c", "mount -t tmpfs reprise-test /mnt"],
  "cannot mount tmpfs",
);

/** A shell's line in front of the program's command. */
function shell(line: string): readonly string[] {
  return ["sh", "-c", `${line}; exec "$@"`, "sh"];
}

/** Returns a command that gives one process its own file system at the home. */
function mounted(place: Place, options: string): readonly string[] {
  const { home } = place.sandbox;
  Deno.mkdirSync(home, { mode: 0o700 });
  return ["unshare", "-rm", ...shell(`mount -t tmpfs -o mode=700,${options} reprise-test '${home}'`)];
}

/**
 * A limit on the size of files, in blocks of 512 bytes. From source Deno itself writes its caches before our handler of
 * SIGXFSZ is there: only the binary must do without help.
 */
function fileLimit(blocks: number): readonly string[] {
  const help = (Deno.env.get("REPRISE_BIN") ?? "") === "" ? "trap '' XFSZ; " : "";
  return shell(`${help}ulimit -f ${blocks}`);
}

test("a home that is a file or a link is exit 14, and is named", async () => {
  await using place = new Place([]);
  const { home, directory } = place.sandbox;
  Deno.writeTextFileSync(home, "mine");
  for (const args of [RUN, ["ls", "--json"], ["doctor", "--json"]]) {
    const called = await place.call(args);
    assert.equal(called.code, 14, called.stdout + called.stderr);
    assert.ok(called.stdout.includes("not a directory"), called.stdout);
  }
  assert.equal(Deno.readTextFileSync(home), "mine");
  Deno.removeSync(home);
  Deno.mkdirSync(`${directory}/real`);
  Deno.symlinkSync(`${directory}/real`, home);
  const expected = { code: "storage_denied", exit: 14, says: /symbolic link/, hint: /--home/ };
  assertError(await place.call(RUN), expected);
  assert.deepEqual([...Deno.readDirSync(`${directory}/real`)], []);
  assert.equal(place.server.requests.length, 0);
});

test.process(needing("a home that its modes close is exit 14", LACKS_MODES), async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const { home } = place.sandbox;
  const run = ["run", "--json", "-s", "s", "Hi"];
  for (const [path, mode] of [[`${home}/sessions/s/turns`, 0o500], [home, 0o000]] as const) {
    Deno.chmodSync(path, mode);
    const called = await place.call(run, { through: WITH_MODES });
    Deno.chmodSync(path, 0o700);
    assertError(called, { code: "storage_denied", exit: 14, says: /permission denied/i });
  }
  await ok(place, ["fsck", "s"]);
  await ok(place, run);
});

test.process(needing("a home on a read-only or full file system is exit 14", LACKS_MOUNTS), async () => {
  await using closed = new Place([]);
  const denied = { code: "storage_denied", exit: 14, says: /read-only/, hint: /--home/ };
  const error = assertError(await closed.call(RUN, { through: mounted(closed, "ro") }), denied);
  assert.ok(error.message.includes(closed.sandbox.home), error.message);
  await using small = new Place([answer([message("x".repeat(200_000))])]);
  const full = await small.call(RUN, { through: mounted(small, "size=160k") });
  assertError(full, { code: "storage_full", exit: 14, hint: /space/ });
  assert.equal(ending(full).state, "failed");
});

test.process("a limit on file sizes is exit 14: nothing is sent before the first turn is saved, and saved turns stay sound", async () => {
  await using place = new Place([answer([reasoning("Hm"), message("x".repeat(200_000))]), HELLO]);
  const failed = { code: "storage_failed", exit: 14, hint: /ulimit -f/ };
  const says = /exceed the size limit of this process.*sessions\/s/;
  assertError(await place.call(RUN, { through: fileLimit(0) }), { ...failed, says });
  assert.equal(place.server.requests.length, 0);
  const called = await place.call(RUN, { through: fileLimit(64) });
  assertError(called, { ...failed, says: /turn 2/ });
  assert.equal(ending(called).state, "failed");
  await ok(place, ["fsck", "s"]);
  await ok(place, ["run", "--json", "-c"]);
  assert.deepEqual(place.server.refusals, []);
});

test.process("a stdout whose disk is full is exit 14, without a stack trace", async () => {
  await using place = new Place(readsThenAnswers);
  for (const args of [["ls", "--json"], ["nonsense", "--json"], RUN]) {
    const called = await place.call(args, { through: ["sh", "-c", 'exec "$@" >/dev/full', "sh"] });
    assert.equal(called.code, 14, `${args[0]}: ${called.stderr}`);
    assert.match(called.stderr, /^error: Cannot write the output: the disk or the quota is full/);
    assert.ok(!called.stderr.includes("    at "));
  }
  await ok(place, ["fsck", "--all"]);
});

test("an answer file that cannot be written is exit 14, reported before run.ended", async () => {
  await using place = new Place([HELLO]);
  const path = `${place.sandbox.workspace}/answer.txt`;
  Deno.symlinkSync("gone/answer.txt", path);
  const called = await place.call([...RUN, "-o", path]);
  assertError(called, { code: "storage_failed", exit: 14, says: /answer\.txt/ });
  assert.deepEqual([ending(called).state, ending(called).text], ["completed", "Hello."]);
});

test.process("a FIFO or a device in place of a file is exit 2 at once, before anything is sent or written", async () => {
  await using place = new Place([HELLO]);
  const { workspace, directory } = place.sandbox;
  const config = `${directory}/.config/reprise`;
  Deno.mkdirSync(config, { recursive: true });
  new Deno.Command("mkfifo", { args: [`${workspace}/fifo`, `${directory}/fifo`] }).outputSync();
  Deno.symlinkSync("fifo", `${workspace}/link`);
  const refused = async (args: readonly string[], says: RegExp, code = "usage") => {
    const called = await place.call([...args, "--json"], { through: ["timeout", "-k", "1", "10"] });
    assertError(called, { code, exit: 2, says });
  };
  const flags = [["--instructions", "@"], ["--output-schema", ""], ["-o", ""]] as const;
  for (const [path, kind] of [["link", "FIFO"], ["/dev/zero", "device"]]) {
    const says = new RegExp(`${path}".*: it is a ${kind}, not a regular file$`);
    for (const [flag, prefix] of flags) await refused(["run", flag, `${prefix}${path}`, "Hi"], says);
  }
  Deno.renameSync(`${directory}/fifo`, `${config}/config.json`);
  for (const args of [["run", "Hi"], ["config", "list"]]) {
    await refused(args, /config\.json": it is a FIFO/, "bad_configuration");
  }
  assert.deepEqual(place.server.requests, []);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
});
