import { openai } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { ChatOpenAI } from "@langchain/openai";
import { generateText } from "ai";
import OpenAI from "openai";
import { expect, test } from "vitest";

const system = `Working directory: ${process.cwd()}\nToday's date is ${new Date().toDateString()}`;
const prompt = "Does the Seine run through Paris?";

test("openai", async () => {
  const client = new OpenAI();
  const answer = await client.responses.create({
    model: "gpt-5.6",
    instructions: system,
    input: prompt,
    store: false,
  });
  expect(answer.output_text).toContain("Seine");
});

test("@anthropic-ai/sdk", async () => {
  const client = new Anthropic();
  const answer = await client.messages.create({
    model: "claude-opus-5",
    max_tokens: 1000,
    system,
    messages: [{ role: "user", content: prompt }],
  });
  expect(JSON.stringify(answer.content)).toContain("Seine");
});

test("AI SDK", async () => {
  const { text } = await generateText({ model: openai("gpt-5.6"), system, prompt });
  expect(text).toContain("Seine");
});

test("LangChain.js", async () => {
  const model = new ChatOpenAI({ model: "gpt-5.6" });
  const { text } = await model.invoke([["system", system], ["user", prompt]]);
  expect(text).toContain("Seine");
});
