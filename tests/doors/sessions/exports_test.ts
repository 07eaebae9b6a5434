/** `export` and `import`: the same files again, and nothing from a file that is not whole. */
import { said } from "../../support/reprise.ts";
import assert from "node:assert/strict";
import { bytesBelow, type Json, sha256 } from "../../support/files.ts";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { HOSTILE } from "./hostile_exports.ts";
import { ID, type SessionHome, withHome } from "./home.ts";
import { KINDS } from "./kinds.ts";
import { call, ended, type GivenTurn, model, PINS, results, user, write } from "./session_files.ts";

/** The lines of the export of a session, each without its newline. */
async function exported(home: SessionHome, id = ID): Promise<string[]> {
  const { code, stdout } = await home.call(["export", id]);
  assert.equal(code, 0);
  return stdout.split("\n").slice(0, -1);
}

/** Imports a text into a home beside the first one; returns what it printed. */
async function imported(
  home: SessionHome,
  text: string,
  codes: readonly number[] = [0],
  ...flags: string[]
): Promise<Json> {
  const called = await home.call(["import", "-", "--json", "--home", other(home), ...flags], { stdin: text });
  assert.ok(codes.includes(called.code), said(called));
  return JSON.parse(called.stdout);
}

const other = (home: SessionHome) => `${home.directory}/other`;
const whole = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");

/** Everything below the other home. */
function arrived(home: SessionHome): string[] {
  try {
    return [...bytesBelow(other(home)).keys()];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

const EXPORTED: Record<string, readonly GivenTurn[]> = {
  ...KINDS,
  "large and odd contents": [
    user("naïve 🎉 \u0000\u0007 \u2028 end"),
    model([call("call_a")]),
    { kind: "tools", events: [{ ...results({ call_a: 2 }).events[0], output: "x".repeat(600_000) }] },
    ended(),
  ],
};

for (const [kind, turns] of Object.entries(EXPORTED)) {
  withHome(`a session (${kind}) is imported byte for byte, with its manifest`, async (home) => {
    const session = home.session(turns);
    if (kind === "blobs") session.blob("a large output ".repeat(50));
    session.writeManifest();
    await imported(home, whole(await exported(home)));
    const files = (path: string) => bytesBelow(`${path}/sessions/${ID}`, "lock");
    assert.deepEqual(files(other(home)), files(home.home));
  });
}

/** Exports as other programs save them. */
const SAVED: Readonly<Record<string, (text: string) => string>> = {
  "line ends of Windows": (text) => text.replaceAll("\n", "\r\n"),
  "a byte order mark": (text) => `\ufeff${text}`,
  "both": (text) => `\ufeff${text.replaceAll("\n", "\r\n")}`,
  "a mixed end": (text) => text.replace("\n", "\r\n"),
};

withHome("an export that was saved with other line ends or a byte order mark is read", async (home) => {
  home.session();
  const text = whole(await exported(home));
  for (const [name, saved] of Object.entries(SAVED)) {
    assert.equal((await imported(home, saved(text))).session, ID, name);
    const files = (path: string) => bytesBelow(`${path}/sessions/${ID}`, "lock");
    assert.deepEqual(files(other(home)), files(home.home), name);
    Deno.removeSync(other(home), { recursive: true });
    const shown = await home.call(["show", "-", "--json"], { stdin: saved(text) });
    assert.deepEqual([shown.code, JSON.parse(shown.stdout).problems], [0, undefined], name);
  }
});

withHome("a fork is imported with its lineage, without its parent", async (home) => {
  home.session();
  const { session } = await home.json(["fork", ID, "--to-seq", "7"]);
  await imported(home, whole(await exported(home, session)));
  const files = (path: string) => bytesBelow(`${path}/sessions/${session}`, "lock");
  assert.deepEqual(files(other(home)), files(home.home));
  const { sessions } = await home.json(["fsck", "--all", "--home", other(home)]);
  assert.deepEqual(sessions.map(({ id, findings }: Json) => [id, findings]), [[session, []]]);
});

withHome("a damaged blob that only an old request names is a warning, and left out", async (home) => {
  const name = sha256("other tools");
  const request = { ...model([]).request, fields: { tools: { blob: name } } };
  const { path } = home.session([user("Hi"), model([], 1, { request }), ended()]);
  write(`${path}/blobs/${name}`, "Other tools");
  assert.deepEqual(await home.damage(), [`warning damaged_blob blobs/${name}`]);
  const { blobs } = await imported(home, whole(await exported(home)));
  assert.equal(blobs, 2);
});

withHome("an import never overwrites a session, and says so before it reads on", async (home) => {
  const session = home.session();
  const lines = await exported(home);
  const before = bytesBelow(session.path, "lock");
  for (const text of [`${lines[0]}\nnonsense`, whole(lines)]) {
    const called = await home.call(["import", "-", "--json"], { stdin: text });
    assert.deepEqual([called.code, JSON.parse(called.stdout).code], [2, "session_exists"]);
  }
  assert.deepEqual(bytesBelow(session.path, "lock"), before);
  assert.deepEqual([...Deno.readDirSync(`${home.home}/sessions`)].map(({ name }) => name), [ID]);
});

for (const [name, [change, says]] of Object.entries(HOSTILE)) {
  withHome(`an export with ${name} is refused and leaves nothing, with --dry-run too`, async (home) => {
    home.session();
    const lines = await exported(home);
    assert.equal(lines.length, 16, "header, five turns and two blobs of two lines each, end");
    for (const flags of [["--dry-run"], []]) {
      const { code, message } = await imported(home, change([...lines]), [12, 2], ...flags);
      assert.match(code, /^(bad_(export|import)|format_too_new)$/);
      assert.match(message, says);
      assert.deepEqual(arrived(home), []);
    }
    assert.deepEqual([...Deno.readDirSync(home.directory)].filter(({ isFile }) => isFile), []);
  });
}

withHome(
  `a file that is cut, or has one bit flipped, at any of ${samples(2000)} places, leaves nothing`,
  async (home) => {
    home.session();
    const bytes = new TextEncoder().encode(whole(await exported(home)));
    for (let place = 0; place < samples(2000); place++) {
      const at = place * 97 % bytes.length;
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] as number) ^ 1 << place % 7;
      for (const changed of [bytes.slice(0, at), flipped]) {
        const args = ["import", "-", "--json", "--dry-run", "--home", other(home)];
        const called = await home.call(args, { stdin: changed });
        const { code } = JSON.parse(called.stdout);
        assert.ok(["bad_export", "bad_import", "format_too_new"].includes(code), `at ${at}: ${said(called)}`);
      }
    }
    assert.deepEqual(arrived(home), []);
  },
  test.long,
);

withHome("an export of a damaged session writes nothing", async (home) => {
  const session = home.session();
  const blob = `${session.path}/blobs/${PINS.tools}`;
  const refused = async (says: RegExp) => {
    const { code, message } = await home.json(["export", ID, `${home.directory}/file`], 12);
    assert.equal(code, "session_damaged");
    assert.match(message, says);
    assert.throws(() => Deno.statSync(`${home.directory}/file`), Deno.errors.NotFound);
    assert.deepEqual([...Deno.readDirSync(home.directory)].filter(({ isFile }) => isFile), []);
  };
  Deno.writeTextFileSync(blob, "{}");
  await refused(/blobs\//);
  Deno.removeSync(blob);
  await refused(/is missing/);
});

withHome("an export that a shell rewrote in UTF-16 is named so, in both byte orders", async (home) => {
  home.session();
  const text = `\ufeff${whole(await exported(home))}`;
  for (const isLittle of [true, false]) {
    const bytes = new DataView(new ArrayBuffer(2 * text.length));
    for (let at = 0; at < text.length; at++) bytes.setUint16(2 * at, text.charCodeAt(at), isLittle);
    const path = `${home.directory}/utf16.jsonl`;
    Deno.writeFileSync(path, new Uint8Array(bytes.buffer));
    const { code, stdout } = await home.call(["import", path, "--json", "--home", other(home)]);
    assert.deepEqual([code, arrived(home)], [2, []]);
    assert.match(JSON.parse(stdout).message, /: it is in UTF-16$/);
  }
});
