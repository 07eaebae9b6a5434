import OpenAI from "openai";
import { expect } from "vitest";
import { test } from "./api.ts";

test("an obsolete test", async ({ baseUrl }) => {
  const client = new OpenAI({ baseURL: baseUrl("OPENAI_BASE_URL") });
  const body = { model: "gpt-5.6", input: "Are you still needed?", store: false };
  expect((await client.responses.create(body)).output_text).toBe("You asked: Are you still needed?");
});
