import assert from "node:assert/strict";
import { findServed, recordedPlaces, requireYoung } from "../../../../src/cli/serve/served_fixtures.ts";
import { RepriseError } from "../../../../src/domain/errors.ts";
import type { Files } from "../../../../src/domain/ports.ts";
import { denoFiles } from "../../../../src/store/deno_files.ts";
import { writeFixture } from "../../../support/fixture.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A test with a temporary folder. */
function inFolder(name: string, test: (folder: string) => void): void {
  Deno.test(name, () => {
    const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-served-" }));
    try {
      test(folder);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  });
}

inFolder("of the fixtures below a folder only fixture.json is read at the start", (folder) => {
  for (const name of ["a", "b", "c/d"]) writeFixture(`${folder}/${name}`, [{ body: "" }, { body: "" }]);
  const read: string[] = [];
  const files: Files = {
    ...denoFiles,
    read: (path) => {
      read.push(path.slice(folder.length + 1));
      return denoFiles.read(path);
    },
  };
  const { fixtures, folders } = findServed({ files }, [`${folder}//`]);
  assert.deepEqual(folders, [folder]);
  assert.deepEqual(read, ["a/fixture.json", "b/fixture.json", "c/d/fixture.json"]);
  assert.deepEqual(
    fixtures.map(({ path, folder: above, fixture, exchanges }) => [
      path.slice(folder.length + 1),
      above,
      fixture,
      exchanges,
    ]),
    ["a", "b", "c/d"].map((name) => [name, folder, null, 2]),
  );
});

inFolder("a folder that is a fixture is read whole, without the fixtures in it", (folder) => {
  writeFixture(`${folder}/a`, [{ body: "" }]);
  writeFixture(`${folder}/a/inner`, [{ body: "" }]);
  const { fixtures, folders } = findServed({ files: denoFiles }, [`${folder}/a`]);
  assert.deepEqual([fixtures.length, folders, fixtures[0]?.fixture?.exchanges.length], [1, [], 1]);
});

inFolder("a fixture below a folder whose fixture.json is damaged is kept with the reason", (folder) => {
  writeFixture(`${folder}/a`, [{ body: "" }], { base_url: "https://example.com/a/v1" });
  writeFixture(`${folder}/b`, [{ body: "" }]);
  Deno.writeTextFileSync(`${folder}/b/fixture.json`, "{}");
  const { fixtures } = findServed({ files: denoFiles }, [folder]);
  assert.deepEqual(fixtures.map(({ problem }) => problem === null), [true, false]);
  assert.match(fixtures[1]?.problem ?? "", /b\/fixture\.json": format/);
  assert.deepEqual(recordedPlaces(fixtures).map(({ baseUrl }) => baseUrl), ["https://example.com/a/v1"]);
});

inFolder("a fixture below a folder that is too old is refused, as one that was given", (folder) => {
  const created = "2026-11-21T00:00:00.000Z";
  writeFixture(`${folder}/suite/a`, [{ body: "" }], { created });
  const clock = {
    now: () => Date.parse(created) + 2.5 * DAY_MS,
    monotonic: () => 0,
    sleep: () => Promise.resolve(),
  };
  for (const given of ["suite", "suite/a"]) {
    const { fixtures } = findServed({ files: denoFiles }, [`${folder}/${given}`]);
    requireYoung(fixtures, 3, { clock });
    assert.throws(
      () => requireYoung(fixtures, 2, { clock }),
      (error) => error instanceof RepriseError && error.code === "fixture_too_old",
    );
  }
});
