import OpenAI from "openai";
import { describe } from "vitest";
import { test } from "./api.ts";

const question = "What is the capital of Peru?";
const sum = {
  type: "function" as const,
  function: {
    name: "add",
    description: "Adds two numbers",
    parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  },
};

describe.concurrent("openai", () => {
  test("a response", async ({ baseUrl, expect }) => {
    const client = new OpenAI({ baseURL: baseUrl("OPENAI_BASE_URL") });
    const { output_text } = await client.responses.create({ model: "gpt-5.6", input: question, store: false });
    expect(output_text).toBe(`You asked: ${question}`);
  });

  test("a streamed response", async ({ baseUrl, expect }) => {
    const client = new OpenAI({ baseURL: baseUrl("OPENAI_BASE_URL") });
    const stream = client.responses.stream({ model: "gpt-5.6", input: question, store: false });
    expect((await stream.finalResponse()).output_text).toBe(`You asked: ${question}`);
  });

  test("parallel calls of a tool", async ({ baseUrl, expect }) => {
    const client = new OpenAI({ baseURL: baseUrl("OPENAI_BASE_URL") });
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Add 1 and 2, and 3 and 4" }];
    for (;;) {
      const stream = client.chat.completions.stream({ model: "gpt-4o", messages, tools: [sum] });
      const { content, tool_calls = [] } = await stream.finalMessage();
      if (tool_calls.length === 0) return expect(content).toBe("The sums are 3 and 7.");
      messages.push({ role: "assistant", content, tool_calls });
      for (const call of tool_calls) {
        if (call.type !== "function") continue;
        const { a, b } = JSON.parse(call.function.arguments);
        messages.push({ role: "tool", tool_call_id: call.id, content: String(a + b) });
      }
    }
  });

  test("the state of a job, polled", async ({ baseUrl, expect }) => {
    const client = new OpenAI({ baseURL: baseUrl("OPENAI_BASE_URL") });
    let state = "Not yet.";
    for (let polls = 0; polls < 5 && state === "Not yet."; polls++) {
      const body = { model: "gpt-5.6", input: "Is the job done?", store: false };
      state = (await client.responses.create(body)).output_text;
    }
    expect(state).toBe("Done.");
  });
});
