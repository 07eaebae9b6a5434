/** `record --append` that is killed or fails at any operation: readers find whole exchanges, and the next one continues. */
import assert from "node:assert/strict";
import type { Files } from "../../../../src/domain/ports.ts";
import { ATTRIBUTES, ATTRIBUTES_FILE } from "../../../../src/fixture/files.ts";
import { lintFixture } from "../../../../src/fixture/inspect/lint.ts";
import { unsealed } from "../../../../src/fixture/seal.ts";
import { denoFiles } from "../../../../src/store/deno_files.ts";
import { bytesBelow, textsBelow } from "../../../support/files.ts";
import { append, inputsOf, ScratchFolder } from "./appending.ts";
import { CHANGING, spyFiles, systemError } from "../../store/spy_files.ts";
import { test } from "../../../support/test.ts";
import { scaled } from "../../../support/scale.ts";

/** Changes from one end of the second recorder to the next; from state to state they begin at another change. */
const STRIDE = scaled(5, 1);
const LINT = { now: 0, maxAgeDays: null, values: [], checkArguments: () => null };

/** End of a file system: `killed` does nothing from then on, `failed` refuses a single change. */
type Ending = "killed" | "failed";

/** A file system that ends at its change number `at`. Writes take half of the bytes at first. */
class MortalFiles {
  readonly files: Files;
  #changes = 0;
  readonly #at: number;

  constructor(at: number, ending: Ending) {
    this.#at = at;
    let writes = 0;
    const take = (count: number) => writes++ % 2 === 0 ? Math.ceil(count / 2) : count;
    this.files = spyFiles(({ name }) => {
      // Closing a file changes nothing, and a test must not leave it open.
      if (name === "close" || name === "sync") return;
      if (CHANGING.has(name)) this.#changes += 1;
      else if (!this.hasEnded || ending === "failed") return;
      if (ending === "killed" ? this.hasEnded : this.#changes === at) throw systemError("EIO");
    }, { syncs: false, take });
  }

  get hasEnded(): boolean {
    return this.#changes >= this.#at;
  }
}

/** Appends exchanges until the file system ends. Returns how many exchanges it reported, and whether it survived. */
async function appendMortal(
  path: string,
  inputs: readonly string[],
  [ending, at]: readonly [ending: Ending, at: number],
) {
  const mortal = new MortalFiles(at, ending);
  let reported = 0;
  const onExchange = ({ number }: { readonly number: number | null }) => {
    if (!mortal.hasEnded && number !== null) reported += 1;
  };
  try {
    const { failure } = await append(path, inputs, { files: mortal.files, onExchange });
    if (!mortal.hasEnded) assert.equal(failure, null);
  } catch (error) {
    if (!mortal.hasEnded) throw error;
  }
  return { reported, survived: !mortal.hasEnded };
}

/** The inputs that a reader finds, which must be whole; none if there is no fixture yet. */
function readable(path: string): string[] {
  return denoFiles.facts(`${path}/fixture.json`) === null ? [] : inputsOf(path);
}

/** Everything below a folder but times, as a key. */
function stateOf(path: string): string {
  const times = /"created": "[^"]*"|"since":"[^"]*"|"start_time":\d+/g;
  const texts = denoFiles.facts(path) === null ? [] : [...textsBelow(path)];
  const isLeft = denoFiles.facts(`${path}/.recording`) !== null;
  return JSON.stringify([isLeft, texts.map(([name, text]) => [name, text.replaceAll(times, "")])]);
}

function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to);
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyFolder(`${from}/${name}`, `${to}/${name}`);
    else Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Folders in all states in which a recorder may leave a fixture of these inputs, each state once. */
async function leftFolders(root: string, before: readonly string[]): Promise<string[]> {
  const folders = new Map<string, string>();
  for (let at = 1;; at++) {
    let survivors = 0;
    for (const ending of ["killed", "failed"] as const) {
      const path = `${root}/${ending}-${at}`;
      if (before.length > 0) await append(path, before);
      const { reported, survived } = await appendMortal(path, ["x", "y"], [ending, at]);
      const inputs = readable(path);
      const added = inputs.slice(before.length);
      assert.deepEqual(inputs.slice(0, before.length), before, `${ending} at change ${at}`);
      if (ending === "killed") assert.deepEqual(added, ["x", "y"].slice(0, added.length), `killed at ${at}`);
      assert.ok(inputs.length >= before.length + reported, `${ending} at change ${at}`);
      if (survived) survivors += 1;
      else folders.set(stateOf(path), path);
    }
    if (survivors === 2) return [...folders.values()];
  }
}

/** Requires the next recording to leave a whole fixture, with the listed files unchanged. */
async function requireContinued(path: string, { inputs, listed, why }: {
  readonly inputs: readonly string[];
  readonly listed: readonly (readonly [name: string, bytes: Uint8Array])[];
  readonly why: string;
}): Promise<void> {
  const { failure, published } = await append(path, ["d"]);
  assert.deepEqual([failure, published], [null, 1], why);
  assert.deepEqual(inputsOf(path), [...inputs, "d"], why);
  assert.deepEqual(unsealed(denoFiles, path), { added: [], changed: [], removed: [] }, why);
  assert.equal(denoFiles.facts(`${path}/.recording`), null, why);
  const after = bytesBelow(path);
  for (const [name, bytes] of listed) assert.deepEqual(after.get(name), bytes, `${why}: ${name}`);
  assert.equal(textsBelow(path).get(ATTRIBUTES_FILE), ATTRIBUTES, why);
  const { findings } = await lintFixture(denoFiles, path, LINT);
  assert.deepEqual(findings.filter(({ severity }) => severity === "error"), [], why);
}

/** The files of the exchanges that a fixture lists. */
function listedFiles(path: string): [name: string, bytes: Uint8Array][] {
  const { length } = readable(path);
  const isListed = (name: string) => name.startsWith("exchanges/") && Number(name.split("/")[1]) <= length;
  return length === 0 ? [] : [...bytesBelow(path)].filter(([name]) => isListed(name));
}

for (const before of [["a", "b"], []]) {
  const what = before.length > 0 ? "a fixture" : "a new folder";

  test.long(`a recorder that ends at any change of ${what} leaves whole exchanges, and so does the next one`, async () => {
    using folder = new ScratchFolder();
    const left = await leftFolders(folder.root, before);
    assert.ok(left.length > 10, `${left.length} states`);
    const states = new Set<string>();
    for (const [index, from] of left.entries()) {
      const known = readable(from);
      const listed = listedFiles(from);
      for (const ending of ["killed", "failed"] as const) {
        for (let at = 1 + index % STRIDE;; at += STRIDE) {
          const path = `${folder.root}/again`;
          if (denoFiles.facts(from) !== null) copyFolder(from, path);
          // The next recorder removes what is left, and may end too.
          const { reported, survived } = await appendMortal(path, ["c"], [ending, at]);
          const inputs = readable(path);
          const why = `state ${index}, ${ending} at change ${at}`;
          assert.deepEqual(inputs, [...known, "c"].slice(0, inputs.length), why);
          assert.ok(inputs.length >= known.length + reported, why);
          const state = stateOf(path);
          if (!states.has(state)) await requireContinued(path, { inputs, listed, why });
          states.add(state);
          if (denoFiles.facts(path) !== null) Deno.removeSync(path, { recursive: true });
          if (survived) break;
        }
      }
    }
    assert.ok(states.size > 20, `${states.size} states`);
  });

  test.long(`a recording without an exchange removes everything that a killed one left in ${what}`, async () => {
    using folder = new ScratchFolder();
    for (const path of await leftFolders(folder.root, before)) {
      const known = readable(path);
      const listed = listedFiles(path).map(([name]) => name);
      const sealed = textsBelow(path).get("fixture.json");
      const { failure } = await append(path, []);
      assert.equal(failure, null);
      const names = [...bytesBelow(path).keys()];
      assert.deepEqual(names, known.length === 0 ? [] : [ATTRIBUTES_FILE, ...listed, "fixture.json"]);
      assert.equal(textsBelow(path).get("fixture.json"), sealed);
      if (known.length === 0) assert.deepEqual(denoFiles.list(path), []);
    }
  });
}
