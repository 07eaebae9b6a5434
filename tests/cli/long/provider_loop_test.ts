import assert from "node:assert/strict";
import { copyWorkspace, DEMO_PERMISSIONS, DEMO_PROMPTS } from "../../../scripts/demo/scene.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { says, thinking, toolUse } from "../../support/messages_server/script.ts";
import { startMessagesServer, text } from "../../support/messages_server.ts";
import { type Called, ending, events, Sandbox } from "../../support/reprise.ts";
import {
  answer,
  type DialectName,
  message,
  reasoning,
  startResponsesServer,
} from "../../support/responses_server.ts";
import { functionCall } from "../../support/responses_server/script.ts";
import { KEY } from "../harness.ts";

/** Tokens of one response: all input, and of that from the cache; all output, and of that for thinking. */
interface Tokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly thought: number;
}

interface Step {
  readonly thought: string;
  readonly text?: string;
  readonly calls: readonly (readonly [name: string, args: JsonObject])[];
  readonly tokens: Tokens;
}

/** The demo's job in three steps and an answer, then the answer to its second prompt. */
const STEPS: readonly Step[] = [
  {
    thought: "I will list first.",
    text: "I will look at what is here first.",
    calls: [["list_files", { path: null, pattern: null, depth: null }]],
    tokens: { input: 812, cached: 0, output: 148, thought: 96 },
  },
  {
    thought: "I read both at once.",
    calls: [
      ["read_file", { path: "orders/17.txt", offset: null, limit: null }],
      ["read_file", { path: "src/total.sh", offset: null, limit: null }],
    ],
    tokens: { input: 1038, cached: 768, output: 131, thought: 72 },
  },
  {
    thought: "Tax once, on the sum.",
    calls: [
      ["edit_file", {
        path: "src/total.sh",
        old_text: "  net=$((cents * count))\n  tax=$(((net * $2 + 50) / 100))\n" +
          '  total=$((total + net + tax))\ndone < "$1"\necho "$total"\n',
        new_text:
          '  total=$((total + cents * count))\ndone < "$1"\necho "$((total + (total * $2 + 50) / 100))"\n',
      }],
      ["shell", { command: "sh check.sh", argv: null, timeout_seconds: null }],
    ],
    tokens: { input: 1327, cached: 1024, output: 402, thought: 288 },
  },
  {
    thought: "The check passes.",
    text: "Fixed: the tax is taken once.",
    calls: [],
    tokens: { input: 1853, cached: 1280, output: 118, thought: 56 },
  },
  {
    thought: "I worked that out before.",
    text: "192 cents.",
    calls: [],
    tokens: { input: 2041, cached: 1792, output: 96, thought: 48 },
  },
];

/** Counted manually from the table above: steps 1 to 4, then step 5. */
const TOTALS = [
  { input_tokens: 5030, cached_tokens: 3072, output_tokens: 799, reasoning_tokens: 512 },
  { input_tokens: 2041, cached_tokens: 1792, output_tokens: 96, reasoning_tokens: 48 },
];

/** A server of one kind: how it is reached, and what it was asked. */
interface Served extends AsyncDisposable {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly refusals: readonly unknown[];
  readonly requests: readonly { readonly text: string }[];
}

function responses(
  dialect: DialectName,
  args: readonly string[],
  env: (url: string) => Record<string, string>,
): Served {
  const script = STEPS.map(({ thought, text, calls, tokens }) =>
    answer([
      reasoning(thought),
      ...(text === undefined ? [] : [message(text)]),
      ...calls.map(([name, given]) => functionCall(name, given)),
    ], {
      usage: {
        input_tokens: tokens.input,
        input_tokens_details: { cached_tokens: tokens.cached },
        output_tokens: tokens.output,
        output_tokens_details: { reasoning_tokens: tokens.thought },
        total_tokens: tokens.input + tokens.output,
      },
    })
  );
  const server = startResponsesServer({ script, dialect });
  const { refusals, requests } = server;
  const dispose = () => server[Symbol.asyncDispose]();
  return { args, env: env(server.baseUrl), refusals, requests, [Symbol.asyncDispose]: dispose };
}

function claude(): Served {
  const script = STEPS.map(({ thought, text: words, calls, tokens }) =>
    says([
      thinking(thought),
      ...(words === undefined ? [] : [text(words)]),
      ...calls.map(([name, given]) => toolUse(name, given)),
    ], {
      // Disjoint here: what is neither read from the cache nor written to it, the two, and no sum.
      usage: {
        input_tokens: tokens.input - tokens.cached - 10,
        cache_read_input_tokens: tokens.cached,
        cache_creation_input_tokens: 10,
        output_tokens: tokens.output,
        output_tokens_details: { thinking_tokens: tokens.thought },
      },
    })
  );
  const server = startMessagesServer({ script, key: KEY });
  const { refusals, requests } = server;
  return {
    args: ["-p", "anthropic", "-m", "claude-opus-5-5"],
    env: { ANTHROPIC_BASE_URL: server.baseUrl, ANTHROPIC_API_KEY: KEY },
    refusals,
    requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const KINDS: Readonly<Record<string, () => Served>> = {
  openai: () =>
    responses("openai", ["-p", "openai", "-m", "gpt-5.6"], (url) => ({
      OPENAI_BASE_URL: url,
      OPENAI_API_KEY: KEY,
    })),
  azure: () =>
    responses("azure", ["-p", "azure", "-m", "gpt-5.6"], (url) => ({
      AZURE_OPENAI_BASE_URL: url,
      AZURE_OPENAI_API_KEY: KEY,
    })),
  "compatible (DeepSeek's way)": () =>
    responses(
      "deepseek",
      ["-p", "compatible", "-m", "deepseek-reasoner"],
      (url) => ({ OPENAI_BASE_URL: url }),
    ),
  "compatible (LM Studio's way)": () =>
    responses("lmstudio", ["-p", "compatible", "-m", "gpt-oss-20b"], (url) => ({ OPENAI_BASE_URL: url })),
  "compatible (OpenRouter's way)": () =>
    responses("openrouter", ["-p", "compatible", "-m", "x/y"], (url) => ({ OPENAI_BASE_URL: url })),
  "compatible (xAI's way)": () =>
    responses("xai", ["-p", "compatible", "-m", "grok-4"], (url) => ({ OPENAI_BASE_URL: url })),
  anthropic: claude,
};

/** Returns the events of a run without a provider's own members: the same for every kind. */
function story(called: Called): unknown[] {
  return events(called).flatMap((event): unknown[] => {
    switch (event.type) {
      case "text.delta":
      case "reasoning.delta":
      case "item":
        return [];
      case "turn.saved":
        return [[event.type, event.kind, event.turn, event.seq]];
      case "tool.started":
        return [[event.type, event.name, JSON.parse(String(event.arguments))]];
      case "tool.finished":
        // Tools that read run side by side and end in any order.
        return [[event.type, event.name, event.status]];
      case "request":
        return [[event.type, event.step, event.items, event.reasoning_sent, event.reasoning_dropped]];
      case "usage":
        return [[event.type, event.step, event.input_tokens, event.cached_tokens, event.output_tokens]];
      case "run.ended":
        return [[event.type, event.state, event.exit_code, event.run, event.turns, event.text]];
      default:
        return [[event.type]];
    }
  });
}

Deno.test("the demo's job, three tool steps and a second run, gives the same session with every kind of provider", async (t) => {
  const stories: unknown[] = [];
  for (const [kind, serve] of Object.entries(KINDS)) {
    await t.step(kind, async () => {
      await using sandbox = new Sandbox();
      await using served = serve();
      const workspace = `${sandbox.directory}/shop`;
      await copyWorkspace(workspace);
      const options = { env: served.env, cwd: workspace };
      const given = [...served.args, ...DEMO_PERMISSIONS];
      const first = await sandbox.call(
        ["run", "--json", "--new", "-s", "demo", ...given, DEMO_PROMPTS[0]],
        options,
      );
      const second = await sandbox.call(["run", "--json", "-c", ...given, DEMO_PROMPTS[1]], options);
      assert.equal(first.code, 0, first.stdout + first.stderr);
      assert.equal(second.code, 0, second.stdout + second.stderr);
      assert.deepEqual(served.refusals, [], "its rules refuse nothing");
      assert.equal(served.requests.length, 5);
      // Only this API names what it writes to its cache.
      const writes = kind === "anthropic" ? [40, 10] : [0, 0];
      assert.deepEqual(
        [ending(first).usage, ending(second).usage],
        TOTALS.map((usage, run) => ({ ...usage, cache_write_tokens: writes[run] })),
      );
      assert.match(Deno.readTextFileSync(`${workspace}/src/total.sh`), /total \* \$2/, "the edit is real");
      stories.push([story(first), story(second)]);
      assert.deepEqual(stories.at(-1), stories[0]);

      const verified = await sandbox.call(["fsck", "demo", "--requests", "--json"], options);
      assert.equal(verified.code, 0, verified.stdout);
      const checked = await sandbox.call(["fsck", "demo"], options);
      assert.equal(checked.code, 0, checked.stdout);
    });
  }
  assert.equal(stories.length, Object.keys(KINDS).length);
});
