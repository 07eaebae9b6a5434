/** Homes that cannot be used, disks that are full, and sessions whose files another program changed. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { lacksCommand, needing } from "../support/needs.ts";
import { answer, message, reasoning } from "../support/responses_server.ts";
import { ending } from "../support/reprise.ts";
import {
  assertError,
  begun,
  HELLO,
  LACKS_MODES,
  Place,
  readsThenAnswers,
  reseal,
  WITH_MODES,
} from "./harness.ts";

const RUN = ["run", "--json", "--new", "-s", "s", "Hi"];

/** Lack of a way to give one process a file system of its own; many containers forbid it. */
const LACKS_MOUNTS = await lacksCommand(
  ["unshare", "-rm", "sh", "-c", "mount -t tmpfs reprise-test /mnt"],
  "cannot mount tmpfs",
);

/** Returns a command that gives one process its own file system at the home. */
function mounted(place: Place, options: string): readonly string[] {
  const { home } = place.sandbox;
  Deno.mkdirSync(home, { mode: 0o700 });
  const mount = `mount -t tmpfs -o mode=700,${options} reprise-test '${home}'`;
  return ["unshare", "-rm", ...shell(mount)];
}

/** A shell's line in front of the program's command. */
function shell(line: string): readonly string[] {
  return ["sh", "-c", `${line}; exec "$@"`, "sh"];
}

/**
 * A limit on the size of files, in blocks of 512 bytes. From source Deno itself writes its caches before our handler of
 * SIGXFSZ is there: only the binary must do without help.
 */
function fileLimit(blocks: number): readonly string[] {
  const help = (Deno.env.get("REPRISE_BIN") ?? "") === "" ? "trap '' XFSZ; " : "";
  return shell(`${help}ulimit -f ${blocks}`);
}

test("a home that cannot be used is exit 14, and is named: a file in its place", async () => {
  await using place = new Place([]);
  Deno.writeTextFileSync(place.sandbox.home, "mine");
  for (const args of [RUN, ["ls", "--json"], ["doctor", "--json"]]) {
    const called = await place.call(args);
    assert.equal(called.code, 14, called.stdout + called.stderr);
    assert.ok(called.stdout.includes("not a directory"), called.stdout);
  }
  assert.equal(Deno.readTextFileSync(place.sandbox.home), "mine");
  assert.equal(place.server.requests.length, 0);
});

test("a home that cannot be used is exit 14, and is named: a symbolic link", async () => {
  await using place = new Place([]);
  Deno.mkdirSync(`${place.sandbox.directory}/real`);
  Deno.symlinkSync(`${place.sandbox.directory}/real`, place.sandbox.home);
  const called = await place.call(RUN);
  assertError(called, { code: "storage_denied", exit: 14, says: /symbolic link/, hint: /--home/ });
  assert.deepEqual([...Deno.readDirSync(`${place.sandbox.directory}/real`)], []);
});

test.process(
  needing(
    "a home that cannot be used is exit 14, and is named: one on a read-only file system",
    LACKS_MOUNTS,
  ),
  async () => {
    await using place = new Place([]);
    const called = await place.call(RUN, { through: mounted(place, "ro") });
    const error = assertError(called, {
      code: "storage_denied",
      exit: 14,
      says: /read-only/,
      hint: /--home/,
    });
    assert.ok(String(error.message).includes(place.sandbox.home), String(error.message));
  },
);

test.process(
  needing("a home that cannot be used is exit 14, and is named: one that its modes close", LACKS_MODES),
  async () => {
    await using place = new Place(readsThenAnswers);
    await place.session("s");
    const { home } = place.sandbox;
    const rows = [[`${home}/sessions`, 0o000], [`${home}/sessions/s/turns`, 0o500], [home, 0o000]] as const;
    for (const [path, mode] of rows) {
      Deno.chmodSync(path, mode);
      const called = await place.call(["run", "--json", "-s", "s", "Hi"], { through: WITH_MODES });
      Deno.chmodSync(path, 0o700);
      assertError(called, { code: "storage_denied", exit: 14, says: /permission denied/i });
    }
    assert.equal((await place.call(["fsck", "s"])).code, 0);
    assert.equal((await place.call(["run", "--json", "-s", "s", "Hi"])).code, 0);
  },
);

test.process("a disk that takes no more is exit 14, and what was saved stays sound: a limit on file sizes, before the first turn", async () => {
  await using place = new Place([HELLO]);
  const called = await place.call(RUN, { through: fileLimit(0) });
  const error = assertError(called, {
    code: "storage_failed",
    exit: 14,
    says: /exceed the size limit of this process/,
    hint: /ulimit -f/,
  });
  assert.match(String(error.message), /sessions\/s/);
  assert.equal(place.server.requests.length, 0, "nothing is sent before the user's turn is saved");
});

test.process("a disk that takes no more is exit 14, and what was saved stays sound: a limit on file sizes, when the answer comes", async () => {
  await using place = new Place([answer([reasoning("Hm"), message("x".repeat(200_000))]), HELLO]);
  const called = await place.call(RUN, { through: fileLimit(64) });
  assertError(called, { code: "storage_failed", exit: 14, says: /turn 2/, hint: /ulimit -f/ });
  assert.equal(ending(called).state, "failed");
  const checked = await place.call(["fsck", "s", "--json"]);
  assert.equal(checked.code, 0, checked.stdout);
  const next = await place.call(["run", "--json", "-c"]);
  assert.equal(next.code, 0, next.stdout);
  assert.deepEqual(place.server.refusals, []);
});

test.process(
  needing(
    "a disk that takes no more is exit 14, and what was saved stays sound: a file system without space",
    LACKS_MOUNTS,
  ),
  async () => {
    await using place = new Place([answer([message("x".repeat(200_000))])]);
    const full = await place.call(RUN, { through: mounted(place, "size=160k") });
    assertError(full, { code: "storage_full", exit: 14, hint: /space/ });
    assert.equal(ending(full).state, "failed");
  },
);

test.process("a disk that takes no more is exit 14, and what was saved stays sound: a stdout whose disk is full", async () => {
  await using place = new Place(readsThenAnswers);
  for (const args of [["ls", "--json"], ["doctor"], ["nonsense", "--json"], RUN]) {
    const called = await place.call(args, { through: ["sh", "-c", 'exec "$@" >/dev/full', "sh"] });
    assert.equal(called.code, 14, `${args[0]}: ${called.stderr}`);
    assert.match(called.stderr, /^error: Cannot write the output: the disk or the quota is full/);
    assert.ok(!called.stderr.includes("    at "), "no stack trace");
  }
  assert.equal((await place.call(["fsck", "--all"])).code, 0);
});

test("a full disk is exit 14, and saved files stay sound: an answer file that cannot be written, reported before run.ended", async () => {
  await using place = new Place([HELLO]);
  const path = `${place.sandbox.workspace}/answer.txt`;
  Deno.symlinkSync("gone/answer.txt", path);
  const called = await place.call([...RUN, "-o", path]);
  assertError(called, { code: "storage_failed", exit: 14, says: /answer\.txt/ });
  assert.equal(ending(called).state, "completed");
  assert.equal(ending(called).text, "Hello.");
});

/** Runs the program with a special file; a program that waits for it is ended after ten seconds. */
async function assertRefused(
  place: Place,
  args: readonly string[],
  says: RegExp,
  code = "usage",
): Promise<void> {
  const through = ["timeout", "-k", "1", "10"];
  const called = await place.call([...args, "--json"], { through });
  assertError(called, { code, exit: 2, says });
  assert.deepEqual(place.server.requests, []);
}

test.process("a FIFO or a device in place of a file is exit 2 at once, before anything is sent or written: @FILE, a schema and -o", async () => {
  await using place = new Place([HELLO]);
  const fifo = `${place.sandbox.workspace}/fifo`;
  await new Deno.Command("mkfifo", { args: [fifo] }).output();
  Deno.symlinkSync(fifo, `${place.sandbox.workspace}/link`);
  const kinds = [[fifo, "FIFO"], ["link", "FIFO"], ["/dev/zero", "device"], [
    "/dev/null",
    "device",
  ]] as const;
  for (const [path, kind] of kinds) {
    const says = new RegExp(`${path}".*: it is a ${kind}, not a regular file$`);
    await assertRefused(place, ["run", "--instructions", `@${path}`, "Hi"], says);
    await assertRefused(place, ["run", "--output-schema", path, "Hi"], says);
    await assertRefused(place, ["run", "-o", path, "Hi"], says);
  }
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
});

test.process("a FIFO or a device in place of a file is exit 2 at once, before anything is sent or written: config.json", async () => {
  await using place = new Place([HELLO]);
  const directory = `${place.sandbox.directory}/.config/reprise`;
  Deno.mkdirSync(directory, { recursive: true });
  await new Deno.Command("mkfifo", { args: [`${directory}/config.json`] }).output();
  await assertRefused(place, ["run", "Hi"], /config\.json": it is a FIFO/, "bad_configuration");
  await assertRefused(place, ["config", "list"], /config\.json": it is a FIFO/, "bad_configuration");
});

/** A place with the session "s" of two runs in five turns each. */
const twoRuns = begun(readsThenAnswers, async (place) => {
  await place.session("s");
  const called = await place.call(["run", "--json", "-s", "s", "And again"]);
  assert.equal(called.code, 0, called.stdout);
});

test("files of a newer version are left alone: a turn of its format refuses run with exit 2, and show prints it", async () => {
  await using place = await twoRuns();
  reseal(place.turnPath("s", 10), (text) => text.replace("reprise.turn/1", "reprise.turn/2"));
  await refusesNewer(place);
});

test("files of a newer version are left alone: an event kind of its own refuses run with exit 2, and show prints it", async () => {
  await using place = await twoRuns();
  reseal(place.turnPath("s", 10), (text) => text.replace('"run_ended"', '"run_dreamt"'));
  await refusesNewer(place);
  const shown = await place.call(["show", "s", "--events"]);
  assert.match(shown.stdout, /run_dreamt/);
});

async function refusesNewer(place: Place): Promise<void> {
  const called = await place.call(["run", "--json", "-s", "s", "Hi"]);
  assertError(called, { code: "format_too_new", exit: 2, says: /000010\.json/, hint: /newer version/ });
  assert.equal(place.server.requests.length, 0);
  const shown = await place.call(["show", "s"]);
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /Hello\./);
}
