/**
 * Support for the tests of other people's clients. A client is a function that talks to an API and reports its answers,
 * here in front of a rules server through the recorder, and then in front of what was recorded.
 */
import assert from "node:assert/strict";
import { RecordingHome } from "../doors/recordings/home.ts";
import { exchangesOf, type ReadExchange } from "../doors/recordings/recording_files.ts";
import { Served } from "../doors/recordings/served.ts";
import type { Json } from "../support/files.ts";

/** Changes to a client's conversation since it was recorded. */
export interface Change {
  readonly prompt?: string;
  readonly instructions?: string;
  /** The description of its tool. */
  readonly tool?: string;
  /** Result of its tool, for any arguments. */
  readonly result?: string;
  /** A mistake with the history that it sends back; each client makes it in its own way. */
  readonly mistake?: Mistake;
}

/** Mistakes of clients with a history. */
export type Mistake = "reasoning_dropped" | "blob_altered" | "output_forgotten" | "call_forgotten";

/** A whole conversation of a client; gives all that its own objects report, as JSON, or throws its own error. */
export type Client = (origin: string, change?: Change) => Promise<Json>;

/** A running API of ours. */
export type RunningApi = AsyncDisposable & { readonly baseUrl: string };

/** An API of ours with rules; each is new, so that the same conversation gets the same ids and blobs. */
export type Api = () => RunningApi | Promise<RunningApi>;

/** A client's report as JSON: without members that are `undefined`, as every comparison wants it. */
export function reported(report: unknown): Json {
  return JSON.parse(JSON.stringify(report));
}

/** A recorded conversation. */
export interface Recorded {
  /** Folder of the recording. */
  readonly path: string;
  readonly exchanges: readonly ReadExchange[];
  /** Report of the client about the conversation. */
  readonly report: Json;
}

let home: RecordingHome | undefined;
let recordings = 0;

/** Home of all recordings of this process, which is gone with it. */
export function homeOfRecordings(): RecordingHome {
  if (home !== undefined) return home;
  const made = home = new RecordingHome();
  globalThis.addEventListener("unload", () => Deno.removeSync(made.directory, { recursive: true }));
  return made;
}

/** Runs the client in front of an API, with the recorder between them. */
export async function record(api: Api, client: Client, provider: string): Promise<Recorded> {
  await using upstream = await api();
  const out = `recorded-${++recordings}`;
  const flags = ["--provider", provider];
  await using recorder = await homeOfRecordings().record(originOf(upstream), { out, flags });
  const report = await client(recorder.origin);
  await recorder.end(0);
  assert.deepEqual(recorder.exchanges.filter(({ state }) => state !== "published"), []);
  return { path: recorder.out, exchanges: exchangesOf(recorder.out), report };
}

/** Asserts what `serve` counted at its end: played, missed and refused requests. */
export async function assertEnded(
  server: Served,
  [served, missed = 0, refused = 0]: readonly [served: number, missed?: number, refused?: number],
  more: Json = {},
): Promise<Json> {
  const ended = await server.end();
  const expected = { served, missed, refused, ...more };
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, ended[name]])), expected);
  return ended;
}

/** Serves recordings as `serve` does. */
export function serving(...paths: readonly string[]): Promise<Served> {
  return Served.start(homeOfRecordings(), paths);
}

/** Asserts that the client reports in front of the recording what it reported then, and that all of it was used. */
export async function assertReplays(
  { path, exchanges: { length }, report }: Recorded,
  client: Client,
  warned = 0,
): Promise<void> {
  await using server = await serving(path);
  assert.deepEqual(await client(server.origin), report);
  const { tiers } = await assertEnded(server, [length], { warned, unused: [] });
  assert.equal(tiers.exact, length);
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
async function thrownBy(
  client: Client,
  origin: string,
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
  /** Number of requests that succeed before the mistake. @default {1} */
  readonly served?: number;
}

/**
 * Asserts that a mistake gets the API's own error from the replay, word for word as from the rules server, at the
 * first attempt, and that the replay counts it: that is exit code 7.
 */
export async function assertRefused(
  { path }: Recorded,
  mistake: Mistake,
  { api, client, read, expected, served = 1 }: Mistaken,
): Promise<void> {
  await using server = await serving(path);
  await using upstream = await api();
  const thrown = await thrownBy(client, server.origin, { mistake }, read);
  assert.deepEqual(thrown, expected);
  assert.deepEqual(thrown, await thrownBy(client, originOf(upstream), { mistake }, read));
  await assertEnded(server, [served, 0, 1]);
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
  { path: recording }: Pick<Recorded, "path">,
  change: Change,
  { client, read, path, recorded, received }: Missing,
): Promise<void> {
  await using server = await serving(recording);
  const thrown = await thrownBy(client, server.origin, change, read);
  assert.equal(thrown.status, 400);
  assert.equal(thrown.type, "fixture_miss");
  const { nearest } = server.events.findLast(({ type }) => type === "miss");
  assert.equal(nearest.path, path);
  assert(nearest.recorded.includes(recorded), nearest.recorded);
  assert(nearest.received.includes(received), nearest.received);
  assert.match(
    thrown.message,
    /differs from the nearest, exchange \d+, at [a-z*][\w*.[\]]*?(?:\. To (?:match|record) it: .*)?$/,
  );
  const { missed, refused } = await server.end();
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
  /** @default {"openai"} */
  readonly provider?: string;
  readonly api: Api;
  readonly read: (error: unknown) => Thrown;
  /** Number of requests that it sends. @default {3} */
  readonly requests?: number;
  /** Number of requests that the API accepts, and that break a rule. @default {0} */
  readonly warned?: number;
  /** The API's errors for mistakes, by the issued items of the recording; none if it leaves no room for mistakes. */
  readonly refusals?: (recorded: Recorded) => readonly (readonly [Mistake, Thrown])[];
  /** Changes of the request, and the differences that a miss reports. */
  readonly misses: readonly (readonly [Change, path: string, recorded: string, received: string])[];
}

/** The tests of a client. */
export function conversationTests(
  { name, client, provider = "openai", api, requests = 3, read, warned, refusals, misses }: Conversation,
): void {
  let made: Promise<Recorded> | undefined;
  const recording = () => made ??= record(api, client, provider);

  Deno.test(`${name}: items, text and usage are those of the API itself, when recorded and when replayed`, async () => {
    const recorded = await recording();
    assert.equal(recorded.exchanges.length, requests);
    await using upstream = await api();
    assert.deepEqual(recorded.report, await client(originOf(upstream)));
    await assertReplays(recorded, client, warned);
  });

  Deno.test(`${name}: a mistake gets the API's own error, a change the miss that says where, each at once`, async (t) => {
    const recorded = await recording();
    for (const [mistake, expected] of refusals?.(recorded) ?? []) {
      await t.step(mistake, () => assertRefused(recorded, mistake, { api, client, read, expected }));
    }
    for (const [change, path, was, received] of misses) {
      await t.step(
        path,
        () => assertMissed(recorded, change, { client, read, path, recorded: was, received }),
      );
    }
  });
}
