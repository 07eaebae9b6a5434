/**
 * Reads a fixture that a killed process may have left, without any code of the program: the harness must not believe the
 * reader that it tests.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { headerOf } from "../doors/recordings/recording_files.ts";
import { bytesBelow, type Json, sha256 } from "../support/files.ts";

/** Exchange as its files show it: `input` of the request, and the recorded answer. */
export interface SeenExchange {
  readonly input: string;
  readonly answer: string;
}

/** Fixture as its files show it. */
export interface SeenFixture {
  readonly exchanges: readonly SeenExchange[];
  /** True if a killed process left its staging folder. */
  readonly isLeft: boolean;
}

/**
 * Returns the fixture in a folder; `null` if there is none.
 *
 * @throws {Error} if anything in it is torn, missing or unlisted.
 */
export function seenFixture(path: string): SeenFixture | null {
  const isLeft = existsSync(`${path}/.recording`);
  if (!existsSync(`${path}/fixture.json`)) {
    assert.ok(isLeft || !existsSync(`${path}/exchanges`), `${path}: exchanges without fixture.json`);
    return null;
  }
  const { format, files, recordings } = headerOf(path);
  assert.equal(format, "reprise.fixture/1", path);
  const found = bytesBelow(path);
  for (const [name, sum] of Object.entries(files)) {
    assert.equal(sha256(found.get(name) ?? ""), sum, `${path}: ${name} is torn or missing`);
  }
  const leftovers = isLeft ? /^(exchanges\/|\.recording\/|fixture\.json\.new$)/ : /^$/;
  const unlisted = [...found.keys()].filter((name) =>
    !["fixture.json", ".gitattributes"].includes(name) && !Object.hasOwn(files, name) && !leftovers.test(name)
  );
  assert.deepEqual(unlisted, [], `${path}: files are not listed`);
  const folders = new Set(
    Object.keys(files).flatMap((name) => /^exchanges\/[\da-f-]+/.exec(name)?.[0] ?? []),
  );
  requireRecordings(path, recordings, folders.size);
  const text = (name: string) => new TextDecoder().decode(found.get(name));
  const exchanges = [...folders].sort().map((folder) => {
    JSON.parse(text(`${folder}/response.json`));
    return { input: JSON.parse(text(`${folder}/request.json`)).body.input, answer: text(`${folder}/body`) };
  });
  return { exchanges, isLeft };
}

/** Requires the recordings of a fixture that has grown to cover its exchanges in order. */
function requireRecordings(path: string, recordings: Json, exchanges: number): void {
  if (recordings === undefined) return;
  let next = 1;
  for (const { exchanges: [first, last] } of recordings) {
    assert.ok(first === next && last >= first, `${path}: a recording of ${first} to ${last} at ${next}`);
    next = last + 1;
  }
  assert.equal(next, exchanges + 1, `${path}: recordings end early`);
}
