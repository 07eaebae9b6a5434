import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { describe } from "vitest";
import { test } from "./api.ts";

const question = "Which river runs through Vienna?";

describe.concurrent("LangChain.js", () => {
  test("two models at once", async ({ baseUrl, expect }) => {
    const models = [
      new ChatOpenAI({ model: "gpt-4o", configuration: { baseURL: baseUrl("OPENAI_BASE_URL") } }),
      new ChatAnthropic({ model: "claude-opus-5", anthropicApiUrl: baseUrl("ANTHROPIC_BASE_URL") }),
    ];
    const texts = await Promise.all(models.map(async (model) => (await model.invoke(question)).text));
    expect(texts).toEqual([`You asked: ${question}`, `You asked: ${question}`]);
  });
});
