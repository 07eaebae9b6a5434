import assert from "node:assert/strict";
import { parse as parseYaml } from "yaml";
import { isJsonObject, type JsonValue } from "../../../src/domain/json.ts";
import type { ImportPlan } from "../../../src/fixture/import/plan.ts";
import { type Fixture, type FixtureExchange, playable } from "../../../src/fixture/read.ts";
import { apiOf } from "../../../src/apis/apis.ts";
import type { StreamUpdate } from "../../../src/apis/api.ts";
import { createPlayer } from "../../../src/transport/player.ts";
import { readSse } from "../../../src/transport/sse.ts";
import { HAS_RECORDINGS, recordingFiles, RECORDINGS } from "../../unit/apis/responses/recorded_streams.ts";
import { planned, text, written } from "../../unit/fixture/import/support.ts";

/** The first line of it lacks its last brace. */
const DAMAGED = "vercel-ai/parallel-tool-call-wrapper.1.chunks.txt";
/** Its deltas and its end were taken out by those who published it. */
const CUT = "vercel-ai/openai-issue-8562-missing-reasoning-summary.1.chunks.txt";

interface Import {
  readonly file: string;
  readonly plan: ImportPlan;
  readonly fixtures: readonly Fixture[];
}

Deno.test({
  name: `every recording imports, reads back, and holds the bodies of its source byte for byte (${
    HAS_RECORDINGS ? "all" : `ignored: no ${RECORDINGS}`
  })`,
  ignore: !HAS_RECORDINGS,
  fn: async (t) => {
    const imports: Import[] = [];
    for (const file of recordings()) {
      const plan = await planned(file, Deno.readFileSync(`${RECORDINGS}/${file}`), { keepCut: file === CUT });
      imports.push({ file, plan, fixtures: written(plan) });
    }
    assert(imports.length >= 100, `${imports.length} files`);

    await t.step("no secret was found in any: what is compared is what was recorded", () => {
      for (const { file, fixtures } of imports) {
        assert.deepEqual(
          fixtures.map(({ header }) => header.redactions),
          fixtures.map(() => undefined),
          file,
        );
      }
    });

    await t.step("cassettes: text unchanged, binary without gzip, parsed bodies by value", () => {
      for (const { file, fixtures } of imports.filter(({ file }) => file.endsWith(".yaml"))) {
        const { interactions } = parseYaml(read(file)) as Cassette;
        assert.equal(total(fixtures), interactions.length, file);
        for (const exchange of inOrder(fixtures, interactions)) sameAsInteraction(file, exchange);
      }
    });

    await t.step("gzip inside is undone as others undid it", () => {
      for (const { file, fixtures } of imports) {
        const decoded = `${RECORDINGS}/${file}.decoded.json`;
        if (!file.endsWith(".yaml") || !exists(decoded)) continue;
        const bodies = fixtures.flatMap(({ exchanges }) => exchanges).map(({ response }) =>
          JSON.parse(text(response.body))
        );
        const known = JSON.parse(Deno.readTextFileSync(decoded)) as readonly Decoded[];
        assert.deepEqual(bodies, known.map(({ response }) => response.body), file);
      }
    });

    await t.step("network chunks: the bytes and the boundaries", () => {
      let compared = 0;
      for (const { file, fixtures } of imports.filter(({ file }) => /^req_llm\/.*\.json$/.test(file))) {
        const source = JSON.parse(read(file)) as { readonly chunks?: readonly { readonly b64: string }[] };
        if (source.chunks === undefined) continue;
        const pieces = source.chunks.map(({ b64 }) => atob(b64));
        const { response } = only(fixtures);
        assert.equal(text(response.body), read(`${file}.decoded.sse`), file);
        assert.deepEqual(
          response.chunks.map(({ offset }) => offset),
          pieces.map((_, index) => pieces.slice(0, index).join("").length),
          file,
        );
        compared += 1;
      }
      assert.equal(compared, 4);
    });

    await t.step("lists of events: every line is the data of one event, in order", () => {
      for (const { file, fixtures } of imports.filter(({ file }) => file.endsWith(".chunks.txt"))) {
        const body = fixtures.flatMap(({ exchanges }) => exchanges).map(({ response }) => text(response.body))
          .join("");
        const data = body.split("\n").filter((line) => line.startsWith("data: ")).map((line) =>
          line.slice(6)
        );
        assert.deepEqual(data, read(file).split("\n").filter((line) => line !== ""), file);
        assert.equal(
          body.replaceAll(
            /event: (.+)\ndata: \{.*\}\n\n/g,
            (framed, type) => framed.includes(`"type":"${type}"`) ? "" : framed,
          ),
          "",
          file,
        );
      }
    });

    await t.step("single bodies and streams are taken unchanged", () => {
      for (const { file, plan, fixtures } of imports) {
        if (plan.format !== "body" && plan.format !== "sse") continue;
        assert.equal(text(only(fixtures).response.body), read(file), file);
      }
    });

    await t.step("four responses in one file are four exchanges, two hosts in one file two fixtures", () => {
      const exchanges = (name: string) =>
        find(imports, name).fixtures.map(({ exchanges }) => exchanges.length);
      assert.deepEqual(exchanges("openai-reasoning-encrypted-content.1.chunks.txt"), [4]);
      assert.deepEqual(exchanges("spliced-message-start.chunks.txt"), [1]);
      assert.deepEqual(exchanges("codex-stream-tool.json"), [1, 2]);
      const { plan } = find(imports, "test_anthropic_model_thinking_part_from_other_model.yaml");
      assert.deepEqual(
        plan.fixtures.map(({ folder, header }) => [folder, header.provider, header.base_url]),
        [
          ["api.openai.com", "openai", "https://api.openai.com/v1"],
          ["api.anthropic.com", "anthropic", "https://api.anthropic.com"],
        ],
      );
    });

    await t.step("servers are known by their hosts", () => {
      const server = (name: string) => {
        const { provider, baseUrl } = find(imports, name).fixtures[0] as Fixture;
        return `${provider} ${baseUrl}`;
      };
      assert.equal(
        server("test_azure_responses_reasoning_context_default_wire_contract(gpt-5.5).yaml"),
        "azure https://pydantic-ai-realtime-dev.openai.azure.com/openai/v1",
      );
      assert.equal(
        server("test_deepseek_responses_replay_own_reasoning_history.yaml"),
        "compatible https://api.deepseek.com",
      );
      assert.equal(server("test_openrouter_errors_raised.yaml"), "compatible https://openrouter.ai/api/v1");
      assert.equal(server("azure-tool-call.1.chunks.txt"), "azure https://unknown.invalid/v1");
      assert.equal(server("anthropic-refusal.chunks.txt"), "anthropic https://api.anthropic.com");
      assert.equal(
        server("xai-text-with-reasoning-streaming-store-false.1.chunks.txt"),
        "compatible https://unknown.invalid/v1",
      );
    });

    await t.step("facts that a source lacks are named, and no others", () => {
      const lost = (name: string) => find(imports, name).plan.lost.map(({ what }) => what);
      assert.deepEqual(lost("test_responses_basic_streaming.yaml"), ["timing", "chunk_boundaries"]);
      assert.deepEqual(lost("gpt_5.reasoning_streaming.json"), ["timing"]);
      assert.deepEqual(lost("test_openai_responses_thinking_with_tool_calls.yaml"), [
        "request_bytes",
        "request_headers",
        "response_headers",
        "response_bytes",
        "timing",
        "chunk_boundaries",
      ]);
      assert.deepEqual(lost("openai-phase.1.chunks.txt"), [
        "requests",
        "status",
        "host",
        "timing",
        "chunk_boundaries",
        "event_lines",
        "events",
      ]);
      assert(lost(CUT.slice(CUT.indexOf("/") + 1)).includes("terminal"));
      const gaps = imports.filter(({ plan }) => plan.lost.some(({ what }) => what === "events"));
      assert.deepEqual(gaps.map(({ file }) => file), [
        "vercel-ai/openai-custom-text-tool.1.chunks.txt",
        CUT,
        "vercel-ai/openai-phase.1.chunks.txt",
      ]);
    });

    await t.step("the requests of cassettes are those that were sent", () => {
      const { fixtures } = find(imports, "test_responses_round_trips_encrypted_reasoning.yaml");
      const { exchanges } = fixtures[0] as Fixture;
      const { interactions } = parseYaml(
        read("llm/test_responses_round_trips_encrypted_reasoning.yaml"),
      ) as Cassette;
      assert.deepEqual(
        exchanges.map(({ request }) => text(request.body ?? new Uint8Array())),
        interactions.map(({ request }) => request.body),
      );
      assert(exchanges.every(({ request }) => request.headers.authorization === undefined));
    });

    await t.step(
      "the player plays streams of both APIs, and their assemblers read what was recorded",
      async () => {
        for (
          const name of [
            "test_responses_tool_use_streaming.yaml",
            "test_anthropic_model_thinking_part_stream.yaml",
          ]
        ) {
          const fixture = find(imports, name).fixtures[0] as Fixture;
          for (const updates of await played(fixture)) {
            const last = updates.at(-1);
            assert(last?.kind === "finished", name);
            assert.equal(last.response.status, "completed");
            assert(updates.some(({ kind }) => kind === "item"), name);
          }
        }
      },
    );
  },
});

Deno.test({
  name: `a recording that is damaged or cut is refused as one clear error (${
    HAS_RECORDINGS ? "all" : `ignored: no ${RECORDINGS}`
  })`,
  ignore: !HAS_RECORDINGS,
  fn: async () => {
    await assert.rejects(planned("a.chunks.txt", Deno.readFileSync(`${RECORDINGS}/${DAMAGED}`)), {
      code: "bad_import",
      message: 'Cannot import "a.chunks.txt": line 1 is not JSON',
    });
    await assert.rejects(planned("a.chunks.txt", Deno.readFileSync(`${RECORDINGS}/${CUT}`)), {
      code: "bad_import",
      message: 'Cannot import "a.chunks.txt": the stream of exchange 1 has no terminal event',
    });
  },
});

interface Interaction {
  readonly request: { readonly method: string; readonly uri: string; readonly body?: string };
  readonly response: {
    readonly status: { readonly code: number };
    readonly body?: { readonly string?: string | Uint8Array };
    readonly parsed_body?: JsonValue;
  };
}
/** An exchange of a `.decoded.json` file. */
interface Decoded {
  readonly response: { readonly body: JsonValue };
}
interface Cassette {
  readonly interactions: readonly Interaction[];
}

function sameAsInteraction(file: string, { exchange, interaction }: Pair): void {
  const { request, response } = interaction;
  assert.equal(exchange.request.method, request.method, file);
  assert(request.uri.endsWith(exchange.request.path), file);
  assert.equal(exchange.response.status, response.status.code, file);
  const body = text(exchange.response.body);
  if (response.parsed_body !== undefined) assert.deepEqual(JSON.parse(body), response.parsed_body, file);
  else if (typeof response.body?.string === "string") assert.equal(body, response.body.string, file);
  else assert(isJsonObject(JSON.parse(body)), file);
}

interface Pair {
  readonly exchange: FixtureExchange;
  readonly interaction: Interaction;
}

/** Exchanges beside what they come from; those of one host keep their order. */
function inOrder(fixtures: readonly Fixture[], interactions: readonly Interaction[]): Pair[] {
  const waiting = new Map(
    fixtures.map(({ baseUrl, exchanges }) => [new URL(baseUrl).origin, [...exchanges]]),
  );
  return interactions.map((interaction) => {
    const exchange = waiting.get(new URL(interaction.request.uri).origin)?.shift();
    assert(exchange !== undefined);
    return { exchange, interaction };
  });
}

async function played({ exchanges, provider }: Fixture): Promise<StreamUpdate[][]> {
  const player = createPlayer(exchanges.map(playable));
  const all: StreamUpdate[][] = [];
  for (const { request } of exchanges) {
    const asked = { url: `https://example.com${request.path}`, headers: {}, body: "" };
    const { body } = await player(asked, new AbortController().signal);
    const assembler = apiOf(provider).newAssembler();
    const updates: StreamUpdate[] = [];
    for await (const batch of readSse(body)) {
      for (const event of batch) updates.push(...assembler.feed(event));
    }
    all.push([...updates, ...assembler.end()]);
  }
  return all;
}

function recordings(): string[] {
  return recordingFiles().filter((file) => file !== DAMAGED && !file.endsWith(".decoded.json"));
}

function find(imports: readonly Import[], name: string): Import {
  const found = imports.find(({ file }) => file.endsWith(`/${name}`));
  assert(found !== undefined, name);
  return found;
}

function only(fixtures: readonly Fixture[]): FixtureExchange {
  assert.equal(total(fixtures), 1);
  return fixtures[0]?.exchanges[0] as FixtureExchange;
}

function total(fixtures: readonly Fixture[]): number {
  return fixtures.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
}

function read(file: string): string {
  return Deno.readTextFileSync(`${RECORDINGS}/${file}`);
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
