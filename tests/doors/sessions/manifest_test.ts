/** The manifest is a cache: spoilt, late or lost it costs nothing, and what it alone knows is never rebuilt. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { ID, withHome } from "./home.ts";
import {
  checkpoint,
  ended,
  type GivenTurn,
  message,
  model,
  sealed,
  type SessionFiles,
  user,
  write,
} from "./session_files.ts";

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

const MORE: Record<string, readonly GivenTurn[]> = {
  "a run": [user("Go on", 2), ended(2)],
  "a checkpoint": [user("Go on", 2), ended(2), checkpoint({ turn: 5, seq: 10 }, null)],
};

for (const [name, turns] of Object.entries(MORE)) {
  withHome(`a manifest that lags by ${name} is advanced by the turns that it lacks`, async (home) => {
    const session = home.session();
    const old = Deno.readTextFileSync(session.manifest);
    for (const turn of turns) session.add(turn);
    session.writeManifest();
    const fresh = Deno.readTextFileSync(session.manifest);
    write(session.manifest, old);
    assert.deepEqual(await home.findings(), ["info manifest_lags manifest.json"]);
    await home.json(["repair", session.id]);
    assert.equal(Deno.readTextFileSync(session.manifest), fresh);
  });
}

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

withHome("a manifest does not grow with the session", async (home) => {
  const session = home.session();
  const { size } = Deno.statSync(session.manifest);
  for (let run = 2; run < 40; run++) session.add(user(LONG, run)).add(ended(run));
  session.writeManifest();
  Deno.removeSync(session.manifest);
  await home.json(["repair", session.id]);
  assert.ok(Deno.statSync(session.manifest).size < size + 20);
});
