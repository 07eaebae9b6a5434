import Anthropic from "@anthropic-ai/sdk";
import { describe } from "vitest";
import { test } from "./api.ts";

const question = "Which river runs through Paris?";

describe.concurrent("@anthropic-ai/sdk", () => {
  test("a streamed message", async ({ baseUrl, expect }) => {
    const client = new Anthropic({ baseURL: baseUrl("ANTHROPIC_BASE_URL") });
    const messages = [{ role: "user" as const, content: question }];
    const stream = client.messages.stream({ model: "claude-opus-5", max_tokens: 1000, messages });
    expect(await stream.finalText()).toBe(`You asked: ${question}`);
  });
});
