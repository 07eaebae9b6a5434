/** Random recorded conversations that begin alike, and clients that hold them again in their own manner. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";
import { exchangeOf, sent, Served } from "./served.ts";
import { call, output, responseStream, user } from "./shapes.ts";

const SEED = 20261122;

interface Shape {
  /** One of a few, so that conversations begin alike. */
  readonly prompt: number;
  readonly steps: readonly { readonly reasons: boolean; readonly calls: number; readonly word: string }[];
}

const shape: fc.Arbitrary<Shape> = fc.record({
  prompt: fc.integer({ min: 0, max: 1 }),
  steps: fc.array(
    fc.record({
      reasons: fc.boolean(),
      calls: fc.integer({ min: 0, max: 2 }),
      word: fc.constantFrom("left", "right"),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

interface Step {
  readonly conversation: number;
  readonly step: number;
  readonly body: Json;
  readonly answer: string;
}

const thought = (name: string, copy: string) => ({
  ...{ id: `rs_${name}`, type: "reasoning", summary: [], encrypted_content: `${copy}_${name}` },
});

const AGENT = {
  ...{ model: "gpt-5.6", store: false, stream: true, instructions: "You are a terminal agent." },
  ...{ reasoning: { effort: "medium" }, tools: [{ type: "function", name: "ls", parameters: { id: {} } }] },
};

/** The requests of a conversation, each with its answer; its ids and blobs are of no other conversation. */
function stepsOf({ prompt, steps }: Shape, conversation: number): Step[] {
  let input: Json[] = [user(`Prompt ${prompt}`)];
  return steps.map(({ reasons, calls, word }, step) => {
    const name = `${conversation}_${step}`;
    const made = Array.from({ length: calls }, (_, index) => {
      const more = { id: `fc_${name}_${index}`, name: "ls", arguments: JSON.stringify({ word, index }) };
      return call(`call_${name}_${index}`, more);
    });
    const content = [{ type: "output_text", text: word, annotations: [] }];
    const said = calls > 0 ? made : [{ id: `msg_${name}`, type: "message", role: "assistant", content }];
    const copies = { added: thought(name, "a"), done: thought(name, "d"), completed: thought(name, "c") };
    const body = { ...AGENT, prompt_cache_key: `conversation-${conversation}`, input };
    const next = calls > 0
      ? made.map(({ call_id }) => output(call_id, `Result of ${word}`))
      : [user(`On with ${word}`)];
    input = [...input, ...(reasons ? [thought(name, "d")] : []), ...said, ...next];
    return { conversation, step, body, answer: responseStream(...(reasons ? [copies] : []), ...said) };
  });
}

const manner = fc.record({
  callIds: fc.constantFrom("", "x", "toolu"),
  dropIds: fc.boolean(),
  copy: fc.constantFrom("a", "d", "c"),
  cacheKey: fc.constantFrom(undefined, "another"),
});
type Manner = typeof manner extends fc.Arbitrary<infer M> ? M : never;

function rewritten(body: Json, { callIds, dropIds, copy, cacheKey }: Manner): Json {
  const input = body.input.map(({ id, ...rest }: Json) => ({
    // A call may go without its id; a message after reasoning may not.
    ...(id === undefined || dropIds && rest.type === "function_call" ? {} : { id }),
    ...rest,
    ...(rest.call_id === undefined ? {} : { call_id: `${callIds}${rest.call_id}` }),
    ...(rest.encrypted_content === undefined
      ? {}
      : { encrypted_content: copy + rest.encrypted_content.slice(1) }),
  }));
  const more = cacheKey === undefined
    ? {}
    : { prompt_cache_key: cacheKey, metadata: { run: "2" }, user: "u" };
  return { ...body, input, ...more };
}

/** All of several lists, each in order, otherwise as `picks` say. */
function interleaved<T>(lists: readonly (readonly T[])[], picks: readonly number[]): T[] {
  const rest = lists.map((list) => [...list]);
  const mixed: T[] = [];
  for (let pick = 0;; pick++) {
    const open = rest.filter((list) => list.length > 0);
    if (open.length === 0) return mixed;
    mixed.push(...open[(picks[pick % picks.length] ?? 0) % open.length]?.splice(0, 1) ?? []);
  }
}

const picks = fc.array(fc.nat({ max: 1000 }), { minLength: 5, maxLength: 20 });
const withoutIds = (body: Json) => body.input.map(({ id: _, call_id: __, ...rest }: Json) => rest);

withHome(
  "each request of parallel conversations finds its own exchange in any manner",
  async (home) => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(shape, { minLength: 1, maxLength: 4 }),
        picks,
        picks,
        manner,
        async (shapes, picks, others, how) => {
          const conversations = shapes.map(stepsOf);
          const steps = interleaved(conversations, picks);
          const name = `f${++count}`;
          home.fixture(name, steps.map(({ body, answer }) => exchangeOf(sent(body, { answer }))));
          // The rules know a call that followed reasoning by its id alone.
          const flags = how.callIds === "" ? [] : ["--rules", "none"];
          await using server = await Served.start(home, [name], { cwd: home.directory, flags });
          // Conversations that mean the same may change places as a whole, so each client follows what it was answered.
          const clients: Step[][] = shapes.map(() => []);
          for (
            const client of interleaved(shapes.map(({ steps }, client) => steps.map(() => client)), others)
          ) {
            const last = clients[client]?.at(-1);
            const next = last === undefined
              ? conversations[client]?.[0]
              : conversations[last.conversation]?.[last.step + 1];
            // The conversation that answered may be shorter than the one that this client began.
            if (next === undefined) continue;
            const { events: [event] } = await server.ask(rewritten(next.body, how));
            const answered = steps[event.number - 1];
            assert.ok(event.type === "played" && answered !== undefined, JSON.stringify(event));
            assert.deepEqual(withoutIds(answered.body), withoutIds(next.body));
            clients[client]?.push(answered);
          }
        },
      ),
      { numRuns: 30, seed: SEED },
    );
  },
  test.long,
);
