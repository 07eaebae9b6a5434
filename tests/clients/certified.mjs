/**
 * A weather agent on each SDK, as its users write it: `node certified.mjs CLIENT` asks for the weather in two cities and
 * prints the answer. The base URL and key come from the environment.
 */
import process from "node:process";

const PROMPT = "How is the weather in Paris, and in Rome?";
const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string" }, unit: { type: "string" } },
  required: ["city", "unit"],
  additionalProperties: false,
};
const ABOUT = "Reports the weather";
const weather = (args) => `sunny: ${JSON.stringify(args)}`;
const variable = (name) => process.env[name] ?? "";
const print = (text) => process.stdout.write(text);

/** Agents by their names. */
const CLIENTS = {
  async "openai"() {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI();
    const input = [{ role: "user", content: PROMPT }];
    for (;;) {
      const tool = {
        type: "function",
        name: "get_weather",
        description: ABOUT,
        parameters: PARAMETERS,
        strict: true,
      };
      const response = await client.responses
        .stream({ model: "gpt-5.6", input, store: false, tools: [tool] }).finalResponse();
      // The package's own member is no part of the API.
      input.push(...response.output.map(({ parsed_arguments: _, ...item }) => item));
      const calls = response.output.filter((item) => item.type === "function_call");
      if (calls.length === 0) return response.output_text;
      for (const { call_id, arguments: args } of calls) {
        input.push({ type: "function_call_output", call_id, output: weather(JSON.parse(args)) });
      }
    }
  },
  async "openai-chat"() {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI();
    const messages = [{ role: "user", content: PROMPT }];
    for (;;) {
      const tool = {
        type: "function",
        function: { name: "get_weather", description: ABOUT, parameters: PARAMETERS },
      };
      const { choices: [choice] } = await client.chat.completions
        .stream({ model: "gpt-4o", messages, tools: [tool] }).finalChatCompletion();
      const message = choice?.message;
      messages.push(message);
      if (message?.tool_calls === undefined || message.tool_calls.length === 0) return message?.content ?? "";
      for (const call of message.tool_calls) {
        const args = call.type === "function" ? JSON.parse(call.function.arguments) : {};
        messages.push({ role: "tool", tool_call_id: call.id, content: weather(args) });
      }
    }
  },
  async "anthropic"() {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const client = new Anthropic();
    const messages = [{ role: "user", content: PROMPT }];
    const tools = [{ name: "get_weather", description: ABOUT, input_schema: PARAMETERS }];
    for (;;) {
      const message = await client.messages
        .stream({ model: "claude-opus-5", max_tokens: 1024, messages, tools }).finalMessage();
      messages.push({ role: "assistant", content: message.content });
      const calls = message.content.filter((block) => block.type === "tool_use");
      if (calls.length === 0) {
        return message.content.map((block) => block.type === "text" ? block.text : "").join("");
      }
      const content = calls.map(({ id, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: weather(input),
      }));
      messages.push({ role: "user", content });
    }
  },
  async "ai-sdk"() {
    const { jsonSchema, stepCountIs, streamText, tool } = await import("ai");
    const { createOpenAI } = await import("@ai-sdk/openai");
    const tools = {
      get_weather: tool({
        description: ABOUT,
        inputSchema: jsonSchema(PARAMETERS),
        execute: (input) => Promise.resolve(weather(input)),
      }),
    };
    const model = createOpenAI({ baseURL: variable("OPENAI_BASE_URL") })("gpt-5.6");
    const { textStream } = streamText({ model, prompt: PROMPT, tools, stopWhen: stepCountIs(5) });
    for await (const text of textStream) print(text);
    return "";
  },
  async "langchain"() {
    const { ChatOpenAI } = await import("@langchain/openai");
    const { HumanMessage, ToolMessage } = await import("@langchain/core/messages");
    const configuration = { baseURL: variable("OPENAI_BASE_URL") };
    const model = new ChatOpenAI({ model: "gpt-4o", configuration }).bindTools([{
      type: "function",
      function: { name: "get_weather", description: ABOUT, parameters: PARAMETERS },
    }]);
    const messages = [new HumanMessage(PROMPT)];
    for (;;) {
      let message;
      for await (const chunk of await model.stream(messages)) message = message?.concat(chunk) ?? chunk;
      messages.push(message);
      const { tool_calls: calls = [] } = message;
      if (calls.length === 0) return String(message.content);
      for (const { id = "", args } of calls) {
        messages.push(new ToolMessage({ tool_call_id: id, content: weather(args) }));
      }
    }
  },
};

print(`${await CLIENTS[process.argv[2]]?.()}\n`);
