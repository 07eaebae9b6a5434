/** Cures of texts that differ in a few short spans: tried on the request, given to a shell, and never for a question. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { test } from "../../support/test.ts";
import { RecordingHome } from "./home.ts";
import { exchangeOf, sent, Served } from "./served.ts";
import { ask, called, chat, claude, says, talk, user } from "./shapes.ts";

const [CHAT, MESSAGES, GEMINI] = ["/v1/chat/completions", "/v1/messages", "/v1beta/models/m:generateContent"];
const COMPATIBLE = { provider: "compatible" };
const FLAGS = ["--rules", "none"];

/** A request with a text at a place, and with a question. */
type Form = (text: string, question: string) => Json;

const functionCall = { functionCall: { name: "ls", args: {}, id: "ls_1" } };
const gemini = (texts: readonly string[], output: string, question: string): Json => ({
  systemInstruction: { parts: [{ text: "Be brief" }] },
  contents: [
    { role: "user", parts: [...texts, question].map((text) => ({ text })) },
    { role: "model", parts: [functionCall] },
    { role: "user", parts: [{ functionResponse: { name: "ls", id: "ls_1", response: { output } } }] },
  ],
});
const details = (text: string) => `\n\n<environment_details>\n${text}\n</environment_details>`;
const textParts = (...texts: string[]) => user(texts.map((text) => ({ type: "text", text })));
const shell = { id: "call_1", type: "function", function: { name: "sh", arguments: "{}" } };

const FORMS = {
  system: [CHAT, (text, question) => chat([{ role: "system", content: text }, user(question)])],
  developer: [undefined, (text, question) => talk({ role: "developer", content: text }, user(question))],
  instructions: [undefined, (text, question) => ask(question, { instructions: text })],
  "system blocks": [
    MESSAGES,
    (text, question) => claude([user(question)], { system: [{ type: "text", text }] }),
  ],
  "systemInstruction": [GEMINI, (text, question) => ({
    ...gemini([], "a", question),
    systemInstruction: { parts: [{ text }] },
  })],
  "description of a tool": [
    CHAT,
    (text, question) =>
      chat([user(question)], {
        tools: [{ type: "function", function: { name: "find", description: text } }],
      }),
  ],
  "context of Gemini": [GEMINI, (text, question) => gemini([text], "a", question)],
  "result of Gemini": [GEMINI, (text, question) => gemini([], text, question)],
  "block after a question": [CHAT, (text, question) => chat([textParts(question, details(text))])],
  "message before a question": [
    undefined,
    (text, question) => talk(user(`<env>\n${text}\n</env>`), user(question)),
  ],
  "result of Responses": [undefined, (text, question) => talk(user(question), ...called("call_1", text))],
  "result of Chat": [
    CHAT,
    (text, question) =>
      chat([user(question), { role: "assistant", tool_calls: [shell] }, {
        ...{ role: "tool", tool_call_id: "call_1", content: text },
      }]),
  ],
  question: [undefined, (text, question) => ask(`${question} ${text}`)],
  "only block": [CHAT, (text, question) => chat([user(`<a>${text}</a>`), says("Yes"), user(question)])],
  "model's text": [CHAT, (text, question) => chat([user("Hi"), says(text), user(question)])],
  arguments: [
    undefined,
    (text, question) => talk(user(question), ...called("call_1", "ok", JSON.stringify({ text }))),
  ],
} as const satisfies Readonly<Record<string, readonly [path: string | undefined, form: Form]>>;

/** Place of a text, the text as recorded and as received, and the cure; `null` if the request has to be recorded. */
type Row = readonly [form: keyof typeof FORMS, was: string, is: string, cure: string | null];

const PGID = ["Output: a\nProcess Group PGID: 5149\n", "Output: a\nProcess Group PGID: 77\n"] as const;
const PGID_CURE = "--replace 'PGID: \\d+=PGID: N'";
const time = (time: string) => `Message time: ${time}\nWorkspace: shop`;
const TIMES = [time("2026-11-28T17:57:06Z"), time("2026-11-28T18:01:40Z")] as const;
const slug = (slug: string) =>
  `Memory is in /x/.gemini/tmp/${slug}, and\n- notes in \`/x/.gemini/tmp/${slug}/memory/M.md\`.`;
const home = (path: string) =>
  `--- Context from: ${path} ---\nUse English\n--- End of Context from: ${path} ---`;
const counted = (numbers: string) => [..."ABCD"].map((name, n) => `${name}x ${numbers[n] ?? 0}`).join("; ");
const id = (length: number, letter: string) => `Id: ${letter.repeat(length)}`;
const filled = (bytes: number, last: string) => `${"a ".repeat((bytes - 10) / 2)}\nRun: ${last}`;

const ROWS: Readonly<Record<string, Row>> = {
  "a number after a label": ["result of Gemini", ...PGID, PGID_CURE],
  "in a result of Responses": ["result of Responses", ...PGID, PGID_CURE],
  "in a result of Chat": ["result of Chat", ...PGID, PGID_CURE],
  "a time after a label": [
    "block after a question",
    ...TIMES,
    "--replace 'Message time: \\S+=Message time: T'",
  ],
  "a directory below a known one, in two lines": [
    ...["systemInstruction", slug("shop"), slug("the-shop-copy")] as const,
    "--replace '\\.gemini/tmp/[\\w.-]+=.gemini/tmp/X'",
  ],
  "the same in the context before a question": [
    ...["context of Gemini", slug("shop"), slug("shop-1")] as const,
    "--replace '\\.gemini/tmp/[\\w.-]+=.gemini/tmp/X'",
  ],
  "a path with more parts, twice": [
    ...["system", home("../.qwen/a.md"), home("../../../Users/grace/.qwen/a.md")] as const,
    "--replace 'Context from: \\S+=Context from: X'",
  ],
  "system text of Responses": ["instructions", "Run: 1", "Run: 2", "--replace 'Run: \\d+=Run: N'"],
  "system text in a message": ["developer", "Run: 1", "Run: 2", "--replace 'Run: \\d+=Run: N'"],
  "system text in blocks": ["system blocks", "Run: 1", "Run: 2", "--replace 'Run: \\d+=Run: N'"],
  "a block of its own before the question": [
    ...["message before a question", "Run: 1", "Run: 2", "--replace 'Run: \\d+=Run: N'"] as const,
  ],
  "a month in the description of a tool": [
    ...[
      "description of a tool",
      "The month is May 2026 \u2014 use it",
      "The month is July 2027 \u2014 use it",
    ] as const,
    "--replace 'The month is .+? \u2014=The month is X \u2014'",
  ],
  "a value that names itself": [
    ...[
      "system",
      "/pytest-of-ada/0",
      "/pytest-of-grace/0",
      "--replace '/pytest-of-[\\w.-]+=/pytest-of-X'",
    ] as const,
  ],
  "three spans": [
    ...["system", counted("1234"), counted("5674")] as const,
    "--replace 'Ax \\d+=Ax N' --replace 'Bx \\d+=Bx N' --replace 'Cx \\d+=Cx N'",
  ],
  "four spans": ["system", counted("1234"), counted("5678"), null],
  "the first word": ["system", "12 files here", "3 files here", "--replace '\\d+ files=N files'"],
  "the last character": ["system", "Runs in group A=1", "Runs in group A=2", "--replace 'A\\=\\d+=A=N'"],
  "a whole text": ["system", "12", "13", null],
  "two words side by side": ["system", "On: Sat 28 it", "On: Sun 29 it", "--replace 'On: .+? it=On: X it'"],
  "side by side at the end of a line": [
    "system",
    "On: Sat 28\nx",
    "On: Sun 29\nx",
    "--replace 'On: .+=On: X'",
  ],
  "a word that only one has": [
    "system",
    "Dir: the shop\n",
    "Dir: the shop (copy)\n",
    "--replace 'Dir: the .+=Dir: the X'",
  ],
  "a line that only one has": ["system", "Run: 1\nGo", "Run: 1\nLine: 2\nGo", null],
  "the longest span": ["system", id(100, "a"), id(99, "b"), "--replace 'Id: \\S+=Id: X'"],
  "a longer span": ["system", id(101, "a"), id(99, "b"), null],
  "signs of expressions and shells": [
    ...["system", "It's $x^2 [a]{1}|(b)=c*: 5!", "It's $x^2 [a]{1}|(b)=c*: 7!"] as const,
    "--replace 'It'\\''s \\$x\\^2 \\[a\\]\\{1\\}\\|\\(b\\)\\=c\\*: \\d+=It'\\''s $$x^2 [a]{1}|(b)=c*: N'",
  ],
  "quotes around a value": ["system", 'Name="a b"', 'Name="c d e"', '--replace \'Name\\=".+?"=Name="X"\''],
  "letters of other scripts": ["system", "Zeit: fünf", "Zeit: zwölf", "--replace 'Zeit: \\S+=Zeit: X'"],
  "a text of 64 KiB": ["system", filled(65536, "123"), filled(65536, "456"), "--replace 'Run: \\d+=Run: N'"],
  "a longer text, which patterns skip": ["system", filled(65538, "1234"), filled(65538, "4567"), null],
  "a count without a label in a result": ["result of Chat", "3 passed", "4 passed", "--match conversation"],
  "the same in a result of Gemini": ["result of Gemini", "3 passed", "4 passed", "--match conversation"],
  "a time in a tag of a question that is not that of the request": [
    ...["question", "<at>2026-11-20T10:00:00Z</at>", "<at>2026-11-21T10:00:00Z</at>", null] as const,
  ],
  "a number in a tag of a question": ["question", "<order>17</order>", "<order>18</order>", null],
  "a question": ["question", "Run: 1", "Run: 2", null],
  "a block that is the only text of its messages": ["only block", "Run: 1", "Run: 2", null],
  "a text of the model": ["model's text", "Run: 1", "Run: 2", null],
  "the arguments of a call": ["arguments", "Run: 1", "Run: 2", null],
};

/** Splits a command line as a shell does. */
async function wordsOf(line: string): Promise<string[]> {
  const { stdout } = await new Deno.Command("sh", { args: ["-c", `printf '%s\\0' ${line}`] }).output();
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

function requestOf([form, was, is]: Row) {
  const [path, body] = FORMS[form];
  const given = (text: string, question = "Which river runs through Paris?") =>
    sent((body as Form)(text, question), { ...(path === undefined ? {} : { path }), answer: { text } });
  return { recorded: given(was), received: given(is), other: given(is, "Which river runs through Lyon?") };
}

const cureOf = ({ type, cure, message }: Json): string | null => {
  assert.equal(type, "miss");
  return message.includes(`To match it: ${cure}`) ? cure : null;
};

test.long("in a question, a cure replaces the time of the request in a tag, and no other time", async () => {
  await using home = new RecordingHome();
  const at = (time: string) => chat([user(`<at>${time}</at> Is it late?`)]);
  const cure = async (recorded: string, received: string, name: string) => {
    home.fixture(name, [exchangeOf(at(recorded), CHAT)], {
      ...COMPATIBLE,
      created: "2026-11-20T10:00:00.000Z",
    });
    await using server = await Served.start(home, [`${home.directory}/${name}`]);
    return cureOf((await server.ask(at(received), "", CHAT)).events[0]);
  };
  const now = new Date().toISOString();
  assert.equal(await cure("2026-11-20T10:00:01Z", now, "both"), "--replace '<at>[^<\\s]+=<at>T'");
  assert.equal(await cure("2026-11-20T12:00:01Z", now, "recorded"), null);
  assert.equal(await cure("2026-11-20T10:00:01Z", "2026-11-21T10:00:01Z", "received"), null);
});

test.long("a cure replaces short spans of texts that no person and no model wrote", async () => {
  await using home = new RecordingHome();
  const rows = Object.entries(ROWS);
  for (const [n, [, row]] of rows.entries()) {
    home.fixture(`rows/${n}`, [exchangeOf(requestOf(row).recorded)], COMPATIBLE);
  }
  await using server = await Served.start(home, [`${home.directory}/rows`], { flags: FLAGS });
  const found: Record<string, string | null> = {};
  for (const [n, [sentence, row]] of rows.entries()) {
    const { received, other } = requestOf(row);
    const cure = cureOf((await server.ask(received, `/t/${n}`)).events[0]);
    found[sentence] = cure;
    if (cure === null) continue;
    const flags = [...FLAGS, ...await wordsOf(cure)];
    await using cured = await Served.start(home, [`${home.directory}/rows/${n}`], { flags });
    assert.equal((await cured.ask(other)).events[0].type, "miss", sentence);
    assert.equal((await cured.ask(received)).events[0].type, "played", sentence);
  }
  assert.deepEqual(found, Object.fromEntries(rows.map(([sentence, row]) => [sentence, row[3]])));
});

const runs = (run: number, more = "") =>
  chat([{ role: "system", content: `Run: ${run}${more}` }, user("Go")]);
const miss = async (recorded: readonly Json[], received: Json) => {
  await using home = new RecordingHome();
  const answers = recorded.map((body, n) => exchangeOf(sent(body, { answer: { n } }), CHAT));
  home.fixture("a", answers, { ...COMPATIBLE, context: { cwd: "/srv/a" } });
  const flags = [...FLAGS, "--context", "cwd=/srv/b"];
  await using server = await Served.start(home, [`${home.directory}/a`], { flags });
  return cureOf((await server.ask(received, "", CHAT)).events[0]);
};

test("a cure makes no two recorded requests with different answers equal", async () => {
  assert.equal(await miss([runs(1), runs(2)], runs(3)), null);
  assert.equal(await miss([runs(1), runs(2, "\nBe brief")], runs(3)), "--replace 'Run: \\d+=Run: N'");
});

test("a cure of spans has the named rules and ignored members that the request needs too", async () => {
  const at = (directory: string, run: number, seed: number) => {
    const content = `<cwd>${directory}</cwd>\nRun: ${run}\nSee ${directory}/a`;
    return { ...chat([{ role: "system", content }, user("Go")]), seed };
  };
  assert.equal(
    await miss([at("/srv/a", 1, 1)], at("/srv/b", 2, 2)),
    "--normalize cwd --ignore '$.seed' --replace 'Run: \\d+=Run: N'",
  );
});
