/**
 * The program is killed at each step of its saves to the gateway: on entry to the system calls that change files, send
 * something, or acknowledge a turn. Then another home continues the session, and the first one comes back.
 */
import assert from "node:assert/strict";
import { inLanes } from "../crash/killing.ts";
import { lacksProgram } from "../support/needs.ts";
import { type Call, parseTrace, straceOf, variantsOf } from "../crash/trace.ts";
import { type Acknowledged, Machine } from "./machine.ts";
import { assertOneHistory, turnsOn } from "./one_history.ts";
import { environmentOf, Objects, type Place, withGateway } from "./place.ts";
import { IS_SOAK } from "../support/scale.ts";

const SESSION = "killed-7k2m";
/** Runs at the same time: much of a traced run is waiting. */
const LANES = 2;
/** Attempts to hit a point. The runtime's own calls differ a little from start to start: an aim may miss. */
const TRIES = 10;
/** Steps of the order of a save; outside a soak, only these are aimed at. */
const OF_ORDER = /pending|\/turns\b|\/blobs\/|turn\.saved|PUT/;

/** A start from which the run is killed. */
interface Start {
  readonly name: string;
  /** Most points outside a soak. */
  readonly most: number;
  /** Arguments of the run that is killed. */
  readonly args: readonly string[];
  /** Runs before it; one is killed at the step that fits `killedAt`. */
  readonly before: readonly { readonly args: readonly string[]; readonly killedAt?: RegExp }[];
}

const FIRST = ["--new", "One"];
const NEXT = ["--take-over", "Two"];

const STARTS: readonly Start[] = [
  { name: "a new session", most: 5, args: FIRST, before: [] },
  { name: "the next run", most: 8, args: NEXT, before: [{ args: FIRST }] },
  {
    name: "a run that finds a waiting turn, which the remote has",
    most: 3,
    args: ["--take-over", "Three"],
    before: [{ args: FIRST }, { args: NEXT, killedAt: /^link .*pending\/000005\.json/ }],
  },
  {
    name: "a run that finds a waiting turn, which the remote lacks",
    most: 3,
    args: ["--take-over", "Three"],
    before: [{ args: FIRST }, { args: NEXT, killedAt: /^sendto PUT .*turns\/000005\.json/ }],
  },
];

/** Returns the name of a step, the same in each run; `null` for a call that no step consists of. */
function stepOf({ name, path, to = "", creates, data }: Call, home: string): string | null {
  if (name === "sendto") {
    return /^(?:GET|HEAD|PUT|DELETE) /.test(data) ? `sendto ${data.split(" HTTP")[0]}` : null;
  }
  if (name === "write" && data.startsWith('{\\"type\\":\\"turn.saved')) return "write turn.saved";
  if (name === "write" && data.startsWith('{\\"type\\":\\"run.ended')) return "write run.ended";
  if (!path.startsWith(home) || name === "open" && !creates) return null;
  return `${name} ${path.slice(home.length)} ${to.slice(home.length)}`;
}

/** A step, and the call that strace is to kill at. */
interface Point {
  readonly step: string;
  readonly call: Call;
}

function pointsIn(trace: string, home: string): Point[] {
  return parseTrace(trace, null).flatMap((call) => {
    const step = stepOf(call, home);
    return step === null ? [] : [{ step, call }];
  });
}

let cases = 0;

/** Two homes, and a prefix of the bucket. */
class Case {
  readonly acknowledged: Acknowledged;
  readonly a: Machine;
  readonly b: Machine;
  readonly #place: Place;
  readonly #directory: string;
  readonly #objects: Objects;

  private constructor(place: Place, acknowledged: Acknowledged) {
    const name = `case-${++cases}`;
    const address = `s3://tests/${name}`;
    this.acknowledged = acknowledged;
    this.#place = place;
    this.#directory = `${place.sandbox.directory}/${name}`;
    this.#objects = new Objects(place.gateway, name);
    const env = environmentOf(place, address);
    const around = { session: SESSION, directory: this.#directory, env };
    Deno.mkdirSync(this.#directory);
    this.a = new Machine("a", around);
    this.b = new Machine("b", around);
  }

  static empty(place: Place): Case {
    return new Case(place, new Map());
  }

  /** Another case with the files of A, and the objects. */
  async copy(): Promise<Case> {
    const copy = new Case(this.#place, new Map(this.acknowledged));
    const args = ["-r", "--preserve=mode,links", `${this.a.home}/.`, copy.a.home];
    assert.ok((await new Deno.Command("cp", { args }).output()).success);
    for (const key of await this.#objects.keys()) await copy.#objects.put(key, await this.#objects.get(key));
    return copy;
  }

  /** Runs A under strace, which kills it at a call. */
  async traced(
    args: readonly string[],
    at?: Call,
  ): Promise<{ readonly killed: boolean; readonly points: readonly Point[] }> {
    const file = `${this.#directory}/trace`;
    const inject = at === undefined ? undefined : `${variantsOf(at.name)}:signal=KILL:when=${at.ordinal}`;
    const { code, stdout, stderr } = await this.a.run(this.acknowledged, {
      args,
      through: straceOf(file, inject),
    });
    const killed = code === 137;
    assert.ok(killed && at !== undefined || code === 0, `exit code ${code}: ${stdout}${stderr}`);
    return { killed, points: pointsIn(Deno.readTextFileSync(file), this.a.home) };
  }

  /** B continues, A comes back; then what both and the remote have is one history. */
  async judge(): Promise<void> {
    const begun = await turnsOn(this.#objects, SESSION);
    const goOn = ["--take-over", "Go on"];
    const byB = await this.b.run(this.acknowledged, { args: begun.size > 0 ? goOn : ["--new", ...goOn] });
    assert.equal(byB.code, 0, `B: ${byB.stdout}${byB.stderr}`);
    const byA = await this.a.run(this.acknowledged, { args: ["--take-over", "Back"] });
    assert.equal(byA.code, 0, `A: ${byA.stdout}${byA.stderr}`);
    const there = await turnsOn(this.#objects, SESSION);
    assertOneHistory(this.acknowledged, [there, this.a.turns()]);
    for (const [number, text] of this.b.turns()) assert.equal(text, there.get(number), `turn ${number} of B`);
    assert.deepEqual([...this.a.turns("pending").keys()], [], "a turn still waits");
    if (!IS_SOAK) return;
    const { code, stdout } = await this.#place.sandbox.call(["fsck", SESSION, "--home", this.a.home]);
    assert.equal(code, 0, stdout);
  }
}

/** Brings A to a start. */
async function prepared(place: Place, { before }: Start): Promise<Case> {
  let made = Case.empty(place);
  for (const { args, killedAt } of before) {
    if (killedAt === undefined) {
      const { code, stdout } = await made.a.run(made.acknowledged, { args });
      assert.equal(code, 0, stdout);
      continue;
    }
    const { points } = await (await made.copy()).traced(args);
    const aimed = points.find(({ step }) => killedAt.test(step));
    assert.ok(aimed, `no ${killedAt} in ${points.map(({ step }) => step).join("\n")}`);
    for (let tries = 1;; tries++) {
      const tried = await made.copy();
      const { points } = await tried.traced(args, aimed.call);
      if (killedAt.test(points.at(-1)?.step ?? "")) {
        made = tried;
        break;
      }
      assert.ok(tries < 10, `${killedAt} is not hit`);
    }
  }
  return made;
}

/** The points to aim at: all in a soak, otherwise evenly spread ones of the order of a save. */
function aimsAmong(points: readonly Point[], most: number): readonly Point[] {
  if (IS_SOAK) return points;
  const order = points.filter(({ step }) => OF_ORDER.test(step));
  assert.ok(order.length >= most, points.map(({ step }) => step).join("\n"));
  return Array.from({ length: most }, (_, index) => order[Math.floor(index * order.length / most)] as Point);
}

async function killEverywhere(place: Place, start: Start): Promise<void> {
  const origin = await prepared(place, start);
  const { points } = await (await origin.copy()).traced(start.args);
  await inLanes(LANES, aimsAmong(points, start.most), (aim) => killAt(origin, start, aim));
}

async function killAt(origin: Case, { args }: Start, { step, call }: Point): Promise<void> {
  for (let tries = 1;; tries++) {
    const made = await origin.copy();
    const { killed, points } = await made.traced(args, call);
    if (!killed && tries < TRIES) continue;
    assert.ok(killed, `${step} is not hit`);
    try {
      return await made.judge();
    } catch (error) {
      throw new Error(`aimed at ${step}, killed at ${points.at(-1)?.step}`, { cause: error });
    }
  }
}

withGateway(
  "a run killed at any step of its saves loses no acknowledged turn, and another home continues it",
  async (place, test) => {
    for (const start of STARTS) await test.step(start.name, () => killEverywhere(place, start));
  },
  lacksProgram("strace"),
);
