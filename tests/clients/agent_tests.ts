/**
 * The promises that hold for every agent: recorded once, it replays at any place and on any day, and nothing else
 * is let through.
 */
import assert from "node:assert/strict";
import { headerOf } from "../doors/recordings/recording_files.ts";
import { needing } from "../support/needs.ts";
import { LACKS_CLOCK } from "./moved_clock.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";
import { type Agent, AgentSandbox, CHANGED, ELSEWHERE, HERE, PROMPTS, type Replayed } from "./agent_run.ts";
import { tampered } from "./rewriting_proxy.ts";
import { FIRST_TEXT, REQUESTS, SECOND_TEXT } from "./scripted_agent_apis.ts";

/** Expectations of an agent's tests. */
export interface AgentCase {
  /** The client and its settings. */
  readonly name: string;
  readonly agent: Agent;
  /** Named rules that its recording must have. */
  readonly rules: readonly string[];
  /** The rule that a tampered blob breaks. */
  readonly brokenRule: string;
  /** Place of the prompt in the first request. */
  readonly prompt: string;
  /** Flags that a miss names 40 days later, and that `serve` then needs. @default {none} */
  readonly cure?: readonly [flag: string, value: string];
  /** True if the client sends a refused request again, so that a miss comes several times. @default {false} */
  readonly resends?: boolean;
  /**
   * Number of warm-ups over a WebSocket that both prompts begin with: exchanges in addition to {@linkcode REQUESTS}.
   *
   * @default {0}
   */
  readonly warmUps?: number;
  /**
   * Number of requests with a member that the scripted API does not know: the client sends each again without it.
   *
   * @default {0}
   */
  readonly retries?: number;
}

const PAGE = Deno.readTextFileSync(new URL("../../docs/clients.md", import.meta.url));
/** Output of both prompts. */
const TEXTS = `${FIRST_TEXT}\n${SECOND_TEXT}\n`;

/** The tests of an agent, which share one recording. */
export function agentTests(
  { name, agent, rules, brokenRule, prompt, cure, resends = false, warmUps = 0, retries = 0 }: AgentCase,
): void {
  const requests = REQUESTS + warmUps + retries;
  let sandbox: Promise<AgentSandbox> | undefined;
  const recorded = () => sandbox ??= recordedAgent(agent);
  Deno.test.afterAll(async () => await (await sandbox)?.[Symbol.asyncDispose]());
  const test = (promise: string, run: (sandbox: AgentSandbox) => Promise<void>) =>
    Deno.test({
      ...needing(`${name}: ${promise}`, LACKS_AGENTS, LACKS_CLOCK),
      fn: async () => await run(await recorded()),
    });

  test("a recording replays 40 days later at another place, of another user, without the repository", async (sandbox) => {
    const { match } = headerOf(sandbox.fixture);
    assert.deepEqual(rules.filter((rule) => !match?.normalize?.includes(rule)), [], JSON.stringify(match));
    if (cure !== undefined) {
      assert(PAGE.includes(`${cure[0]} '${cure[1]}'`));
      const { events } = await sandbox.replay(ELSEWHERE);
      assert.equal(events[0]?.cure, `${cure[0]} '${cure[1]}'`);
    }
    const replayed = await sandbox.replay(ELSEWHERE, { flags: cure ?? [] });
    assertReplayed(replayed, requests);
    // Each request names the rules that it needed, and the end counts them.
    const { tiers, rules: used } = replayed.ended;
    const ruledRequests = REQUESTS + retries;
    assert.deepEqual([used?.cwd, used?.date], [ruledRequests, ruledRequests]);
    // Warm-ups hold instructions and tools only, which need fewer rules or none.
    assert(Number(tiers?.rules) >= REQUESTS, JSON.stringify(tiers));
    const ruled = replayed.events.filter(({ tier, rules }) => tier === "rules" && Array.isArray(rules));
    assert.equal(ruled.length, tiers?.rules);
  });

  test("a recording replays a day later, with changes in the repository", async (sandbox) => {
    assertReplayed(await sandbox.replay(CHANGED), requests);
  });

  test("a changed prompt is a miss, with one request and exit code 7", async (sandbox) => {
    const { client, server, events } = await sandbox.replay(ELSEWHERE, {
      flags: cure ?? [],
      prompts: ["Delete the files", PROMPTS[1]],
    });
    assert.equal(server.code, 7, server.stderr);
    assert.notEqual(client.code, 0, client.stdout);
    // Only the first request is a miss, and no other comes.
    const before = events.findIndex(({ type }) => type === "miss");
    assert(before <= warmUps + retries, JSON.stringify(events));
    const types = events.map(({ type }) => type);
    if (resends) assert(!types.includes("played"), types.join());
    else assert.deepEqual(types, [...Array(before).fill("played"), "miss"]);
    const missed = events[before] ?? {};
    assert.equal(missed.status, 400, client.stderr);
    assert.equal(missed?.nearest.path, prompt, server.stdout);
  });

  test("a tampered blob gets the API's error and exit code 7", async (sandbox) => {
    const { server, events } = await sandbox.replay(ELSEWHERE, { flags: cure ?? [], rewrite: tampered });
    assert.equal(server.code, 7, server.stderr);
    const refused = events.filter(({ type }) => type === "refused");
    const broken = refused.map(({ rule }) => rule);
    assert.deepEqual(resends ? broken.slice(0, 1) : broken, [brokenRule], server.stdout);
  });
}

async function recordedAgent(agent: Agent): Promise<AgentSandbox> {
  const sandbox = new AgentSandbox(agent);
  for (const place of [HERE, ELSEWHERE, CHANGED]) await sandbox.make(place);
  assert.equal(await sandbox.record(HERE), TEXTS);
  return sandbox;
}

/** Asserts that both prompts went as recorded: the same texts, each exchange used once, and nothing else asked. */
function assertReplayed({ client, server, ended, events }: Replayed, requests = REQUESTS): void {
  const shown = [
    ...events.filter(({ type }) => type !== "played").map((event) => JSON.stringify(event)),
    client.stderr,
  ];
  assert.deepEqual([client.code, server.code], [0, 0], shown.join("\n"));
  assert.equal(client.stdout, TEXTS);
  const { served, missed, refused, unused } = ended;
  assert.deepEqual({ served, missed, refused, unused }, {
    served: requests,
    missed: 0,
    refused: 0,
    unused: [],
  });
}
