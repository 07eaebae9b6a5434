/** Recordings that are the nearest to a request, and the difference that is named first. */
import type { Json } from "../../support/files.ts";
import { type Row, rows } from "./served.ts";
import { ask, called, chat, says, talk, user } from "./shapes.ts";

const FLAGS = ["--rules", "none"];
const tool = (name: string, description = "A tool") => ({ type: "function", name, description });
const system = (content: string) => ({ role: "system", content });
const page = (first: string, last: string) =>
  `${first} ${"The long report continues. ".repeat(2000)} ${last}`;
const poems = { instructions: "You write poems about the sea" };
const shorter = { instructions: "You write short poems about the sea" };
const parts = (...texts: string[]) => user(texts.map((text) => ({ type: "input_text", text })));
const ran = (text: string) => talk(user("Run the tests"), ...called("call_1", text));
const near = (recorded: readonly Json[], asked: Json, outcome: string, path?: string): Row => ({
  ...{ recorded, asked: [[asked, `miss ${outcome}`]] },
  ...(path === undefined ? {} : { path }),
});

rows("the nearest recording, and the difference that is named first", {
  "another animal, not the first unused question": near(
    [ask("What is the capital of France?"), ask("Summarise the article about whales")],
    ask("Summarise the article about sharks"),
    "2 input[0].content",
  ),
  "the same text once played, nearer than an unused one": {
    recorded: [ask("Summarise the article about whales"), ask("What is the capital of France?")],
    asked: [
      [ask("Summarise the article about whales"), "1 exact"],
      [ask("Summarise the article about sharks"), "miss 1 input[0].content"],
    ],
  },
  "text without spaces between words": near(
    [ask("法国的首都是哪里"), ask("请总结关于鲸鱼的文章")],
    ask("请总结关于鲨鱼的文章"),
    "2 input[0].content",
  ),
  "a question at the end of a long common text": near(
    ["Who wrote it?", "How many whales are named?", "Is it true?"].map((last) =>
      ask(page("Read this:", last))
    ),
    ask(page("Read this:", "How many sharks are named?")),
    "2 input[0].content",
  ),
  "the same prompt with another model": near(
    [ask("Describe a lighthouse in one line"), ask("Name three rivers", { model: "gpt-5.6-mini" })],
    ask("Name three rivers"),
    "2 model",
  ),
  "the same prompt under other instructions": near(
    [ask("Describe a lighthouse in one line", poems), ask("Name three rivers", shorter)],
    ask("Name three rivers", poems),
    "2 instructions",
  ),
  "the prompt before the instructions and settings that stand before it": near(
    [{ top_p: 1, instructions: "Be brief", tools: [tool("a")], ...ask("Name a river") }],
    { top_p: 0.5, instructions: "Be very brief", tools: [tool("b")], ...ask("Name a lake") },
    "1 input[0].content",
  ),
  "instructions before the settings": near(
    [{ top_p: 1, instructions: "Be brief", input: [user("Name a river")], model: "m" }],
    { top_p: 0.5, instructions: "Be very brief", input: [user("Name a river")], model: "m" },
    "1 instructions",
  ),
  "a user's message before the system message above it": near(
    [chat([system("Today is Monday"), user("Name a river")])],
    chat([system("Today is Friday"), user("Name a lake")]),
    "1 messages[1].content",
    "/v1/chat/completions",
  ),
  "a whole conversation with one changed message, not a short one with an equal beginning": near(
    [
      talk(user("Hello"), says("Hi")),
      talk(user("Hello!"), says("Hi"), user("Add a test"), says("Done"), user("Thanks")),
    ],
    talk(user("Hello"), says("Hi"), user("Add a test"), says("Done"), user("Thanks")),
    "2 input[0].content",
  ),
  "the history that an item is missing from": near(
    [ask("One"), talk(user("One"), says("Two"), user("Three"), user("Four"))],
    talk(user("One"), user("Three"), user("Four")),
    "2 input[1]",
  ),
  "the run of a tool with the more similar output": near(
    ["12 passed in 3 s", "permission denied: /etc", "11 passed, 1 failed: adds numbers"].map(ran),
    ran("11 passed, 1 failed: divides numbers"),
    "3 input[2].output",
  ),
  "the part of a message that differs least": near(
    ["Draw a red circle on paper", "Count the words of the second chapter"].map((text) =>
      talk(parts("<env>linux</env>", text))
    ),
    talk(parts("<env>darwin</env>", "Count the words of the third chapter")),
    "2 input[0].content[0].text",
  ),
  "text to embed, of an API without a history": near(
    [{ model: "e", input: "A lighthouse by the sea" }, { model: "e", input: "Three rivers cross the plain" }],
    { model: "e", input: "Three rivers cross the valley" },
    "2 input",
    "/v1/embeddings",
  ),
  "of two that are equally near, the unused one": {
    recorded: [ask("Name three rivers"), ask("Name three rivers")],
    asked: [
      [ask("Name three lakes"), "miss 1 input[0].content"],
      [ask("Name three rivers"), "1 exact"],
      [ask("Name three lakes"), "miss 2 input[0].content"],
    ],
  },
  "the call with the most similar arguments of an unknown API": near(
    [{ q: { text: "weather in Oslo tomorrow" } }, { q: { text: "price of a ticket to Rome" } }],
    { q: { text: "price of a ticket to Paris" } },
    "2 q.text",
    "/v2/search",
  ),
}, { flags: FLAGS });
