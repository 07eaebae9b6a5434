/** Steps of a suite's life that are killed: recording, adding, recording what is missing, pruning. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { Sandbox } from "../support/reprise.ts";
import { askAll, type Asked, recorded, SlowApi } from "./fixture_writers.ts";

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
    await recorded(this.sandbox, this.recorder(out, ...flags), { asked, client: out });
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
const askingTests = (state: State) => Object.entries(state).flatMap(([test, inputs]) => asking(test, inputs));

const OLD = numbered("old", 3);
const NEW = numbered("new", 3);
const ALL = [...OLD, ...NEW];

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
    await place.record(out, ["--missing"], askingTests(next));
    assert.deepEqual(place.api.inputsOf(out), missing.toSorted());
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
    await place.record(out, ["--missing"], asked);
    assert.deepEqual(place.api.inputsOf(out), next.slice(inputs.length).toSorted());
    return { "": next };
  },
};

const WHOLE: State = { ...ofTests(4), deleted: numbered("deleted", 2) };
const USED: State = { a: ["a 2", "a 4"], b: numbered("b", 4), c: ["c 1"], deleted: [] };

const prune: Step = {
  name: "fixture prune",
  async prepare(place) {
    const { base, events, sandbox } = place;
    await place.record(base, [], askingTests(WHOLE));
    const serve = sandbox.start(["serve", "--json", base]);
    await askAll(serve, askingTests(USED));
    const { code, stdout, stderr } = await serve.ended();
    assert.equal(code, 0, stdout + stderr);
    Deno.writeTextFileSync(events, stdout);
  },
  args: (place, out) => ["fixture", "prune", out, "--events", place.events, "--unopened"],
  asked: [],
  before: WHOLE,
  after: USED,
  async resume(place, out, state) {
    // Events of another state are refused, so each fixture only gets a new exchange.
    const added = Object.keys(state).map((test) => [test, [`${test} new`]] as const);
    await place.record(out, ["--append"], askingTests(Object.fromEntries(added)));
    return Object.fromEntries(added.map(([test, inputs]) => [test, [...state[test] ?? [], ...inputs]]));
  },
};

/** All steps. */
export const STEPS: readonly Step[] = [recordTests, append, missing, prune];
