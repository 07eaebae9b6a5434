/** Questions: whatever a person asks counts, but for directories of the machine. */
import { bodyPairs, type More, type Pair, spread, type SpreadRow, textPairs } from "./pair.ts";
import { APIS } from "./places.ts";

const GIT: More = {
  recorder: { git: ["draft-of-ines", "Begin the ledger", "ines.txt"] },
  client: { git: ["draft-of-omar", "Begin the tally", "omar.txt"] },
};
/** Directories of one component. */
const SHORT: More = {
  recorder: { cwd: "/ledger", home: "/ines", tmp: "/scratch" },
  client: { cwd: "/tally", home: "/omar", tmp: "/temporary" },
};
const WORDS: More = { recorder: { user: "root", zone: "UTC" }, client: { user: "dev", zone: "MST" } };

/** Values of each side's own machine, in a person's words. */
const ASKED: readonly SpreadRow[] = [
  ["day", "Is {day} a holiday?"],
  ["day", "Is it true that today's date is {day.long}?"],
  ["day", "<current_date>{day}</current_date>\nWhat is due?"],
  ["day", "Who works on {day.none}?"],
  ["moment", "What happened at {now}?"],
  ["moment", "Current time: {now}\nGreet me."],
  ["user", "Reset the password of {user}."],
  ["user", "Username: {user}\nReset the password."],
  ["user", "Username: {user}", undefined, WORDS],
  ["host", "Restart {host} now."],
  ["host", "Hostname: {host}\nRestart it."],
  ["os", "Is {os} safe?"],
  ["os", "OS: {os}\nHow do I install Docker?"],
  ["timezone", "When is noon in {zone}?"],
  ["timezone", "Timezone: {zone}\nWhen is noon UTC?"],
  ["timezone", "Timezone: {zone}", undefined, WORDS],
  ["git", "What do these change?\n{log}", undefined, GIT],
  ["git", "Git branch: {branch}\nMay I push?", undefined, GIT],
  ["git", "Is {branch} ready? Its status:\n{status}", undefined, GIT],
  ["uuid", "Delete {session}.", undefined, { headers: { session_id: "{session}" } }],
  ["short path", "rm -rf {home}", undefined, SHORT],
  ["short path", "Working directory: {cwd}\nWipe it.", undefined, SHORT],
  ["short path", "<cwd>{cwd}</cwd>", undefined, SHORT],
  ["short path", "{tmp}", undefined, SHORT],
];

/** Paths of the machine in a person's words. */
const PATHS: readonly SpreadRow[] = [
  ["path", "Explain {cwd}/src/a.ts, please."],
  ["path", "List {home} and {tmp}/logs."],
  ["path", "Working directory: {cwd}"],
  ["path", "<cwd>{cwd}</cwd>\nWhat is here?"],
  ["path", "Explain {cwd}/src/a.ts", undefined, SHORT],
];

/** A request of Responses with these messages of the user. */
const users = (...messages: readonly (readonly string[])[]) => ({
  model: "gpt-5.6",
  input: messages.map((texts) => ({
    role: "user",
    content: texts.map((text) => ({ type: "input_text", text })),
  })),
});
const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };
const result = (content: string) => ({ type: "tool_result", tool_use_id: "toolu_1", content });
const use = { type: "tool_use", id: "toolu_1", name: "sh", input: {} };
const said = (text: string) => ({ type: "text", text });
/** A request of Messages in which a message of the user holds results of tools. */
const claude = (...content: readonly unknown[]) => ({
  ...{ model: "claude-opus-5", max_tokens: 64 },
  messages: [
    { role: "user", content: "Look" },
    { role: "assistant", content: [use] },
    { role: "user", content },
  ],
});
/** The same body on both sides, as a template. */
const same = (kind: string, path: string, body: unknown) => [kind, path, body, body] as const;
const [RESPONSES, MESSAGES, CHAT] = ["/v1/responses", "/v1/messages", "/v1/chat/completions"];
const GEMINI = "/v1beta/models/gemini-3-pro:generateContent";

/** Bodies in which the machine's value stands in the question. */
const IN_QUESTIONS = [
  same("day in a text input", RESPONSES, { model: "gpt-5.6", input: "Is {day} a holiday?" }),
  same("user in a text input", RESPONSES, { model: "gpt-5.6", input: "Username: {user}" }),
  same("day in a prompt", "/v1/completions", { model: "m", prompt: "Is {day} a holiday?" }),
  same("day in a list of prompts", "/v1/completions", { model: "m", prompt: ["Hi", "Is {day} a holiday?"] }),
  same("day in an embedded text", "/v1/embeddings", { model: "m", input: ["Invoice of {day}", "Other"] }),
  same("day in a text to moderate", "/v1/moderations", {
    ...{ model: "m", input: [{ type: "text", text: "Written on {day} by {user}" }] },
  }),
  same("day in nested messages", "/api/v1/services/aigc/text-generation/generation", {
    ...{ model: "m", input: { messages: [{ role: "user", content: "Is {day} a holiday?" }] } },
  }),
  same("day in the variables of a prompt", RESPONSES, {
    ...{ model: "gpt-5.6", prompt: { id: "pmpt_1", variables: { day: "{day}" } }, input: "Hello" },
  }),
  same("host in an embedded text", "/v1/embeddings", { model: "m", input: "Hostname: {host}" }),
  same("day in the last of two messages", RESPONSES, users(["Hello"], ["And on {day}?"])),
  same("day before a whole block", RESPONSES, users(["What is due on {day}?", "<notes>None</notes>"])),
  same("day in a message before a whole block", RESPONSES, users(["Due on {day}?"], ["<notes>None</notes>"])),
  same("day in a block with text after it", RESPONSES, users(["<notes>{day}</notes> What is due?"])),
  same("day in a block with text before it", RESPONSES, users(["Hi", "What is due? <notes>{day}</notes>"])),
  same("day in the last of blocks alone", RESPONSES, users(["<notes>None</notes>", "<notes>{day}</notes>"])),
  same("day in the only block", RESPONSES, users(["<notes>{day}</notes>"])),
  same("day in two blocks of one text", RESPONSES, users(["Hi", "<a>1</a><a>{day}</a>"])),
  same("day between two blocks", RESPONSES, users(["Hi", "<a>1</a> on {day} <a>2</a>"])),
  same("day in a block that ends with another tag", RESPONSES, users(["Hi", "<a>{day}</b>"])),
  same("day before an image", RESPONSES, {
    model: "gpt-5.6",
    input: [{ role: "user", content: [{ type: "input_text", text: "Was it {day}?" }, image] }],
  }),
  same("day after the result of a tool", MESSAGES, claude(result("ok"), said("Was it {day}?"))),
  same("user after the result of a tool", MESSAGES, claude(result("ok"), said("Username: {user}"))),
  same("day in a question without a role", GEMINI, { contents: [{ parts: [{ text: "Is {day} free?" }] }] }),
  same("day before a picture in contents", GEMINI, {
    contents: [{ parts: [{ text: "{day}?" }, { inlineData: { mimeType: "image/png", data: "iVBORw0K" } }] }],
  }),
  ...[
    { role: "human", content: "Is {day} free?" },
    { content: "Is {day} free?" },
    { role: "user", content: { type: "text", text: "Is {day} free?" } },
    { role: "user", content: [{ type: "text", text: { value: "Is {day} free?" } }] },
    { role: "user", content: [{ type: "plain", text: "Is {day} free?" }] },
    { role: "user", content: ["Is {day} free?"] },
  ].map((message) => same("day in an unknown message", CHAT, { model: "m-large", messages: [message] })),
  same("day in a message without a role", RESPONSES, {
    ...{ model: "gpt-5.6", input: [{ type: "message", content: "Is {day} free?" }] },
  }),
  same("day in a suffix", "/v1/completions", { model: "m", prompt: "It is", suffix: ", so {day} is free" }),
  same("host in the last part of a message", CHAT, {
    model: "m-large",
    messages: [{ role: "user", content: [said("Hello"), said("Is {host} up?")] }],
  }),
];

/** Bodies with a directory in the question. */
const PATHS_IN_QUESTIONS = [
  same("path in a text input", RESPONSES, { model: "gpt-5.6", input: "Read {cwd}/a.ts" }),
  same("path in a prompt", "/v1/completions", { model: "m", prompt: "Read {cwd}/a.ts" }),
];
/** Bodies in which the machine's value stands beside the question. */
const BESIDE_QUESTIONS = [
  same("day in a part before the question", RESPONSES, users(["It is {day}.", "Hello"])),
  same("day in a message before the question", RESPONSES, users(["It is {day}."], ["Hello"])),
  same("day in a block after the question", RESPONSES, users(["Hello", "<notes>{day}</notes>"])),
  same("day in a block of a message after it", RESPONSES, users(["Hello"], ["<notes>{day}</notes>"])),
  same("day in the first of blocks alone", RESPONSES, users(["<notes>{day}</notes>", "<notes>None</notes>"])),
  same("host in a block with others in it", RESPONSES, users(["Hi", "<a>\n<b>{host}</b>\n<b>x</b>\n</a>"])),
  same("day in the result of a tool", MESSAGES, claude(result("It is {day}"), said("Hello"))),
  same("day in a result alone", MESSAGES, claude(result("It is {day}"))),
  same("day for a developer", RESPONSES, {
    model: "gpt-5.6",
    input: [{ role: "developer", content: "It is {day}." }, { role: "user", content: "Hello" }],
  }),
  same("host in the description of a tool", MESSAGES, {
    ...claude(said("Hello")),
    tools: [{
      name: "sh",
      description: "Runs a command on {host} in {cwd}.",
      input_schema: { type: "object" },
    }],
  }),
];

/** Questions that differ in a value of the machine. */
export const QUESTIONS: readonly Pair[] = [
  ...spread("miss", { apis: APIS, places: ["question"] }, ASKED),
  ...spread("miss", { apis: ["messages", "gemini"], places: ["earlier"] }, ASKED),
  ...bodyPairs("miss", IN_QUESTIONS),
];

/** A directory in questions alone gets no rule of its own. */
const RULED: More = { record: ["--normalize", "cwd,home,tmp"] };

/** Questions that differ in a directory alone, and texts beside questions. */
export const SAME_QUESTIONS: readonly Pair[] = [
  ...[
    ...spread("play", { apis: APIS, places: ["question"] }, PATHS),
    ...spread("play", { apis: ["chat", "gemini"], places: ["earlier"] }, PATHS),
    ...bodyPairs("play", PATHS_IN_QUESTIONS),
  ].map((pair) => ({ ...pair, ...RULED })),
  ...bodyPairs("play", BESIDE_QUESTIONS),
  ...textPairs("play", [
    ["all", "chat", "part", "{day} {user} {host} {cwd}"],
    ["all", "gemini", "message", "{day} {user} {host} {cwd}"],
  ]),
];
