/** The manifest is a cache: spoilt, late or lost it costs nothing, and what it alone knows is never rebuilt. */
import { type Json, sha256 } from "../../support/files.ts";
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { ID, withHome } from "./home.ts";
import {
  call,
  checkpoint,
  ended,
  FIVE_TURNS,
  type GivenTurn,
  message,
  model,
  results,
  sealed,
  type SessionFiles,
  user,
  write,
} from "./session_files.ts";
import { writeFixture } from "../recordings/recording_files.ts";
import { answerText, responseStream } from "../wire/streams_answers.ts";

/** Writes the manifest with other members, sealed. */
function spoil(session: SessionFiles, change: (manifest: Json) => Json): void {
  const { sum: _, ...manifest } = JSON.parse(Deno.readTextFileSync(session.manifest));
  write(session.manifest, sealed(`${JSON.stringify({ ...manifest, ...change(manifest) }).slice(0, -1)},\n `));
}

const cut = (session: SessionFiles, bytes: number) =>
  Deno.truncateSync(session.manifest, Deno.statSync(session.manifest).size - bytes);

/** Manifests that cost a rebuild, and what `fsck` finds. */
const SPOILT: Record<string, [finding: string, spoil: (session: SessionFiles) => void]> = {
  "missing": ["warning manifest_missing", ({ manifest }) => Deno.removeSync(manifest)],
  "empty": ["warning manifest_garbled", ({ manifest }) => Deno.truncateSync(manifest)],
  "cut short": ["warning manifest_garbled", (session) => cut(session, 10)],
  "edited manually": [
    "warning manifest_garbled",
    ({ manifest }) => write(manifest, Deno.readTextFileSync(manifest).replace("completed", "failed")),
  ],
  "of another session": [
    "warning manifest_garbled",
    (session) => spoil(session, () => ({ session: "other" })),
  ],
  "padded to more than 1 MiB": [
    "warning manifest_garbled",
    (session) => session.edit(session.manifest, (text) => text.replace("\n ", " ".repeat(2 ** 20))),
  ],
  "one whose head has another sum": [
    "warning manifest_wrong",
    (session) => spoil(session, ({ head }) => ({ head: { ...head, sum: "0".repeat(64) } })),
  ],
  "one with pins that no turn has": [
    "warning manifest_wrong",
    (session) => spoil(session, ({ pins }) => ({ pins: { ...pins, instructions: "0".repeat(64) } })),
  ],
  "one with another run": ["warning manifest_wrong", (session) => spoil(session, () => ({ run: 7 }))],
  "one that counts too few bytes": [
    "warning manifest_wrong",
    (session) => spoil(session, () => ({ bytes: { turns: 0, blobs: 0 } })),
  ],
  "one that counts one byte of its blobs too few": [
    "warning manifest_wrong",
    (session) => spoil(session, ({ bytes }) => ({ bytes: { ...bytes, blobs: bytes.blobs - 1 } })),
  ],
  "one that counts one byte of its blobs too many": [
    "warning manifest_wrong",
    (session) => spoil(session, ({ bytes }) => ({ bytes: { ...bytes, blobs: bytes.blobs + 1 } })),
  ],
};

for (const [name, [finding, change]] of Object.entries(SPOILT)) {
  withHome(`a manifest that is ${name} costs a rebuild, by repair and by the next writer`, async (home) => {
    const session = home.session();
    const [bytes, body] = [Deno.readTextFileSync(session.manifest), await home.nextBody()];
    change(session);
    assert.deepEqual(await home.findings(), [`${finding} manifest.json`]);
    assert.deepEqual(await home.nextBody(), body);
    assert.equal((await home.listed()).state, "completed");
    await home.json(["repair", session.id]);
    assert.equal(Deno.readTextFileSync(session.manifest), bytes);
    change(session);
    await home.json(["rename", session.id, "Another"]);
    assert.deepEqual(await home.findings(), []);
  }, name.startsWith("padded") ? test.long : Deno.test);
}

const LONG = "A long answer. ".repeat(200);
/** A session that has something to compact and to omit. */
const COMPACTABLE = [user(LONG), model([message("msg_1", LONG)]), ended(), user("Go on", 2), ended(2)];
/** Verbs that write, after one another. */
const WRITING: readonly (readonly string[])[] = [
  ["rename", ID, "Another title"],
  ["omit", ID, "--seq", "2"],
  ["compact", ID, "--strategy", "deterministic", "--tail-events", "0"],
  ["compact", ID, "--undo"],
  ["omit", ID, "--undo"],
  ["fork", ID],
  ["rm", "--unused", "--yes"],
];

withHome("the manifest that each verb writes is the one that its turns and blobs give", async (home) => {
  home.session(COMPACTABLE).blob("no turn names this");
  for (const verb of WRITING) {
    await home.json(verb);
    for (const { name: id } of Deno.readDirSync(`${home.home}/sessions`)) {
      const path = `${home.home}/sessions/${id}/manifest.json`;
      const written = Deno.readTextFileSync(path);
      assert.deepEqual((await home.findings(id)).filter((line) => line.includes("manifest")), [], verb[0]);
      Deno.removeSync(path);
      await home.json(["repair", id]);
      assert.equal(Deno.readTextFileSync(path), written, verb.join(" "));
    }
  }
}, test.long);

withHome(
  "a manifest that lags by a run and a checkpoint is advanced by the turns that it lacks",
  async (home) => {
    const session = home.session();
    const old = Deno.readTextFileSync(session.manifest);
    session.add(user("Go on", 2)).add(ended(2)).add(checkpoint({ turn: 5, seq: 10 }, null)).writeManifest();
    const fresh = Deno.readTextFileSync(session.manifest);
    write(session.manifest, old);
    assert.deepEqual(await home.findings(), ["info manifest_lags manifest.json"]);
    await home.json(["repair", session.id]);
    assert.equal(Deno.readTextFileSync(session.manifest), fresh);
  },
);

withHome(
  "after a manifest that lags, a gap of one turn is damage and no end of the session",
  async (home) => {
    const session = home.session(FIVE_TURNS.slice(0, 3));
    const old = Deno.readTextFileSync(session.manifest);
    for (const turn of FIVE_TURNS.slice(3)) session.add(turn);
    write(session.manifest, old);
    Deno.removeSync(session.turn(4));
    assert.equal(await home.refuses(), true);
    assert.deepEqual((await home.damage()).filter((line) => line.startsWith("error")), [
      "error missing_turn turns/000004.json",
    ]);
  },
);

withHome(
  "the manifest of an earlier version counts no bytes, and the next turn counts them",
  async (home) => {
    const session = home.session();
    const { bytes } = JSON.parse(Deno.readTextFileSync(session.manifest));
    spoil(session, () => ({ bytes: undefined }));
    assert.deepEqual(await home.findings(), []);
    assert.equal((await home.listed()).bytes, bytes.turns + bytes.blobs);
    await home.json(["rename", session.id, "Another"]);
    assert.ok(JSON.parse(Deno.readTextFileSync(session.manifest)).bytes.turns > bytes.turns);
  },
);

/** A session with a checkpoint; opening it reads only the turns after that. */
const CHECKPOINTED = [...FIVE_TURNS, checkpoint({ turn: 5, seq: 10 }, null, { run: 1 })];
const OUTPUT = "a long output\n".repeat(20_000);
const NAMED = { sha256: sha256(OUTPUT), bytes: OUTPUT.length };

/** A run that reads a file, whose content is the blob {@linkcode NAMED}; `seq` is that of its prompt. */
function readingRun(seq: number): GivenTurn[] {
  const [result] = results({ call_c: seq + 1 }, 2).events;
  return [
    user("Read it.", 2),
    model([call("call_c")], 2),
    { kind: "tools", run: 2, events: [{ ...result, blob: NAMED }] },
  ];
}

/** Bytes of all blobs that are there, and as the manifest counts them. */
function blobBytes({ path, manifest }: SessionFiles): [there: number, counted: number] {
  const sizes = [...Deno.readDirSync(`${path}/blobs`)].map(({ name }) =>
    Deno.statSync(`${path}/blobs/${name}`).size
  );
  return [
    sizes.reduce((sum, size) => sum + size, 0),
    JSON.parse(Deno.readTextFileSync(manifest)).bytes.blobs,
  ];
}

/** Files of a writer that is killed after a checkpoint, and the findings of `fsck` about the manifest then. */
const KILLED: Record<string, [left: (session: SessionFiles) => void, finding: string | null]> = {
  "that saved a turn with a blob": [(session) => {
    for (const turn of readingRun(12)) session.add(turn);
    session.blob(OUTPUT);
  }, "info manifest_lags manifest.json"],
  "that put a blob before its turn": [(session) => session.blob(OUTPUT), null],
};

for (const [name, [leave, finding]] of Object.entries(KILLED)) {
  withHome(`the manifest counts the blobs that a killed writer left ${name}`, async (home) => {
    const session = home.session(CHECKPOINTED);
    leave(session);
    const about = (await home.findings()).filter((line) => line.includes("manifest"));
    assert.deepEqual(about, finding === null ? [] : [finding]);
    // Puts the same content again, as an attached file.
    Deno.writeTextFileSync(`${home.workspace}/output.txt`, OUTPUT);
    const fixture = writeFixture(`${home.directory}/fixture`, [{
      body: responseStream([answerText("Done.")]),
    }]);
    const play = [
      "--fixture",
      fixture,
      "--match",
      "sequence",
      "-m",
      "gpt-5.6",
      "--attach",
      "output.txt",
      "Go on",
    ];
    const called = await home.call(["run", "-s", ID, ...play]);
    assert.equal(called.code, 0, called.stderr);
    const [there, counted] = blobBytes(session);
    assert.ok(counted === there && there > OUTPUT.length, `${counted} of ${there} bytes`);
    assert.equal(
      (await home.listed()).bytes,
      JSON.parse(Deno.readTextFileSync(session.manifest)).bytes.turns + there,
    );
    assert.deepEqual(await home.damage(), []);
  });
}

withHome(
  "after a checkpoint too, fsck finds blobs that the manifest does not count, and repair counts them",
  async (home) => {
    const session = home.session(CHECKPOINTED);
    for (const turn of readingRun(12)) session.add(turn);
    session.add(ended(2)).blob(OUTPUT);
    const { bytes } = session.writeManifest();
    spoil(session, () => ({ bytes: { ...bytes, blobs: bytes.blobs - OUTPUT.length } }));
    assert.deepEqual(await home.findings(), ["warning manifest_wrong manifest.json"]);
    await home.json(["repair", ID]);
    assert.deepEqual([await home.findings(), blobBytes(session)], [[], [bytes.blobs, bytes.blobs]]);
  },
);

/** Damage of the blob of a result. */
const LOST: Record<string, (path: string) => void> = {
  "is gone": (path) => Deno.removeSync(path),
  "has another content": (path) => write(path, "short"),
};

for (const [name, damage] of Object.entries(LOST)) {
  withHome(
    `after the repair of a session with a blob that ${name} its manifest counts the others`,
    async (home) => {
      const session = home.session(CHECKPOINTED);
      for (const turn of readingRun(12)) session.add(turn);
      session.add(ended(2)).blob(OUTPUT);
      session.writeManifest();
      damage(`${session.path}/blobs/${NAMED.sha256}`);
      const about = (await home.findings()).filter((line) => line.includes("manifest"));
      assert.deepEqual(about, [], "the blob is the damage");
      await home.json(["repair", ID]);
      const [there, counted] = blobBytes(session);
      assert.ok(counted === there && there < OUTPUT.length, `${counted} of ${there} bytes`);
      assert.deepEqual(await home.damage(), []);
    },
  );
}

withHome("a manifest of a later format is ignored by every verb, and stays", async (home) => {
  const session = home.session();
  write(session.manifest, sealed('{"format":"reprise.manifest/2","anything":true,'));
  const later = Deno.readTextFileSync(session.manifest);
  assert.deepEqual(await home.findings(), ["info manifest_newer manifest.json"]);
  for (const verb of [["rename", session.id, "Another"], ["repair", session.id]]) await home.json(verb);
  assert.equal(Deno.readTextFileSync(session.manifest), later);
  const { turns, problem } = await home.listed();
  assert.equal(turns, 6);
  assert.match(problem, /reprise\.manifest\/2/);
});
