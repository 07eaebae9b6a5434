/** `record --append` changes nothing in a folder that it refuses, and nothing in a fixture when it records nothing. */
import assert from "node:assert/strict";
import { type ExitCode, RepriseError } from "../../../../src/domain/errors.ts";
import { openRecording } from "../../../../src/cli/serve/open_recording.ts";
import { readFixture } from "../../../../src/fixture/read.ts";
import { denoFiles } from "../../../../src/store/deno_files.ts";
import { spyFiles, systemError } from "../../store/spy_files.ts";
import { answer, append, inputsOf, portsWith, request, ScratchFolder } from "./appending.ts";
import { test } from "../../../support/test.ts";

/** Kind, mode and content of everything at and below a path. */
function snapshot(path: string): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (name: string) => {
    const info = Deno.lstatSync(`${path}${name}`);
    const mode = `${(info.mode ?? 0).toString(8)} `;
    if (info.isSymlink) found.set(name, mode + Deno.readLinkSync(`${path}${name}`));
    else if (info.isFile) found.set(name, mode + Deno.readTextFileSync(`${path}${name}`));
    else {
      found.set(name, mode);
      if (info.isDirectory) {
        for (const inner of Deno.readDirSync(`${path}${name}`)) visit(`${name}/${inner.name}`);
      }
    }
  };
  visit("");
  return found;
}

async function refused(act: Promise<unknown>): Promise<RepriseError> {
  try {
    await act;
  } catch (error) {
    assert.ok(error instanceof RepriseError, String(error));
    return error;
  }
  assert.fail("It was not refused");
}

function edit(path: string, change: (text: string) => string): void {
  Deno.writeTextFileSync(path, change(Deno.readTextFileSync(path)));
}

/** Writes `fixture.json` as another program may: in another order, with other white space. */
function reformat(path: string): void {
  edit(`${path}/fixture.json`, (text) => {
    const { files, ...header } = JSON.parse(text);
    return JSON.stringify({ files, ...header, note: "edited" });
  });
}

function mkfifo(path: string): void {
  assert.ok(new Deno.Command("mkfifo", { args: [path] }).outputSync().success);
}

/** A kind of damage or another folder, with the refusal. */
interface Case {
  readonly what: string;
  /** Changes a fixture of two exchanges at this path, or replaces it. */
  readonly damage: (path: string) => void;
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly message: RegExp;
  /** True if the system has no such files. */
  readonly unixOnly?: boolean;
}

const BAD = { code: "bad_fixture", exitCode: 2 } as const;
const USAGE = { code: "usage", exitCode: 2 } as const;

const CASES: readonly Case[] = [
  {
    what: "a changed answer",
    damage: (path) => edit(`${path}/exchanges/0002/body`, (text) => `${text}\n`),
    ...BAD,
    message: /exchanges\/0002\/body": its checksum differs from fixture\.json/,
  },
  {
    what: "a changed request",
    damage: (path) => edit(`${path}/exchanges/0001/request.json`, (text) => text.replace('"a"', '"z"')),
    ...BAD,
    message: /exchanges\/0001\/request\.json": its checksum differs/,
  },
  {
    what: "a removed answer",
    damage: (path) => Deno.removeSync(`${path}/exchanges/0002/body`),
    ...BAD,
    message: /exchanges\/0002\/body": nothing is there/,
  },
  {
    what: "a removed last exchange",
    damage: (path) => Deno.removeSync(`${path}/exchanges/0002`, { recursive: true }),
    ...BAD,
    message: /exchanges\/0002": nothing is there|exchanges\/0002\/.*nothing is there/,
  },
  {
    what: "a removed first exchange",
    damage: (path) => Deno.removeSync(`${path}/exchanges/0001`, { recursive: true }),
    ...BAD,
    message: /exchanges\/0001\/request\.json": nothing is there/,
  },
  {
    what: "an added file",
    damage: (path) => Deno.writeTextFileSync(`${path}/notes.txt`, "mine"),
    ...BAD,
    message: /notes\.txt": fixture\.json does not list it/,
  },
  {
    what: "an added exchange",
    damage: (path) => {
      Deno.mkdirSync(`${path}/exchanges/0003`);
      for (const name of ["request.json", "response.json", "body"]) {
        Deno.copyFileSync(`${path}/exchanges/0001/${name}`, `${path}/exchanges/0003/${name}`);
      }
    },
    ...BAD,
    message: /exchanges\/0003\/body": fixture\.json does not list it/,
  },
  {
    what: "line ends that Git converted",
    damage: (path) => edit(`${path}/exchanges/0001/response.json`, (text) => text.replaceAll("\n", "\r\n")),
    ...BAD,
    message: /exchanges\/0001\/response\.json": only its line ends have changed: they are CRLF now/,
  },
  {
    what: "a broken fixture.json",
    damage: (path) => edit(`${path}/fixture.json`, (text) => text.slice(0, 40)),
    ...BAD,
    message: /fixture\.json": it is not JSON/,
  },
  {
    what: "a fixture.json that is a link",
    damage: (path) => {
      Deno.renameSync(`${path}/fixture.json`, `${path}/../elsewhere.json`);
      Deno.symlinkSync("../elsewhere.json", `${path}/fixture.json`);
    },
    ...BAD,
    message: /fixture\.json": it is a link/,
  },
  {
    what: "a later format",
    damage: (path) =>
      edit(`${path}/fixture.json`, (text) => text.replace("reprise.fixture/1", "reprise.fixture/2")),
    code: "format_too_new",
    exitCode: 2,
    message: /format reprise\.fixture\/2, and this version of reprise knows reprise\.fixture\/1/,
  },
  {
    what: "exchanges that are a link",
    damage: (path) => {
      Deno.renameSync(`${path}/exchanges`, `${path}/../elsewhere`);
      Deno.symlinkSync("../elsewhere", `${path}/exchanges`);
    },
    ...BAD,
    message: /exchanges": it is a link/,
  },
  {
    what: "a session test",
    damage: (path) => Deno.writeTextFileSync(`${path}/session.json`, "{}"),
    ...USAGE,
    message: /it holds session\.json, so it is a session test/,
  },
  {
    what: "a session test that was not recorded yet",
    damage: (path) => {
      Deno.removeSync(path, { recursive: true });
      Deno.mkdirSync(path);
      Deno.writeTextFileSync(`${path}/session.json`, "{}");
    },
    ...USAGE,
    message: /it holds session\.json, so it is a session test/,
  },
  {
    what: "other content",
    damage: (path) => {
      Deno.removeSync(path, { recursive: true });
      Deno.mkdirSync(path);
      Deno.writeTextFileSync(`${path}/notes.txt`, "mine");
    },
    ...USAGE,
    message: /it is not empty/,
  },
  {
    what: "other content beside a staging folder",
    damage: (path) => {
      Deno.removeSync(path, { recursive: true });
      Deno.mkdirSync(`${path}/.recording`, { recursive: true });
      Deno.writeTextFileSync(`${path}/notes.txt`, "mine");
    },
    ...USAGE,
    message: /it is not empty/,
  },
  {
    what: "exchanges of another program beside a staging folder",
    damage: (path) => {
      Deno.removeSync(path, { recursive: true });
      Deno.mkdirSync(`${path}/.recording`, { recursive: true });
      Deno.mkdirSync(`${path}/exchanges/0001`, { recursive: true });
      Deno.writeTextFileSync(`${path}/exchanges/0001/thesis.txt`, "mine");
    },
    ...USAGE,
    message: /it is not empty/,
  },
  {
    what: "a file",
    damage: (path) => {
      Deno.removeSync(path, { recursive: true });
      Deno.writeTextFileSync(path, "mine");
    },
    ...USAGE,
    message: /it is a file/,
  },
  {
    what: "a link to a fixture",
    damage: (path) => {
      Deno.renameSync(path, `${path}-elsewhere`);
      Deno.symlinkSync(`${path}-elsewhere`, path);
    },
    ...USAGE,
    message: /it is a link/,
  },
  {
    what: "a staging folder that is a link",
    damage: (path) => {
      Deno.mkdirSync(`${path}/../elsewhere`);
      Deno.symlinkSync("../elsewhere", `${path}/.recording`);
    },
    ...BAD,
    message: /\.recording": it is a link, not a folder/,
  },
  {
    what: "a staging folder that is a file",
    damage: (path) => Deno.writeTextFileSync(`${path}/.recording`, "mine"),
    ...BAD,
    message: /\.recording": it is a file, not a folder/,
  },
  {
    what: "a lock that is a link",
    damage: (path) => {
      Deno.mkdirSync(`${path}/.recording`);
      Deno.writeTextFileSync(`${path}/../elsewhere`, "mine");
      Deno.symlinkSync("../../elsewhere", `${path}/.recording/lock`);
    },
    ...BAD,
    message: /\.recording\/lock": it is a symbolic link/,
  },
  {
    what: "a lock that is a folder",
    damage: (path) => Deno.mkdirSync(`${path}/.recording/lock`, { recursive: true }),
    ...BAD,
    message: /\.recording\/lock": it is a directory/,
  },
  {
    what: "a lock that is a FIFO",
    damage: (path) => {
      Deno.mkdirSync(`${path}/.recording`);
      mkfifo(`${path}/.recording/lock`);
    },
    unixOnly: true,
    ...BAD,
    message: /\.recording\/lock": it is a FIFO/,
  },
];

for (const { what, damage, code, exitCode, message, unixOnly = false } of CASES) {
  test.long({
    name: `record --append refuses ${what} and changes nothing`,
    ignore: unixOnly && Deno.build.os === "windows",
    async fn() {
      using folder = new ScratchFolder();
      await append(folder.path, ["a", "b"]);
      damage(folder.path);
      const before = snapshot(folder.root);
      const error = await refused(append(folder.path, ["c"]));
      assert.match(error.message, message);
      assert.deepEqual([error.code, error.exitCode], [code, exitCode]);
      assert.ok((error.hint ?? "").length > 0);
      assert.deepEqual(snapshot(folder.root), before);
    },
  });
}

Deno.test("record without --append takes no folder with something in it, not even what a killed recorder left", async () => {
  using folder = new ScratchFolder();
  await append(folder.path, ["a"]);
  const fixture = snapshot(folder.root);
  assert.equal((await refused(append(folder.path, ["b"], { grows: false }))).code, "usage");
  assert.deepEqual(snapshot(folder.root), fixture);
  Deno.removeSync(folder.path, { recursive: true });
  Deno.mkdirSync(`${folder.path}/.recording`, { recursive: true });
  const error = await refused(append(folder.path, ["b"], { grows: false }));
  assert.match(`${error.message}\n${error.hint}`, /it is not empty[^]*--append/);
  assert.deepEqual([...snapshot(folder.path).keys()], ["", "/.recording"]);
});

/** Errors of the file system at the first change of a folder, with the code of the program. */
const REFUSALS = [["EACCES", "storage_denied"], ["EROFS", "storage_denied"], [
  "ENOSPC",
  "storage_full",
]] as const;

for (const [code, expected] of REFUSALS) {
  Deno.test(`record --append reports ${code} at its first change, and leaves the fixture unchanged`, async () => {
    using folder = new ScratchFolder();
    await append(folder.path, ["a"]);
    const before = snapshot(folder.root);
    const files = spyFiles(({ name }) => {
      if (["makeDirectory", "createExclusive", "write", "rename", "unlink"].includes(name)) {
        throw systemError(code);
      }
    });
    const error = await refused(append(folder.path, ["b"], { files }));
    assert.deepEqual([error.code, error.exitCode], [expected, 14]);
    assert.ok(error.message.includes(folder.path), error.message);
    assert.deepEqual(snapshot(folder.root), before);
  });
}

Deno.test("a disk that is full does not change the fixture, and frees the folder", async () => {
  using folder = new ScratchFolder();
  await append(folder.path, ["a"]);
  const before = snapshot(folder.root);
  // Nothing of the exchange fits: it is dropped.
  const reasons: (string | null)[] = [];
  const full = spyFiles(({ name }) => {
    if (["createExclusive", "write"].includes(name)) throw systemError("ENOSPC");
  });
  const none = await append(folder.path, ["b"], {
    files: full,
    onExchange: ({ reason }) => reasons.push(reason),
  });
  assert.match(String(none.failure?.error), /ENOSPC/);
  assert.deepEqual(reasons, ["storage"]);
  assert.deepEqual(snapshot(folder.root), before);
  // Everything fits but the new fixture.json.
  const sealing = spyFiles(({ name, path }) => {
    if (name === "write" && path.endsWith("fixture.json.new")) throw systemError("ENOSPC");
  });
  const { failure } = await append(folder.path, ["b"], { files: sealing });
  assert.match(String(failure?.error), /ENOSPC/);
  assert.deepEqual(inputsOf(folder.path), ["a"]);
  const during = snapshot(folder.root);
  for (const [name, content] of before) assert.equal(during.get(name), content, name);
  // The next recorder removes what could not be listed.
  await append(folder.path, []);
  assert.deepEqual(snapshot(folder.root), before);
});

Deno.test("a recording without an exchange leaves every byte of the fixture unchanged", async () => {
  using folder = new ScratchFolder();
  await append(folder.path, ["a", "b"]);
  reformat(folder.path);
  Deno.removeSync(`${folder.path}/.gitattributes`);
  const before = snapshot(folder.root);
  await append(folder.path, []);
  assert.deepEqual(snapshot(folder.root), before);
  await append(folder.path, [], { flags: { notSecret: ["SOME_KEY"], provider: "anthropic" } });
  assert.deepEqual(snapshot(folder.root), before);
});

Deno.test("exchanges that are all dropped leave every byte of the fixture unchanged", async () => {
  using folder = new ScratchFolder();
  await append(folder.path, ["a"]);
  const before = snapshot(folder.root);
  const recording = await openRecording(portsWith(denoFiles), folder.path, {
    flags: { out: folder.path } as never,
    declared: { normalize: ["date"] },
    grows: true,
    onExchange: () => {},
  });
  const body = new TextEncoder().encode('{"model":"new","input":"Today\'s date is 2026-11-21"}');
  answer(recording.writer, request("/v1/responses", { body })).drop("no_answer");
  // Its stream lacks the terminal event.
  answer(recording.writer, request("/v1/responses", { body }), "event: x\ndata: {}\n\n").finish(
    "complete",
    1,
  );
  answer(recording.writer, request("/v1/responses", { body }));
  const { published, dropped, failure } = await recording.close();
  assert.deepEqual([published, dropped, failure], [0, 3, null]);
  assert.deepEqual(snapshot(folder.root), before);
});

Deno.test("an exchange that cannot be moved to its number leaves every byte of the fixture unchanged", async () => {
  using folder = new ScratchFolder();
  await append(folder.path, ["a"]);
  reformat(folder.path);
  const before = snapshot(folder.root);
  const files = spyFiles(({ name, to }) => {
    if (name === "rename" && to?.includes("/exchanges/")) throw systemError("EIO");
  });
  const { published, failure } = await append(folder.path, ["b"], { files });
  assert.equal(published, 0);
  assert.match(String(failure?.error), /EIO/);
  assert.deepEqual(snapshot(folder.root), before);
  assert.equal(readFixture(denoFiles, folder.path).exchanges.length, 1);
});
