/**
 * `test --update`: what a folder says about requests and turns becomes what the program does now. How steps end is
 * never rewritten: that is what the test promises.
 *
 * @module
 */
import { decodeUtf8Leniently, encodeUtf8 } from "../../domain/bytes.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { Files } from "../../domain/ports.ts";
import { exchangeFolder, readable, readableBody, type RequestFile } from "../../fixture/format.ts";
import type { Fixture } from "../../fixture/read.ts";
import { replaceFixtureFile, requireLineEnds, sealFixture, unsealed } from "../../fixture/seal.ts";
import { type Rewritten, type SessionState, writeExpectation } from "./expectation.ts";
import { exists } from "./files.ts";
import type { StepEnd } from "./step.ts";

/** A step's fixture, and what was asked of it. */
export interface PlayedStep {
  readonly fixture: Fixture | null;
  readonly end: StepEnd;
}

/**
 * Rewrites a test.
 *
 * @throws {RepriseError} `bad_fixture`, before anything is written, where a folder could not be sealed afterwards.
 */
export function updateTest(
  files: Files,
  directory: string,
  { steps, state }: { readonly steps: readonly PlayedStep[]; readonly state: SessionState },
): Rewritten {
  const sealed = new Set(steps.flatMap(({ fixture }) => fixture?.path ?? []));
  if (exists(`${directory}/fixture.json`)) sealed.add(directory);
  for (const path of sealed) requireLineEnds(files, path, unsealed(files, path));
  const requests = steps.flatMap(({ fixture, end }) =>
    fixture === null ? [] : updateRequests(files, fixture, end).map((name) => below(directory, name))
  );
  const expected = writeExpectation(files, directory, state);
  const updated = [...requests, ...expected.updated];
  const isChanged = updated.length > 0 || expected.removed.length > 0;
  for (const path of isChanged ? sealed : []) sealFixture(files, path);
  return { updated, removed: expected.removed };
}

function updateRequests(files: Files, { path, exchanges }: Fixture, end: StepEnd): string[] {
  return exchanges.flatMap(({ number, request }) => {
    const sent = end.requests[number - 1];
    if (sent === undefined) return [];
    const raw = encodeUtf8(sent.body);
    const sum = sha256Hex(raw);
    if (request.bodySha256 === sum && request.path === sent.path && request.method === sent.method) return [];
    const name = `${path}/${exchangeFolder(number)}/request.json`;
    const rawName = `${path}/${exchangeFolder(number)}/request.body`;
    const { body: _body, ...before } = JSON.parse(decodeUtf8Leniently(files.read(name))) as RequestFile;
    const { json, restores } = readableBody(raw);
    const { method, path: asked } = sent;
    const after = { ...before, method, path: asked, body_sha256: sum };
    replaceFixtureFile(files, name, readable(json === undefined ? after : { ...after, body: json }));
    if (!restores) replaceFixtureFile(files, rawName, raw);
    else if (files.facts(rawName) !== null) files.unlink(rawName);
    return [name];
  });
}

function below(directory: string, path: string): string {
  return path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : path;
}
