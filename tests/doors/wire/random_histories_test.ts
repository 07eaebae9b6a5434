/**
 * Random sessions that change providers, are refused and compacted: no opaque byte goes where it was not made, every API
 * takes its requests, and an omission that is undone changes no byte.
 */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { Dice } from "../../support/dice.ts";
import { SessionHome } from "../sessions/home.ts";
import { type GivenTurn, message } from "../sessions/session_files.ts";
import { nextRequest } from "./next_request.ts";
import {
  asks,
  type Beat,
  compacts,
  endpointOf,
  ends,
  notes,
  omits,
  says,
  tell,
  text,
  thinking,
  undoes,
  use,
} from "./story.ts";

const SESSIONS = samples(750);
const LONE = "lone \ud83d half";

/** An origin of items, and the flags that lead to it. One address may serve every provider. */
interface Origin {
  readonly provider: string;
  readonly url: string;
  readonly model: string;
}

const hashOf = ({ provider, url }: Origin) =>
  endpointOf(provider === "anthropic" ? url.replace(/\/v1$/, "") : url);

/** A session as it grows; the same for the same seed. */
class Maker {
  readonly beats: Beat[] = [];
  readonly #dice: Dice;
  readonly #url: string;
  readonly #reasoning: string[] = [];
  #ids = 0;
  at: Origin;

  constructor(dice: Dice) {
    this.#dice = dice;
    // Half of the sessions stay with OpenAI, at one address or two.
    this.#url = dice.pick(["https://gateway.example/v1", "https://api.openai.com/v1"]);
    this.at = this.#origin();
  }

  make(): this {
    const dice = this.#dice;
    for (let runs = dice.count(1, 5); runs > 0; runs--) {
      if (dice.chance(0.5)) this.at = this.#origin();
      this.beats.push(asks(dice.pick([this.#id("prompt"), `${LONE} ${++this.#ids}`])));
      for (let steps = dice.count(1, 3); steps > 0; steps--) this.#step();
      this.beats.push(ends());
      if (dice.chance(0.1)) this.beats.push(compacts());
    }
    if (dice.chance(0.5)) this.at = this.#origin();
    return this;
  }

  #origin(): Origin {
    const dice = this.#dice;
    const { pick } = dice;
    const provider = this.#url.includes("openai")
      ? "openai"
      : pick(["openai", "azure", "compatible", "anthropic"]);
    const model = pick(
      provider === "anthropic" ? ["claude-sonnet-4-5", "claude-fable-5-1"] : ["gpt-5.6", "gpt-5.6", "o3"],
    );
    return { provider, url: dice.count(1, 4) > 1 ? this.#url : "https://other.example/v1", model };
  }

  #id(prefix: string): string {
    return `${prefix}_${++this.#ids}`;
  }

  /** An opaque text that names its origin. */
  #opaque(): string {
    return `OPAQUE.${this.at.provider}.${hashOf(this.at)}.${++this.#ids}`;
  }

  #step(): void {
    const dice = this.#dice;
    const items = this.at.provider === "anthropic" ? this.#blocks() : this.#items();
    const status = dice.chance(0.2) ? dice.pick(["incomplete", "failed", "cut"]) : "completed";
    const at = { provider: this.at.provider, endpoint: hashOf(this.at), account: null };
    this.beats.push(says(items, { asked: this.at.model, at, status }));
    const calls = items.filter(({ type }) => /^(function_call|custom_tool_call|tool_use)$/.test(type));
    const answered = calls.filter(() => dice.chance(0.8)).map(({ call_id, id }) => ({
      call_id: call_id ?? id,
      output: dice.pick(["", "got", LONE]),
    }));
    this.beats.push((story) => {
      const events = answered.map(({ call_id, output }) => {
        const call_seq = story.seqOf(call_id);
        return { type: "tool_result", call_id, call_seq, tool: "t", status: "ok", output };
      });
      if (events.length > 0) story.add({ kind: "tools", events });
    });
    if (this.#reasoning.length === 0 || !dice.chance(0.15)) return;
    this.beats.push(
      notes({ [dice.pick(this.#reasoning)]: dice.pick(["quarantined", "left_out", "lifted"]) }),
    );
  }

  /** Items of the Responses API; some carry what looks like a signature. */
  #items(): Json[] {
    const dice = this.#dice;
    const { pick } = dice;
    const items: Json[] = [];
    for (let thoughts = pick([0, 1, 1, 2]); thoughts > 0; thoughts--) {
      const again = this.#reasoning.length > 0 && dice.chance(0.05);
      const id = again ? pick(this.#reasoning) : this.#id("rs");
      this.#reasoning.push(id);
      const more = dice.chance(0.2)
        ? { signature: this.#opaque(), thinking: "looks like it", status: "completed" }
        : {};
      const blob = dice.chance(0.9) ? { encrypted_content: this.#opaque() } : {};
      items.push({ id, type: "reasoning", summary: [], ...more, ...blob });
    }
    if (dice.chance(0.5)) {
      items.push({ ...message(this.#id("msg"), pick(["an answer", LONE])), status: "completed" });
    }
    if (dice.chance(0.1)) {
      items.push({ id: this.#id("ws"), type: "web_search_call", status: "completed", action: {} });
    }
    for (let calls = pick([0, 1, 1, 2]); calls > 0; calls--) {
      const call_id = pick([this.#id("call"), `${this.#id("odd")}.7|x`, `${this.#id("c")}${"c".repeat(70)}`]);
      const name = pick(["read_file", "functions.read file", "n".repeat(80)]);
      const [id, [type, member]] = [
        this.#id("fc"),
        pick([["function_call", "arguments"], ["custom_tool_call", "input"]] as const),
      ];
      items.push({
        id: type === "function_call" ? id : `ct${id.slice(1)}`,
        type,
        call_id,
        name,
        [member]: pick(["{}", "[1]", ""]),
        status: "completed",
      });
    }
    if (dice.chance(0.05)) {
      items.push({ id: this.#id("cmp"), type: "compaction", encrypted_content: this.#opaque() });
    }
    return items.length > 0
      ? items
      : [{ type: "unheard_of", id: this.#id("x"), encrypted_content: this.#opaque() }];
  }

  /** Blocks of the Messages API; some carry what looks like encrypted content. */
  #blocks(): Json[] {
    const dice = this.#dice;
    const more = dice.chance(0.2)
      ? { id: this.#id("rs"), encrypted_content: this.#opaque(), summary: [] }
      : {};
    const blocks: Json[] = dice.chance(0.8)
      ? [{ ...thinking("hm"), ...more, signature: dice.pick([this.#opaque(), this.#opaque(), ""]) }]
      : [];
    if (dice.chance(0.6)) blocks.push(text(dice.pick(["an answer", " \n", LONE])));
    for (let calls = dice.pick([0, 1, 2]); calls > 0; calls--) blocks.push(use(this.#id("toolu")));
    return blocks.length > 0 ? blocks : [text("Done")];
  }
}

test.long(`the requests of ${SESSIONS} random sessions hold what their API takes, and nothing opaque of another`, async () => {
  await using home = new SessionHome();
  const met = { own: 0, foreign: 0, omitted: 0 };
  for (let seed = 0; seed < SESSIONS; seed++) {
    const dice = new Dice(seed);
    const { beats, at } = new Maker(dice).make();
    const replay = dice.pick(["exact", "family", "last:1"]);
    const flags = ["-p", at.provider, "-m", at.model, "--base-url", at.url, "--replay", replay];
    const textOf = async (id: string, turns: readonly GivenTurn[]) => {
      const session = home.session(turns, id);
      const text = await nextRequest(home, [...flags, "Go on"], { id });
      Deno.removeSync(session.path, { recursive: true });
      return text;
    };
    const turns = tell(...beats);
    const body = await textOf(`s${seed}`, turns);
    for (const [mark, kind, madeAt] of body.matchAll(/OPAQUE\.(\w+)\.(\w+)\.\d+/g)) {
      assert.deepEqual([kind, madeAt], [at.provider, hashOf(at)], `seed ${seed}: ${mark}`);
      met.own++;
    }
    if (JSON.stringify(turns).includes("OPAQUE") && !body.includes("OPAQUE")) met.foreign++;
    // What follows the last checkpoint may be omitted: an item that the request holds.
    const after = turns.slice(turns.findLastIndex(({ kind }) => kind === "compaction") + 1);
    const names = after.flatMap(({ events }) => events.map(({ item }) => item?.call_id ?? item?.id));
    const open = [...new Set(names)].filter((name) =>
      name !== undefined && body.includes(JSON.stringify(name))
    );
    if (open.length === 0) continue;
    const omitted = [...beats, omits(dice.pick(open))];
    assert.notEqual(await textOf(`o${seed}`, tell(...omitted)), body, `seed ${seed}: nothing is omitted`);
    const undone = await textOf(`u${seed}`, tell(...omitted, undoes()));
    assert.equal(undone.replace(`"u${seed}"`, `"s${seed}"`), body, `seed ${seed}`);
    met.omitted++;
  }
  // Sessions in which some of this never happens would prove little.
  for (const [name, count] of Object.entries(met)) assert.ok(count > SESSIONS / 10, `${name}: ${count}`);
});
