/**
 * Steps of a suite's life that are killed: recording, adding, recording what is missing, pruning.
 *
 * @module
 */
import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { Sandbox } from "../support/reprise.ts";
import { type Asked, originOf, post, recorded, SlowApi } from "./fixture_writers.ts";

/** Inputs of the exchanges of a fixture, in order. */
export type Inputs = readonly string[];

/** Inputs of each fixture in a folder, by the name of its test; `""` is the folder itself. */
export type State = Readonly<Record<string, Inputs>>;

/** A writer, and its effect on a folder. */
export interface Step {
  readonly name: string;
  /** Creates the folder that each kill gets a copy of. */
  readonly prepare: (place: Place) => Promise<void>;
  /** Arguments of the writer. */
  readonly args: (place: Place, out: string) => readonly string[];
  /** Requests to the writer; none if it ends by itself. */
  readonly asked: readonly Asked[];
  readonly before: State;
  readonly after: State;
  /** Lets the next process write into a folder with this state. @returns the state that must follow. */
  readonly resume: (place: Place, out: string, state: State) => Promise<State>;
}

/** A sandbox with an API. */
export class Place implements AsyncDisposable {
  readonly sandbox = new Sandbox();
  readonly api = new SlowApi();
  /** Folder that each kill gets a copy of. */
  readonly base = `${this.sandbox.directory}/base`;
  /** Events of a use of it. */
  readonly events = `${this.sandbox.directory}/events`;

  /** Returns the arguments of a recorder in front of the API. */
  recorder(out: string, ...flags: readonly string[]): readonly string[] {
    return ["record", "--json", "--upstream", this.api.origin, "--out", out, ...flags];
  }

  /** Records these requests, which must succeed. */
  async record(out: string, flags: readonly string[], asked: readonly Asked[]): Promise<void> {
    await recorded(this.sandbox, this.recorder(out, ...flags), asked);
  }

  /** Creates the folder of a kill. */
  copyBase(out: string): void {
    cpSync(this.base, out, { recursive: true, preserveTimestamps: true });
  }

  async [Symbol.asyncDispose]() {
    await this.api[Symbol.asyncDispose]();
    await this.sandbox[Symbol.asyncDispose]();
  }
}

const numbered = (name: string, count: number): Inputs =>
  Array.from({ length: count }, (_, index) => `${name} ${index + 1}`);
const asking = (test: string | null, inputs: Inputs): readonly Asked[] =>
  inputs.map((input) => ({ test, input }));
const TESTS = ["a", "b", "c"];
const ofTests = (count: number): State =>
  Object.fromEntries(TESTS.map((test) => [test, numbered(test, count)]));
const askingTests = (state: State) => TESTS.flatMap((test) => asking(test, state[test] ?? []));

const OLD = numbered("old", 3);
const NEW = numbered("new", 3);
const ALL = [...OLD, ...NEW];

/** Requires that exactly these inputs reach the API meanwhile, in any order. */
async function reaches(place: Place, inputs: Inputs, act: () => Promise<void>): Promise<void> {
  const before = place.api.asked.length;
  await act();
  assert.deepEqual(place.api.asked.slice(before).toSorted(), inputs.toSorted());
}

const recordTests: Step = {
  name: "record, one recording for each test",
  prepare: ({ base }) => Promise.resolve(void mkdirSync(base)),
  args: (place, out) => place.recorder(out),
  asked: askingTests(ofTests(2)),
  before: { a: [], b: [], c: [] },
  after: ofTests(2),
  async resume(place, out, state) {
    const next = ofTests(3);
    const missing = TESTS.flatMap((test) => next[test]?.slice(state[test]?.length) ?? []);
    await reaches(place, missing, () => place.record(out, ["--missing"], askingTests(next)));
    return next;
  },
};

const append: Step = {
  name: "record --append",
  prepare: (place) => place.record(place.base, [], asking(null, OLD)),
  args: (place, out) => place.recorder(out, "--append"),
  asked: asking(null, NEW),
  before: { "": OLD },
  after: { "": ALL },
  async resume(place, out, { "": inputs = [] }) {
    const next = [...ALL, "last"];
    await place.record(out, ["--append"], asking(null, next.slice(inputs.length)));
    return { "": next };
  },
};

/** Old and new requests in turn. */
const MIXED = OLD.flatMap((old, index) => [old, NEW[index] as string]);

const missing: Step = {
  name: "record --missing",
  prepare: append.prepare,
  args: (place, out) => place.recorder(out, "--missing"),
  asked: asking(null, MIXED),
  before: append.before,
  after: append.after,
  async resume(place, out, { "": inputs = [] }) {
    const next = [...ALL, "last"];
    const asked = asking(null, [...MIXED, "last"]);
    await reaches(place, next.slice(inputs.length), () => place.record(out, ["--missing"], asked));
    return { "": next };
  },
};

const WHOLE = ofTests(4);
const USED: State = { a: ["a 2", "a 4"], b: numbered("b", 4), c: ["c 1"] };

const prune: Step = {
  name: "fixture prune",
  async prepare(place) {
    const { base, events, sandbox } = place;
    await place.record(base, [], askingTests(WHOLE));
    const serve = sandbox.start(["serve", "--json", "--events", events, base]);
    await use(await originOf(serve), USED);
    serve.process.kill("SIGTERM");
    const { code, stderr } = await serve.ended();
    assert.equal(code, 0, stderr);
  },
  args: (place, out) => ["fixture", "prune", out, "--events", place.events],
  asked: [],
  before: WHOLE,
  after: USED,
  async resume(place, out, state) {
    // Once more from the state before; a pruned fixture has another seal, and only takes new exchanges.
    const next: Record<string, Inputs> = {};
    for (const test of TESTS) {
      next[test] = [...state[test] ?? [], `${test} 5`];
    }
    await place.record(out, ["--append"], TESTS.flatMap((test) => asking(test, [`${test} 5`])));
    return next;
  },
};

async function use(origin: string, state: State): Promise<void> {
  for (const request of askingTests(state)) await post(origin, request);
}

/** All steps. */
export const STEPS: readonly Step[] = [recordTests, append, missing, prune];
