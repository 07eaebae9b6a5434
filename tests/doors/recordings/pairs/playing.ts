/** Records pairs on one machine, asks them on another, and tells which answers are played. */
import type { Json } from "../../../support/files.ts";
import assert from "node:assert/strict";
import { RawUpstream, write } from "../../../support/raw_upstream.ts";
import { RecordingHome } from "../home.ts";
import type { Recorder } from "../recorder.ts";
import { exchangesOf, headerOf } from "../recording_files.ts";
import { type Answer, sent, Served } from "../served.ts";
import { CLIENT, fill, type GitTexts, type Machine, type Machines, RECORDER } from "./machines.ts";
import type { More, Pair } from "./pair.ts";
import type { Asked } from "./places.ts";

/** The pair whose outcome is another than its row says, and that outcome. */
export interface Wrong {
  readonly pair: Pair;
  readonly outcome: string;
  /** True if the fixture holds all values of the recorder's machine in another exchange. */
  readonly isArmed: boolean;
}

/** A request whose system prompt holds every value of its machine: so a fixture with it has every rule. */
const ARMING: Asked = {
  path: "/v1/responses",
  body: {
    model: "gpt-5.6",
    instructions: "In {cwd} of {home}, with {tmp}.\nUsername: {user}\nHostname: {host}\nTimezone: {zone}\n" +
      "Platform: {os}\nShell: {shell}\n{day}\n{now}\nSession ID: {session}\n{log}\n",
    input: [{ role: "user", content: "Remember where you are." }],
    prompt_cache_key: "{session}",
  },
};

/** Most pairs that share an armed fixture. */
const SHARED = 40;

/**
 * Returns the pairs that have another outcome than their rows say; each is tried in a fixture of its own, and in an armed
 * one that it shares.
 */
export async function wrongPairs(pairs: readonly Pair[]): Promise<Wrong[]> {
  return await inGroups(pairs, async (home, { there, tried }, { serve = [] }) => {
    const flags = ["--rules", "none", ...serve];
    await using server = await Served.start(home, [`${home.directory}/recorded`], { ...there, flags });
    const wrong: Wrong[] = [];
    for (const { pair, steps, tests } of tried) {
      for (const { test, mark, isArmed } of tests) {
        const outcomes: string[] = [];
        for (const { received, answer } of steps) {
          const { body, ...more } = mark(received);
          outcomes.push(outcomeOf(await server.ask(sent(body, more), `/t/${test}`), answer));
        }
        // The exchanges before the last one play in any case.
        const expected = outcomes.map((_, step) => step < outcomes.length - 1 ? "play" : pair.expected);
        if (outcomes.join() !== expected.join()) {
          wrong.push({ pair, outcome: outcomes.join(", "), isArmed });
        }
      }
    }
    return wrong;
  });
}

/** Returns the pairs with a fixture of their own whose received request `record --missing` did not send, answer and add to the recording. */
export async function unsentPairs(pairs: readonly Pair[]): Promise<Pair[]> {
  return await inGroups(pairs, async (home, { there, tried }, { serve = [] }) => {
    await using upstream = new AnsweringUpstream();
    const options = { ...there, flags: ["--missing", ...serve] };
    await using recorder = await home.record(upstream.origin, options);
    const unsent: Pair[] = [];
    for (const { pair, index, steps } of tried) {
      upstream.answer = { id: `new_${index}`, output: [] };
      const answers: string[] = [];
      for (const { received } of steps) answers.push(await asked(recorder, `${index}`, received));
      if (answers.at(-1) !== JSON.stringify(upstream.answer)) unsent.push(pair);
    }
    const { published } = await recorder.end(0);
    assert.deepEqual(
      [upstream.requests.length, published],
      [tried.length, tried.length].map((all) => all - unsent.length),
    );
    for (const { pair, index, steps } of tried) {
      const added = unsent.includes(pair) ? 0 : 1;
      assert.equal(exchangesOf(`${recorder.out}/${index}`).length, steps.length + added);
    }
    return unsent;
  });
}

/** Rules that a recording of one request has, the values with them, and what `record` printed about it. */
export async function writtenFor(recorded: Asked, more: More = {}): Promise<Json> {
  await using home = new RecordingHome();
  const { options, machine } = placeOf(home, "recorder", { ...RECORDER, ...more.recorder });
  await using upstream = new AnsweringUpstream();
  await using recorder = await home.record(upstream.origin, { ...options, flags: more.record ?? [] });
  await asked(recorder, "one", filled(recorded, "recorder", { recorder: machine, client: CLIENT }));
  const { notes } = await recorder.end(0);
  const { match = {}, context = {} } = headerOf(`${recorder.out}/one`);
  return { match, context, notes };
}

/** Pairs that were recorded. */
interface Recorded {
  /** Options of a call on the client's machine. */
  readonly there: ReturnType<typeof placeOf>["options"];
  readonly tried: readonly {
    readonly pair: Pair;
    readonly index: number;
    readonly steps: ReturnType<typeof stepsOf>;
    readonly tests: ReturnType<typeof testsOf>;
  }[];
}

/** Records the pairs of each two machines and flags, and joins what `act` returns. */
async function inGroups<T>(
  pairs: readonly Pair[],
  act: (home: RecordingHome, recorded: Recorded, more: More) => Promise<readonly T[]>,
): Promise<T[]> {
  const results: T[] = [];
  const keyOf = ({ recorder, client, record, serve }: Pair) =>
    JSON.stringify([recorder, client, record, serve]);
  for (const group of Map.groupBy(pairs, keyOf).values()) {
    await using home = new RecordingHome();
    results.push(...await act(home, await recordPairs(home, group), group[0] ?? {}));
  }
  return results;
}

async function recordPairs(home: RecordingHome, pairs: readonly Pair[]): Promise<Recorded> {
  const [{ recorder: own, client, record = [] }] = pairs as [Pair];
  const here = placeOf(home, "recorder", { ...RECORDER, ...own });
  const there = placeOf(home, "client", { ...CLIENT, ...client });
  const machines = { recorder: here.machine, client: there.machine };
  const tried = pairs.map((pair, index) => ({
    ...{ pair, index, tests: testsOf(pair, index) },
    steps: stepsOf(pair, index, machines),
  }));
  await using upstream = new AnsweringUpstream();
  const options = { ...here.options, flags: ["--append", ...record] };
  await using recorder = await home.record(upstream.origin, options);
  const arming = filled(ARMING, "recorder", machines);
  const armed = new Set<string>();
  for (const { steps, tests } of tried) {
    for (const { test, mark, isArmed } of tests) {
      if (isArmed && !armed.has(test)) await asked(recorder, test, arming);
      if (isArmed) armed.add(test);
      for (const { recorded, answer } of steps) {
        upstream.answer = answer;
        await asked(recorder, test, mark(recorded));
      }
    }
  }
  await recorder.end(0);
  return { there: there.options, tried };
}

/** Sends a request of a test through a recorder; returns the text of its answer. */
async function asked(recorder: Recorder, test: string, { path, body, headers }: Asked): Promise<string> {
  const init = { headers: { "content-type": "application/json", ...headers } };
  return (await recorder.ask(`/t/${test}${path}`, body, init)).text;
}

/** An upstream that answers with JSON. */
class AnsweringUpstream extends RawUpstream {
  answer: Json = {};

  constructor() {
    super((connection) => writeJson(connection, this.answer));
  }
}

/** The exchanges of a pair, the last one with its requests. */
function stepsOf({ recorded, received, before = [], headers = {} }: Pair, index: number, machines: Machines) {
  const steps = [...before, [recorded, received, { id: `answer_${index}`, output: [] }] as const];
  return steps.map(([recorded, received, answer]) => {
    const step = {
      recorded: filled({ headers, ...recorded }, "recorder", machines),
      received: filled({ headers, ...received }, "client", machines),
      answer: filled(answer, "recorder", machines),
    };
    const [one, other] = [JSON.stringify(step.recorded), JSON.stringify(step.received)];
    if (one === other) throw new Error(`The requests of a pair are equal: ${one}`);
    return step;
  });
}

/** The fixtures of a pair; in one that it shares, its requests get a mark, so that no other pair can answer them. */
function testsOf({ before, isShared = false }: Pair, index: number) {
  // Answers of other conversations would bring values back.
  const armed = before === undefined ? `armed-${Math.floor(index / SHARED)}` : `armed-alone-${index}`;
  const own = { test: `${index}`, mark: (asked: Asked) => asked, isArmed: false };
  const mark = (asked: Asked) => ({ ...asked, path: `${asked.path}?pair=${index}` });
  return [...isShared ? [] : [own], { test: armed, mark, isArmed: true }];
}

function outcomeOf({ status, text, events: [event] }: Answer, answer: Json): string {
  if (status === 200) return text === JSON.stringify(answer) ? "play" : `another answer: ${text}`;
  return event?.type === "miss" ? "miss" : `${status} ${text}`;
}

/** Fills the templates in a value. */
function filled<T extends Json>(value: T, side: keyof Machines, machines: Machines): T {
  if (typeof value === "string") return fill(value, side, machines) as T;
  if (Array.isArray(value)) return value.map((item) => filled(item, side, machines)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, filled(member, side, machines)]),
  ) as T;
}

async function writeJson(connection: Deno.Conn, value: Json): Promise<void> {
  const body = new TextEncoder().encode(JSON.stringify(value));
  const head = `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close`;
  await write(connection, `HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
  await write(connection, body);
}

/** Options of a call on a machine, and that machine with the values of its repository. */
function placeOf(home: RecordingHome, side: keyof Machines, machine: Machine) {
  const { host, os, now, user, zone, tmp, shell, git } = machine;
  const own = git === undefined ? {} : repository(`${home.directory}/${side}`, git);
  const { cwd } = { ...machine, ...own };
  return {
    machine: { ...machine, ...own },
    options: {
      env: { HOME: machine.home, USER: user, TZ: zone, TMPDIR: tmp, SHELL: shell },
      machine: { cwd, host, os, now: Date.parse(now) },
    },
  };
}

function repository(
  cwd: string,
  [branch, subject, file]: NonNullable<Machine["git"]>,
): GitTexts & { readonly cwd: string } {
  Deno.mkdirSync(cwd, { recursive: true });
  const git = (...args: readonly string[]): string => {
    const { success, stdout, stderr } = new Deno.Command("git", {
      args: ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args],
      cwd,
    }).outputSync();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout).trimEnd();
  };
  git("init", "--quiet", "--initial-branch", branch);
  git("commit", "--quiet", "--allow-empty", "--message", subject);
  Deno.writeTextFileSync(`${cwd}/${file}`, "");
  return { cwd, log: git("log", "--format=%h %s"), status: git("status", "--short") };
}
