/** The oracle of killed recorders: it accepts what readers accept, and notices each kind of damage. */
import assert from "node:assert/strict";
import { Place } from "./fixture_steps.ts";
import { seenFixture } from "./fixture_oracle.ts";

const INPUTS = ["one", "two", "three"];

/** Edits `fixture.json`. */
function edit(
  path: string,
  change: (header: { files: Record<string, string>; recordings?: unknown }) => void,
): void {
  const header = JSON.parse(Deno.readTextFileSync(`${path}/fixture.json`));
  change(header);
  Deno.writeTextFileSync(`${path}/fixture.json`, JSON.stringify(header));
}

/** Takes an exchange out of the list. */
const unlist = (path: string, folder: string) =>
  edit(path, ({ files }) => {
    for (const name of Object.keys(files)) if (name.startsWith(`exchanges/${folder}/`)) delete files[name];
  });

const DAMAGE: readonly (readonly [name: string, harm: (path: string) => void, said: RegExp])[] = [
  [
    "a torn answer",
    (path) => Deno.truncateSync(`${path}/exchanges/0002/body`, 9),
    /0002\/body has another sum/,
  ],
  ["a missing request", (path) => Deno.removeSync(`${path}/exchanges/0001/request.json`), /ENOENT/],
  ["a torn header", (path) => Deno.truncateSync(`${path}/fixture.json`, 99), /JSON/],
  ["an unlisted exchange", (path) => unlist(path, "0003"), /unlisted exchanges\/0003\/body/],
  [
    "an unlisted exchange before a listed one",
    (path) => unlist(path, "0002"),
    /unlisted exchanges\/0002\/body/,
  ],
  ["exchanges without a header", (path) => Deno.removeSync(`${path}/fixture.json`), /without fixture\.json/],
  ["recordings that end early", (path) =>
    edit(path, (header) => {
      header.recordings = [{ exchanges: [1, 2] }];
    }), /recordings end before exchange 3 of 3/],
  ["recordings with a gap", (path) =>
    edit(path, (header) => {
      header.recordings = [{ exchanges: [1, 1] }, { exchanges: [3, 3] }];
    }), /a recording of 3 to 3 at 2/],
];

Deno.test("the oracle sees the exchanges of a fixture, passes over leftovers, and notices any damage", async (t) => {
  await using place = new Place();
  await place.record(place.base, [], INPUTS.map((input) => ({ test: null, input })));
  const answers = await Promise.all(INPUTS.map((input) => place.api.answer(input)));
  const exchanges = INPUTS.map((input, index) => ({ input, answer: answers[index] }));
  assert.deepEqual(seenFixture(place.base), { exchanges, isLeft: false });

  const left = `${place.sandbox.directory}/left`;
  place.copyBase(left);
  unlist(left, "0003");
  Deno.mkdirSync(`${left}/.recording`);
  assert.deepEqual(seenFixture(left), { exchanges: exchanges.slice(0, 2), isLeft: true });

  for (const [index, [name, harm, said]] of DAMAGE.entries()) {
    await t.step(name, () => {
      const path = `${place.sandbox.directory}/${index}`;
      place.copyBase(path);
      harm(path);
      assert.throws(() => seenFixture(path), said);
    });
  }
});
