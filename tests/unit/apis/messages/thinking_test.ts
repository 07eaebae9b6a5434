import assert from "node:assert/strict";
import type { Omission } from "../../../../src/domain/event.ts";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { messagesApi } from "../../../../src/apis/messages/api.ts";
import type { RequestSpec } from "../../../../src/apis/api.ts";

const SPEC: RequestSpec = {
  model: "claude-sonnet-5",
  instructions: "",
  tools: [],
  entries: [],
  cacheKey: "family-1",
};

Deno.test("thinking, effort and tokens are what the model and the person allow", async (t) => {
  const binding = { block_binding: { prefix_mismatch_behavior: "drop_block" } };
  const check: Omission[] = ["binding_check"];
  const rows: [string, Partial<RequestSpec> & { omit?: Omission[] }, JsonObject][] = [
    ["adaptive", {}, { thinking: { type: "adaptive" } }],
    ["adaptive with an effort", { effort: "max" }, {
      thinking: { type: "adaptive" },
      output_config: { effort: "max" },
    }],
    ["minimal is low", { effort: "minimal" }, {
      thinking: { type: "adaptive" },
      output_config: { effort: "low" },
    }],
    ["turned off", { effort: "none", summary: "auto" }, { thinking: { type: "disabled" } }],
    ["turned off, so that nothing can be dropped", { effort: "none", omit: check }, {
      thinking: { type: "disabled" },
    }],
    ["a summary", { summary: "detailed" }, { thinking: { type: "adaptive", display: "summarized" } }],
    ["a budget only when asked", { model: "claude-opus-4-1" }, {}],
    ["low", { model: "claude-opus-4-1", effort: "low" }, {
      thinking: { type: "enabled", budget_tokens: 2048 },
    }],
    ["medium", { model: "claude-opus-4-1", effort: "medium", summary: "auto" }, {
      thinking: { type: "enabled", budget_tokens: 8192, display: "summarized" },
    }],
    ["high", { model: "claude-opus-4-1", effort: "high" }, {
      thinking: { type: "enabled", budget_tokens: 16_384 },
    }],
    ["xhigh", { model: "claude-opus-4-1", effort: "xhigh" }, {
      thinking: { type: "enabled", budget_tokens: 24_576 },
    }],
    ["a budget leaves room for an answer", {
      model: "claude-opus-4-1",
      effort: "high",
      maxOutputTokens: 5000,
    }, {
      max_tokens: 5000,
      thinking: { type: "enabled", budget_tokens: 3976 },
    }],
    ["or is not sent", { model: "claude-opus-4-1", effort: "high", maxOutputTokens: 2000 }, {
      max_tokens: 2000,
    }],
    ["a budget turned off", { model: "claude-opus-4-1", effort: "none" }, { thinking: { type: "disabled" } }],
    ["a model without thinking", { model: "claude-3-haiku", effort: "high", summary: "auto", omit: check }, {
      max_tokens: 4096,
    }],
    ["an unknown model", { model: "mystery" }, {}],
    ["an unknown model with an effort", { model: "mystery", effort: "high" }, {
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    }],
    ["an unknown model with a summary", { model: "mystery", summary: "auto" }, {
      thinking: { type: "adaptive", display: "summarized" },
    }],
    ["dropping what is bound elsewhere", { omit: check }, { thinking: { type: "adaptive", ...binding } }],
    ["the same where no thinking would be sent", { model: "claude-opus-4-1", omit: check }, {
      thinking: { type: "adaptive", ...binding },
    }],
    ["the same with a budget", { model: "claude-opus-4-1", effort: "low", omit: check }, {
      thinking: { type: "enabled", budget_tokens: 2048, ...binding },
    }],
    ["where the server does not know the wish", { omit: ["binding_check", "drop_block"] }, {
      thinking: { type: "adaptive" },
    }],
    ["more tokens than we ask for", { maxOutputTokens: 90_000 }, { thinking: { type: "adaptive" } }],
  ];
  for (const [name, { omit, ...spec }, expected] of rows) {
    await t.step(name, () => {
      const request = messagesApi.buildRequest({ ...SPEC, ...spec, without: new Set(omit) });
      const { model: _1, stream: _2, cache_control: _3, messages: _4, ...rest } = JSON.parse(request.body);
      assert.deepEqual(rest, { max_tokens: 32_000, ...expected });
      assert.deepEqual(
        request.headers,
        request.body.includes("block_binding")
          ? { "anthropic-beta": "thinking-binding-controls-2026-08-01" }
          : undefined,
      );
    });
  }
});
