/** Random sessions that change providers: no opaque byte goes where it was not made, and every API takes its requests. */
import assert from "node:assert/strict";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { Dice } from "../../unit/fold/dice.ts";
import { said, SessionHome } from "../sessions/home.ts";
import { type Json, message } from "../sessions/session_files.ts";
import { brokenMessagesRules, brokenResponsesRules, historyOf } from "./rules.ts";
import { asks, type Beat, compacts, endpointOf, ends, says, tell, text, thinking, use } from "./story.ts";

const SESSIONS = samples(600);
const GATEWAY = "https://gateway.example/v1";

/** An origin of items, and the flags that lead to it. One address may serve every provider. */
interface Origin {
  readonly provider: string;
  readonly url: string;
  readonly model: string;
}

const opaque = ({ provider, url }: Origin, id: number) =>
  `OPAQUE.${provider}.${endpointOf(withoutVersion(provider, url))}.${id}`;
const withoutVersion = (provider: string, url: string) =>
  provider === "anthropic" ? url.replace(/\/v1$/, "") : url;

function originOf({ pick }: Dice): Origin {
  const provider = pick(["openai", "azure", "compatible", "anthropic"]);
  const model = provider === "anthropic"
    ? pick(["claude-sonnet-4-5", "claude-fable-5-1"])
    : pick(["gpt-5.6", "o3"]);
  return {
    provider,
    url: pick([GATEWAY, GATEWAY, "https://other.example/v1"]),
    model,
  };
}

/** A session of a few runs, and the origin of its last one. */
function storyOf(dice: Dice): { readonly beats: Beat[]; readonly last: Origin } {
  const { pick } = dice;
  const beats: Beat[] = [];
  let [last, ids] = [originOf(dice), 0];
  const idOf = (prefix: string) => `${prefix}_${++ids}`;
  const itemsOf = (of: Origin): Json[] => {
    const isClaude = of.provider === "anthropic";
    // What looks like the other API's opaque members must not help either.
    const alike = dice.chance(0.2)
      ? { encrypted_content: opaque(of, ++ids), signature: opaque(of, ++ids) }
      : {};
    const items: Json[] = dice.chance(0.8)
      ? [
        isClaude ? { ...thinking("hm"), ...alike, signature: opaque(of, ++ids) } : {
          id: idOf("rs"),
          type: "reasoning",
          summary: [],
          ...alike,
          encrypted_content: opaque(of, ++ids),
        },
      ]
      : [];
    if (dice.chance(0.6)) {
      const words = pick(["an answer", " \n", "lone \ud83d half"]);
      items.push(isClaude ? text(words) : message(idOf("msg"), words));
    }
    for (let calls = pick([0, 1, 1, 2]); calls > 0; calls--) {
      const call_id = pick([idOf("call"), `${idOf("odd")}.7|x`, `${idOf("c")}${"c".repeat(70)}`]);
      const name = pick(["read_file", "functions.read file", "n".repeat(80)]);
      items.push(
        isClaude
          ? use(idOf("toolu"))
          : { id: idOf("fc"), type: "function_call", call_id, name, arguments: pick(["{}", "[1]", ""]) },
      );
    }
    if (!isClaude && dice.chance(0.1)) {
      items.push({ id: idOf("cmp"), type: "compaction", encrypted_content: opaque(of, ++ids) });
    }
    return items.length > 0 ? items : [isClaude ? text("Done") : message(idOf("msg"), "Done")];
  };
  for (let runs = dice.count(1, 5); runs > 0; runs--) {
    if (dice.chance(0.6)) last = originOf(dice);
    beats.push(asks(pick(["prompt", "lone \ud83d half"])));
    for (let steps = dice.count(1, 3); steps > 0; steps--) {
      const { provider, url, model: asked } = last;
      const at = { provider, endpoint: endpointOf(withoutVersion(provider, url)) };
      const items = itemsOf(last);
      beats.push(
        says(items, {
          asked,
          at,
          status: dice.chance(0.2) ? pick(["incomplete", "failed", "cut"]) : "completed",
        }),
      );
      const answered = items.filter(({ type }) => /^(function_call|tool_use)$/.test(type)).filter(() =>
        dice.chance(0.8)
      );
      beats.push((story) => {
        const events = answered.map(({ call_id, id, type }) => {
          const name = type === "tool_use" ? id : call_id;
          const call_seq = story.seqOf(name);
          return {
            type: "tool_result",
            call_id: name,
            call_seq,
            tool: "t",
            status: "ok",
            output: pick(["", "got"]),
          };
        });
        if (events.length > 0) story.add({ kind: "tools", events });
      });
    }
    beats.push(ends());
    if (dice.chance(0.1)) beats.push(compacts());
  }
  if (dice.chance(0.6)) last = originOf(dice);
  return { beats, last };
}

test.long(`in ${SESSIONS} random sessions no opaque byte goes where it was not made, and every API takes its requests`, async () => {
  await using home = new SessionHome();
  const met = { own: 0, foreign: 0 };
  for (let seed = 0; seed < SESSIONS; seed++) {
    const { beats, last: { provider, url, model } } = storyOf(new Dice(seed));
    const turns = tell(...beats);
    home.session(turns, `s${seed}`);
    const args = ["-s", `s${seed}`, "-p", provider, "-m", model, "--base-url", url, "Go on"];
    const env = {
      OPENAI_API_KEY: "k",
      ANTHROPIC_API_KEY: "k",
      AZURE_OPENAI_API_KEY: "k",
      REPRISE_API_KEY: "k",
    };
    const called = await home.call(["run", "--dry-run", "--body", ...args], { env });
    assert.equal(called.code, 0, `seed ${seed}: ${said(called)}`);
    const body = JSON.parse(called.stdout);
    const broken = body.messages === undefined
      ? brokenResponsesRules(body, { isLenient: provider === "compatible" })
      : brokenMessagesRules(body);
    assert.deepEqual(broken, [], `seed ${seed}: ${historyOf(body)}`);
    const at = endpointOf(withoutVersion(provider, url));
    for (const [mark, kind, madeAt] of called.stdout.matchAll(/OPAQUE\.(\w+)\.(\w+)\.\d+/g)) {
      assert.deepEqual([kind, madeAt], [provider, at], `seed ${seed}: ${mark}`);
      met.own++;
    }
    if (JSON.stringify(turns).includes("OPAQUE") && !called.stdout.includes("OPAQUE")) met.foreign++;
    Deno.removeSync(`${home.home}/sessions/s${seed}`, { recursive: true });
  }
  // Sessions in which some of this never happens would prove little.
  for (const [name, count] of Object.entries(met)) assert.ok(count > SESSIONS / 10, `${name}: ${count}`);
});
