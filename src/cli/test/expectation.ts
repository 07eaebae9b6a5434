/**
 * `expect/`: the turn files of every session as they should be at the end, byte for byte, and the names of its blobs.
 *
 * ```
 * expect/SESSION/turns/000001.json
 * expect/SESSION/blobs              one sha256 a line, sorted; absent if the session has no blobs
 * ```
 *
 * Other files there belong to the user: they are neither compared nor changed.
 *
 * @module
 */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { parseExact } from "../../domain/exact_json.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Files } from "../../domain/ports.ts";
import type { Exchange } from "../../fixture/exchange.ts";
import { bodyJson } from "../../fixture/match/compared_json.ts";
import { requestKey } from "../../fixture/match/request_key.ts";
import {
  makeDirectories,
  replaceFixtureFile,
  requireLineEnds,
  sealFixture,
  unsealed,
} from "../../fixture/seal.ts";
import { readable, readableBody } from "../../fixture/format.ts";
import type { RequestFile } from "../../fixture/file_schemas.ts";
import type { Fixture } from "../../fixture/read.ts";
import { entries, exists, filesBelow } from "./files.ts";
import type { SentRequest, StepOutcome } from "./step.ts";

/** Files by their path below `expect/`. */
export type SessionState = ReadonlyMap<string, Uint8Array>;

const EXPECTED = /^[^/]+\/(?:turns\/\d{6,}\.json|blobs)$/;

/** Reads the sessions of a home. The line of a blob marks content with another sum than its name. */
export function sessionState(home: string): SessionState {
  const state = new Map<string, Uint8Array>();
  for (const { name: session } of entries(`${home}/sessions`)) {
    const directory = `${home}/sessions/${session}`;
    for (const file of filesBelow(`${directory}/turns`)) {
      const name = `${session}/turns/${file}`;
      if (EXPECTED.test(name)) state.set(name, Deno.readFileSync(`${directory}/turns/${file}`));
    }
    const blobs = filesBelow(`${directory}/blobs`).map((name) => {
      const sum = sha256Hex(Deno.readFileSync(`${directory}/blobs/${name}`));
      return sum === name ? name : `${name} holds ${sum}`;
    });
    if (blobs.length > 0) {
      state.set(`${session}/blobs`, encodeUtf8(`${blobs.join("\n")}\n`));
    }
  }
  return state;
}

/** Reads `expect/` of a test; `null` if there is none. */
export function expectedState(directory: string): SessionState | null {
  const root = `${directory}/expect`;
  if (!exists(root)) return null;
  return new Map(
    filesBelow(root).filter((name) => EXPECTED.test(name))
      .map((name) => [name, Deno.readFileSync(`${root}/${name}`)]),
  );
}

/** Files that were rewritten and removed: their paths below the test's folder, sorted. */
export interface Rewritten {
  readonly updated: readonly string[];
  readonly removed: readonly string[];
}

/** Writes `state` to `expect/`. */
function writeExpectation(files: Files, directory: string, state: SessionState): Rewritten {
  const before = expectedState(directory) ?? new Map<string, Uint8Array>();
  const root = `${directory}/expect`;
  const removed = [...before.keys()].filter((name) => !state.has(name));
  const updated = [...state].filter(([name, bytes]) => !sameBytes(before.get(name), bytes));
  makeDirectories(files, root);
  for (const name of removed) files.unlink(`${root}/${name}`);
  for (const [name, bytes] of updated) replaceFixtureFile(files, `${root}/${name}`, bytes);
  const below = (names: readonly string[]) => names.map((name) => `expect/${name}`).sort();
  return { updated: below(updated.map(([name]) => name)), removed: below(removed) };
}

export function sameBytes(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a?.length === b.length && a.every((byte, index) => byte === b[index]);
}

export interface PlayedStep {
  readonly fixture: Fixture | null;
  readonly end: StepOutcome;
}

/**
 * Rewrites the requests and `expect/` of a test for `--update`. Keeps the outcomes of its steps, which are its promise.
 *
 * @throws {RepriseError} `bad_fixture`, before anything is written, if a folder could not be sealed afterwards.
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

/**
 * True if a request is the recorded one: byte for byte, or in its meaning if the recorded one is a message of a WebSocket,
 * whose HTTP equivalent has other bytes. Copies of encrypted content count as equal: turn files have them.
 */
export function isRecorded(
  { request, socket }: Exchange,
  { method, path, body }: SentRequest,
): boolean {
  if (`${method} ${path}` !== `${request.method} ${request.path}`) return false;
  const bytes = encodeUtf8(body);
  if (socket === undefined) return sha256Hex(bytes) === request.bodySha256;
  const recorded = request.body ?? new Uint8Array(0);
  const keyOf = (body: Uint8Array) =>
    requestKey({ method, path, api: request.api, body, json: bodyJson(body).compared }, () => "").semantic;
  return keyOf(bytes) === keyOf(recorded);
}

/** Returns the body that `request.json` records for a request: of a WebSocket, the message with the whole input. */
function recordedBody({ request, socket }: Exchange, body: string): string {
  const api = request.api?.socket ?? null;
  if (socket === undefined || api === null) return body;
  return api.createMessage(parseExact(body) as JsonObject, { lane: socket.lane });
}

function updateRequests(files: Files, { path, exchanges }: Fixture, end: StepOutcome): string[] {
  return exchanges.flatMap((exchange) => {
    const { folder, number } = exchange;
    const sent = end.requests[number - 1];
    if (sent === undefined || isRecorded(exchange, sent)) return [];
    const raw = encodeUtf8(recordedBody(exchange, sent.body));
    const sum = sha256Hex(raw);
    const name = `${path}/${folder}/request.json`;
    const rawName = `${path}/${folder}/request.body`;
    const { body: _body, ...before } = JSON.parse(new TextDecoder().decode(files.read(name))) as RequestFile;
    const { json, restores } = readableBody(raw);
    const { path: asked } = sent;
    const method = exchange.socket === undefined ? sent.method : before.method;
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
