/**
 * Support for the tests of other people's clients. A client is a function that talks to an API and reports its answers,
 * here in front of a rules server through the recorder, and then in front of what was recorded.
 */
import assert from "node:assert/strict";
import type { ProviderKind } from "../../src/domain/fingerprint.ts";
import type { JsonValue } from "../../src/domain/json.ts";
import { type Fixture, readFixture } from "../../src/fixture/read.ts";
import { createReplayer, type Replayer } from "../../src/fixture/serve/replayer.ts";
import type { ServeEvent } from "../../src/fixture/serve/serve_event.ts";
import { startReplayServer } from "../support/replay_server.ts";
import { livePorts } from "../../src/cli/live_ports.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { RecordingHome } from "../doors/recordings/home.ts";

/** Origin of an API: `http://127.0.0.1:PORT`; `undefined` if the client's own environment names it. */
export type Origin = string | undefined;

/** Changes to a client's conversation since it was recorded. */
export interface Change {
  readonly prompt?: string;
  readonly instructions?: string;
  /** The description of its tool. */
  readonly tool?: string;
  /** Result of its tool, for any arguments. */
  readonly result?: string;
  /** Sends other fields that change no answer, such as the name of the user. */
  readonly noise?: true;
  /** A mistake with the history that it sends back; each client makes it in its own way. */
  readonly mistake?: Mistake;
}

/** Mistakes of clients with a history. */
export type Mistake = "reasoning_dropped" | "blob_altered" | "output_forgotten" | "call_forgotten";

/** A whole conversation of a client; gives all that its own objects report, as JSON, or throws its own error. */
export type Client = (origin: Origin, change?: Change) => Promise<JsonValue>;

/** An API of ours with rules; each is new, so that the same conversation gets the same ids and blobs. */
export type Api = () => AsyncDisposable & { readonly baseUrl: string };

/** A client's report as JSON: without members that are `undefined`, as every comparison wants it. */
export function reported(report: unknown): JsonValue {
  return JSON.parse(JSON.stringify(report));
}

/** A recorded conversation. */
export interface Recorded {
  readonly fixture: Fixture;
  /** Report of the client about the conversation. */
  readonly report: JsonValue;
}

/** Runs the client in front of an API, with the recorder between them. */
export async function record(api: Api, client: Client, provider: ProviderKind): Promise<Recorded> {
  await using upstream = api();
  await using home = new RecordingHome();
  await using recorder = await home.record(originOf(upstream), { flags: ["--provider", provider] });
  const report = await client(recorder.origin);
  await recorder.end(0);
  assert.deepEqual(recorder.exchanges.filter(({ state }) => state !== "published"), []);
  return { fixture: readFixture(denoFiles, recorder.out), report };
}

/** A replay server as `serve` runs it, and what it said of each request. */
export class Replay implements AsyncDisposable {
  readonly events: ServeEvent[] = [];
  readonly replayer: Replayer;
  readonly origin: string;
  readonly #stop: () => Promise<void>;

  constructor(...fixtures: readonly Fixture[]) {
    this.replayer = createReplayer(fixtures, { match: "semantic", rules: null });
    const { clock } = livePorts();
    const onEvent = (event: ServeEvent) => void this.events.push(event);
    const server = startReplayServer({ replayer: this.replayer, pace: Infinity, clock, port: 0, onEvent });
    this.origin = server.origin;
    this.#stop = server.stop;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}

/** Asserts that the client reports in front of the recording what it reported then, and that all of it was used. */
export async function assertReplays(
  { fixture, report }: Recorded,
  client: Client,
  warned = 0,
): Promise<void> {
  await using replay = new Replay(fixture);
  assert.deepEqual(await client(replay.origin), report);
  const { served, missed, refused, warned: warnings, tiers, unused } = replay.replayer.summary;
  const { length } = fixture.exchanges;
  assert.deepEqual([served, missed, refused, warnings, tiers.exact, unused], [
    length,
    0,
    0,
    warned,
    length,
    [],
  ]);
}

/** Error that a client throws, or reports as thrown, in its own terms. */
export interface Thrown {
  readonly status: unknown;
  readonly message: string;
  readonly type: unknown;
  /** OpenAI's errors only. */
  readonly code?: unknown;
  readonly param?: unknown;
}

/** The error that a client ends with. */
export async function thrownBy(
  client: Client,
  origin: Origin,
  change: Change,
  read: (error: unknown) => Thrown,
): Promise<Thrown> {
  try {
    const report = await client(origin, change);
    throw new assert.AssertionError({ message: `No error, but ${JSON.stringify(report)}` });
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return read(error);
  }
}

/** Options for the test of a mistake. */
export interface Mistaken {
  readonly api: Api;
  readonly client: Client;
  readonly read: (error: unknown) => Thrown;
  /** The words of the API, with what the client was given in them. */
  readonly expected: Thrown;
  /**
   * Number of requests that succeed before the mistake.
   *
   * @default {1}
   */
  readonly served?: number;
}

/**
 * Asserts that a mistake gets the API's own error from the replay, word for word as from the rules server, at the
 * first attempt, and that the replay counts it: that is exit code 7.
 */
export async function assertRefused(
  { fixture }: Recorded,
  mistake: Mistake,
  { api, client, read, expected, served = 1 }: Mistaken,
): Promise<void> {
  await using replay = new Replay(fixture);
  await using upstream = api();
  const thrown = await thrownBy(client, replay.origin, { mistake }, read);
  assert.deepEqual(thrown, expected);
  assert.deepEqual(thrown, await thrownBy(client, originOf(upstream), { mistake }, read));
  const { summary } = replay.replayer;
  assert.deepEqual([summary.served, summary.refused, summary.missed], [served, 1, 0]);
}

/** A change, and the miss that it must get. */
export interface Missing {
  readonly client: Client;
  readonly read: (error: unknown) => Thrown;
  /** Place in which the request differs, from the message. */
  readonly path: string;
  /** Parts of the two values. */
  readonly recorded: string;
  readonly received: string;
}

/** Asserts that a changed request gets the miss that says where and how, at the first and only attempt. */
export async function assertMissed(
  { fixture }: Recorded,
  change: Change,
  { client, read, path, recorded, received }: Missing,
): Promise<void> {
  await using replay = new Replay(fixture);
  const thrown = await thrownBy(client, replay.origin, change, read);
  assert.equal(thrown.status, 400);
  assert.equal(thrown.type, "fixture_miss");
  const last = replay.events.findLast(({ type }) => type === "miss");
  assert(last?.type === "miss");
  assert.equal(last.nearest?.path, path);
  assert(last.nearest.recorded.includes(recorded), last.nearest.recorded);
  assert(last.nearest.received.includes(received), last.nearest.received);
  assert.match(
    thrown.message,
    /differs from the nearest, exchange \d+, at [a-z*][\w*.[\]]*?(?:\. To (?:match|record) it: .*)?$/,
  );
  const { missed, refused } = replay.replayer.summary;
  assert.deepEqual([missed, refused], [1, 0], "the client asked again");
}

function originOf({ baseUrl }: { readonly baseUrl: string }): string {
  return new URL(baseUrl).origin;
}

/** A blob with one character of its middle changed. */
export function altered(blob: string): string {
  const at = Math.floor(blob.length / 2);
  return `${blob.slice(0, at)}${blob[at] === "A" ? "B" : "A"}${blob.slice(at + 1)}`;
}

/** Options for the tests of a client with a conversation in several steps. */
export interface Conversation {
  /** The package, and how it is used. */
  readonly name: string;
  readonly client: Client;
  readonly provider: ProviderKind;
  readonly api: Api;
  readonly read: (error: unknown) => Thrown;
  /** Number of requests that it sends. */
  readonly requests: number;
  /**
   * Number of requests that the API accepts, and that break a rule.
   *
   * @default {0}
   */
  readonly warned?: number;
  /** The API's errors for mistakes, by the issued items of the recording; none if it leaves no room for mistakes. */
  readonly refusals?: (fixture: Fixture) => readonly (readonly [Mistake, Thrown])[];
  /** Changes of the request, and the differences that a miss reports. */
  readonly misses: readonly (readonly [Change, path: string, recorded: string, received: string])[];
}

/** The tests of a client. */
export function conversationTests(conversation: Conversation): void {
  const { name, client, provider, api, requests, read, warned, refusals, misses } = conversation;
  let made: Promise<Recorded> | undefined;
  const recording = () => made ??= record(api, client, provider);

  Deno.test(`${name}: what was recorded replays with the same items, text and usage`, async () => {
    const recorded = await recording();
    assert.equal(recorded.fixture.exchanges.length, requests);
    await assertReplays(recorded, client, warned);
  });

  if (refusals !== undefined) {
    Deno.test(`${name}: a mistake with the history gets the API's own error, at once`, async (t) => {
      const recorded = await recording();
      for (const [mistake, expected] of refusals(recorded.fixture)) {
        await t.step(mistake, () => assertRefused(recorded, mistake, { api, client, read, expected }));
      }
    });
  }

  Deno.test(`${name}: a changed request gets the miss that says where it differs, at once`, async (t) => {
    const recorded = await recording();
    for (const [change, path, was, is] of misses) {
      await t.step(
        path,
        () => assertMissed(recorded, change, { client, read, path, recorded: was, received: is }),
      );
    }
  });
}
