/** Traces of a recorded run: the `start/` of a session that continues, and messages of a WebSocket. */
import assert from "node:assert/strict";
import { exchangesOf } from "../doors/recordings/recording_files.ts";
import { type Json, textsBelow } from "../support/files.ts";
import { ending, events, said, Sandbox } from "../support/reprise.ts";
import { test } from "../support/test.ts";
import { KEY, loop, SESSION, TransportPlace } from "../support/transport_place.ts";
import { copyBelow } from "./binary/session_copies.ts";
import { Place, readsThenAnswers } from "./harness.ts";

type Harm = (folder: string) => void;
const TURN = "start/turns/000003.json";
const remove = (name: string): Harm => (folder) => Deno.removeSync(`${folder}/${name}`, { recursive: true });
const put = (name: string, text: string): Harm => (folder) =>
  Deno.writeTextFileSync(`${folder}/${name}`, text);
const flip = (name: string): Harm => (folder) => {
  const bytes = Deno.readFileSync(`${folder}/${name}`);
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  Deno.writeFileSync(`${folder}/${name}`, bytes);
};
const blobOf = (folder: string) => `start/blobs/${[...Deno.readDirSync(`${folder}/start/blobs`)][0]?.name}`;

/** Harm to a start/, with the place that `fixture lint` names after the sums were renewed. */
const HARMED: Readonly<Record<string, readonly [Harm, RegExp]>> = {
  "a missing turn": [remove(TURN), /^error start\/turns\/000003\.json: it is missing, but turn 4 exists$/],
  "a turn with another sum": [flip(TURN), /^error start\/turns\/000003\.json: it /],
  "a missing blob": [
    (folder) => remove(blobOf(folder))(folder),
    /^error start\/blobs\/[0-9a-f]{64}: it is missing/,
  ],
  "a manifest of nothing": [
    put("start/manifest.json", "{}"),
    /^error start\/manifest\.json: .*not name a session/,
  ],
  "a manifest that is rebuilt": [
    put("start/manifest.json", '{"session":"s"}'),
    /^warning start\/manifest\.json: .*it is rebuilt from the turns$/,
  ],
};
/** Harm to a start/ whose sums stay those of fixture.json, with what `test` says. */
const UNSEALED: Readonly<Record<string, readonly [Harm, RegExp]>> = {
  "a missing blob": [(folder) => remove(blobOf(folder))(folder), /start\/blobs\/.*": nothing is there/],
  "a file that is not listed": [put("start/turns/000006.json", "{}"), /fixture\.json does not list it/],
};

test.process("a start/ that no run could continue is named by lint, and one with other sums is not played", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const { workspace } = place.sandbox;
  const recorded = await place.call(["run", "--json", "-s", "s", "--record", "kept", "Go on"]);
  assert.equal(recorded.code, 0, recorded.stdout);
  for (const [name, [harm, says]] of Object.entries(HARMED)) {
    const folder = `${workspace}/sealed/${name.replaceAll(" ", "-")}`;
    copyBelow(`${workspace}/kept`, folder);
    harm(folder);
    assert.equal((await place.call(["fixture", "seal", folder])).code, 0, name);
    const linted = await place.call(["fixture", "lint", "--json", folder]);
    const { findings } = JSON.parse(linted.stdout).fixtures[0];
    const found = findings.filter(({ code }: Json) => code === "bad_start")
      .map(({ severity, path, message }: Json) => `${severity} ${path}: ${message}`);
    assert.match(found[0] ?? "", says, `${name}: ${linted.stdout}`);
  }
  const names = Object.keys(UNSEALED);
  for (const [index, name] of names.entries()) {
    copyBelow(`${workspace}/kept`, `${workspace}/unsealed/${index}`);
    UNSEALED[name]?.[0](`${workspace}/unsealed/${index}`);
  }
  const tested = await place.call(["test", "--json", "unsealed"]);
  assert.equal(tested.code, 2, tested.stdout);
  const lines = tested.stdout.trimEnd().split("\n").slice(1, -1).map((line) => JSON.parse(line));
  for (const [index, name] of names.entries()) {
    assert.equal(lines[index].error.code, "bad_fixture", name);
    assert.match(lines[index].error.message, UNSEALED[name]?.[1] ?? /never/, name);
  }
});

test.process("a run over a WebSocket is recorded message by message, and plays again", async () => {
  await using place = await TransportPlace.open({ script: loop });
  const out = `${place.sandbox.directory}/recorded`;
  const called = await place.first("--transport", "ws", "--record", out);
  assert.equal(called.code, 0, said(called));
  const notice: Json = events(called).find((event) => event.type === "notice" && event.kind === "recorded");
  assert.deepEqual([notice?.exchanges, notice?.tested], [3, true], called.stdout);
  const requests = exchangesOf(out).map(({ request }) => request);
  assert.deepEqual(
    requests.map(({ transport, connection }) => [transport, connection]),
    Array(3).fill(["ws", 1]),
  );
  assert.deepEqual(requests.map(({ body }) => body), place.server.requests.map(({ message }) => message));
  assert.ok(![...textsBelow(out).values()].join().includes(KEY));
  for (const verb of [["test"], ["fixture", "lint"]]) {
    const checked = await place.call([...verb, out]);
    assert.equal(checked.code, 0, said(checked));
  }
  await using elsewhere = new Sandbox();
  const played = await elsewhere.call(
    ["run", "--json", "--new", "-s", SESSION, "--fixture", out, "Look at the files"],
    { env: { REPRISE_MODEL: "gpt-5.6" } },
  );
  assert.equal(played.code, 0, said(played));
  assert.equal(ending(played).text, "Three files.");
});
