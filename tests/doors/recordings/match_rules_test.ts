/** Match rules: what they take out of requests, what they leave, and how wrong ones are refused. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { THERE as NOW } from "./client_texts.ts";
import { withHome } from "./home.ts";
import { exchangeOf, outcomeOf, type Row, rows, sent, Served } from "./served.ts";
import { ask, call, called, claude, output, responseStream, says, talk, user } from "./shapes.ts";

const FLAGS = ["--rules", "none"];
const [SOME, OTHER] = ["7b0c4d82-8086-4f3a-9d1e-0123456789ab", "4d882b5a-8633-4a56-b7dd-4b907c607ebf"];
interface Place {
  readonly cwd: string;
  readonly home: string;
  readonly user: string;
  readonly date: string;
  readonly git: string;
}
const SHOP = "## main\n M docs/notes.md\n?? new/\n1a2b3c4 Greet\n5d6e7f8 Begin the shop";
const HERE: Place = {
  ...{ cwd: "/people/ada/shop", home: "/people/ada", user: "run", date: "2026-11-22", git: SHOP },
};
/** The place of the server: a directory of each system, and today. */
const THERE: Place = {
  ...{ cwd: "/usr/share", home: "/srv/people", user: "test", git: "Not a git repository" },
  date: NOW.date.iso,
};
const us = (date: string) => date.split("-").map(Number).join("/").replace(/(\d+)\/(.*)/, "$2/$1");
const context = ({ cwd, date, home }: Place, session = SOME) =>
  `2. Date: ${date}\n4. Directory: ${cwd}\nNotes: ${home}/.agent/session-state/${session}\n`;
const instructed = (instructions: string, ...input: Json[]) => ({ model: "gpt-5.6", instructions, input });
const asked = (place: Place, question: string, session = SOME) => ({
  ...instructed(context(place, session), user(question)),
  prompt_cache_key: session,
});
const parts = (...texts: string[]) => user(texts.map((text) => ({ type: "input_text", text })));

/** A request that is recorded at one place and asked at another, under all rules by value. */
const moved = (
  bodyOf: (place: Place, session: string) => Json,
  outcome: string,
  recorded: Partial<Place> = {},
): Row => {
  const { git, ...here } = { ...HERE, ...recorded };
  return {
    header: {
      match: { normalize: ["cwd", "home", "user", "date", "uuid", "git"] },
      context: { ...here, git, uuid: SOME },
    },
    env: { HOME: THERE.home, USER: THERE.user, TZ: NOW.zone },
    recorded: [bodyOf({ ...HERE, ...recorded }, SOME)],
    asked: [[bodyOf(THERE, OTHER), outcome]],
  };
};
/** Two texts of a question that stay two questions. */
const two = (recorded: string, received: string, place: Partial<Place> = {}): Row => {
  return moved(
    (where, session) => asked(where, where === THERE ? received : recorded, session),
    "miss 1 input[0].content",
    place,
  );
};

rows("values of the machine are found in any words", {
  "a numbered list": moved((place, session) => asked(place, "Hello", session), "1 rules cwd,home,date,uuid"),
  "a context before the question, in one message": moved(
    ({ cwd, date }) => instructed("", parts(`Folder (${cwd}); it is ${us(date)} today`, "Hello")),
    "1 rules cwd,date",
  ),
  "JSON and percent-encoded": moved(
    ({ cwd, date }) =>
      instructed(
        `${JSON.stringify({ cwd, day: date })} file://${encodeURI(cwd)}/a ?in=${encodeURIComponent(cwd)}`,
      ),
    "1 rules cwd,date",
  ),
  "the output of date": moved(
    ({ date }) =>
      instructed("", ...called("c", new Date(date).toDateString().slice(0, 10).replace(" 0", "  "))),
    "1 rules date",
  ),
  "a path with dashes": moved(
    ({ cwd }) => instructed(`~/.claude/projects/${cwd.replaceAll("/", "-")}/memory/`),
    "1 rules cwd",
  ),
  "a name after its label": moved(
    ({ user: name }) => instructed(`Username: ${name}`, user("Hello")),
    "1 rules user",
  ),
}, { flags: FLAGS, cwd: () => THERE.cwd });

rows("what only looks like a value of the machine counts", {
  ...Object.fromEntries([
    ["What happened on 2026-11-22?", `What happened on ${THERE.date}?`],
    [`Delete ${SOME}`, `Delete ${OTHER}`],
    ["run the run", "test the test"],
    ["/people/ada/shop-old/a", "/usr/share-old/a"],
    ["/mnt/people/ada/shop", "/mnt/usr/share"],
    ["from /people/ada/shop to /people/ada", "from /srv/people to /usr/share"],
  ].map(([recorded = "", received = ""]) => [`"${recorded}" and "${received}"`, two(recorded, received)])),
  "the day in an earlier question": moved(
    (place) => instructed(context(place), user(`Tell me of ${place.date}`), says("So."), user("And?")),
    "miss 1 input[0].content",
  ),
  "a day that is neither": moved(
    (place) => instructed(`${context(place)}Due 2026-12-${place === THERE ? "01" : "02"}`, user("Hello")),
    "miss 1 instructions",
  ),
  "two UUIDs that are one there": {
    header: { match: { normalize: ["uuid"] } },
    recorded: [talk(user(SOME), user(SOME), user("Hello"))],
    asked: [[talk(user(SOME), user(OTHER), user("Hello")), "miss 1 input[1].content"], [
      talk(user(OTHER), user(OTHER), user("Hello")),
      "1 rules uuid",
    ]],
  },
  "a UUID that names no session": moved(
    (place, session) => ({ ...asked(place, "Hello", session), prompt_cache_key: undefined }),
    "miss 1 instructions",
  ),
}, { flags: FLAGS, cwd: () => THERE.cwd });

const at = (
  cwd: string,
  prompt = "Fix the test",
  date = "2026-11-21",
) => [user(`<cwd>${cwd}</cwd>\n<current_date>${date}</current_date>`), user(prompt)];
const WALL = { pattern: "Wall time: [0-9.]+", with: "Wall time: N" };
const ruled = (
  match: Json,
  recorded: Json,
  ...more: readonly (readonly [asked: Json, outcome: string])[]
): Row => ({
  ...{ header: { match, context: OF_A }, recorded: [recorded], asked: more },
});
/** Values of the recorder, and the flags of a client with others. */
const OF_A = { cwd: "/srv/a", date: "2026-11-21" };
const IN_B = ["--context", "cwd=/opt/b", "--context", "date=2027-01-02"];
const blob = (encrypted_content: string, more: Json = {}) => ({
  type: "reasoning",
  encrypted_content,
  ...more,
});
const thinking = (thinking: string) => claude([says([{ type: "thinking", thinking, signature: "x" }])]);
const args = (cwd: string) => JSON.stringify({ command: `cat ${cwd}/notes/2026-11-21.txt` });
const echoed = (cwd: string, prompt: string, id: string, from: string) =>
  talk(...at(cwd, prompt, "2027-01-02"), ...called(id, `ok ${cwd}`, args(from)));

rows("a request matches by the rules of its fixture and of the flags, and names those that it needed", {
  "of the fixture": {
    ...ruled(
      { normalize: ["cwd", "date", "home"], replace: [WALL] },
      talk(...at("/srv/a"), ...called("call_1", "/srv/a/x\nWall time: 0.1")),
      [
        talk(...at("/opt/b", "Fix the test", "2027-01-02"), ...called("call_1", "/opt/b/x\nWall time: 7")),
        `1 rules cwd,date,replace ${WALL.pattern}`,
      ],
    ),
    flags: IN_B,
  },
  "of the flags too": {
    ...ruled({ normalize: ["cwd"] }, talk(...at("/srv/a")), [
      talk(...at("/opt/b", "Fix the test", "2027-01-02")),
      "1 rules cwd,date",
    ]),
    flags: ["--normalize", "date", ...IN_B],
  },
  "not with --strict-match": {
    ...ruled({ normalize: ["cwd"] }, talk(...at("/srv/a")), [
      talk(...at("/srv/b")),
      "miss 1 input[0].content",
    ]),
    flags: ["--strict-match", "--context", "cwd=/srv/b"],
  },
  "the recorder's values come back through played answers": {
    header: {
      match: { normalize: ["cwd", "date"] },
      ...{ created: "2026-11-21T10:00:00.000Z", context: OF_A },
      recordings: ["/srv/a", "/srv/z"].map((cwd, index) => ({
        ...{ created: "2026-11-21T10:00:00.000Z", exchanges: [index + 1, index + 1] },
        context: { ...OF_A, cwd },
      })),
    },
    flags: IN_B,
    recorded: [
      talk(...at("/srv/a"), ...called("call_1", "ok /srv/a", args("/srv/a"))),
      talk(...at("/srv/z", "Other"), ...called("call_2", "ok /srv/z", args("/srv/z"))),
    ],
    asked: [
      [echoed("/opt/b", "Fix the test", "call_1", "/srv/z"), "miss 1 input[2].arguments"],
      [echoed("/opt/b", "Fix the test", "call_1", "/srv/a"), "1 rules cwd,date"],
      [echoed("/opt/b", "Other", "call_2", "/srv/z"), "2 rules cwd,date"],
    ],
  },
  "roles, types, ids and blobs stay under an ignored container": ruled(
    { ignore: ["$.input[*]"] },
    talk(user("a"), call("c"), { type: "reasoning", id: "rs_1", encrypted_content: "x" }),
    [talk(user("b"), call("c", { name: "other" }), blob("x", { summary: [1] })), "1 rules ignore $.input[*]"],
    [talk(says("a"), call("c"), blob("x")), "miss 1 input[0].role"],
    [talk(user("a"), call("c"), blob("y")), "miss 1 input[2].encrypted_content"],
  ),
  "signed thinking and data stay": ruled(
    { normalize: ["uuid"] },
    thinking(SOME),
    [thinking(OTHER), "miss 1 messages[0].content[0].thinking"],
  ),
  "paths from the end, in brackets, of any depth": ruled(
    { ignore: ["input[-1].content", "$['odd name']", "$..deep[*].x"] },
    { ...ask("a"), "odd name": 1, deep: [{ x: 1 }, { x: 2 }] },
    [
      { ...ask("b"), "odd name": 2, deep: [{ x: 3 }, {}] },
      "1 rules ignore input[-1].content,ignore $['odd name'],ignore $..deep[*].x",
    ],
    [{ ...ask("b"), "odd name": 2, deep: [{ x: 3 }] }, "miss 1 deep[1]"],
  ),
  "strings over 64 KiB are skipped, and that is reported once": {
    header: { match: { normalize: ["cwd"], replace: [WALL] }, context: OF_A },
    flags: IN_B,
    recorded: ["1", "2"].map((text) => talk(...at("/srv/a", text), user("x".repeat(70_000)))),
    asked: ["1", "2"].map((text, index) =>
      [
        talk(...at("/opt/b", text), user("x".repeat(70_000))),
        `${text} rules cwd${index === 0 ? " (strings_skipped)" : ""}`,
      ] as const
    ),
  },
}, { flags: FLAGS });

const ignoring = (path: string, says: RegExp) => [["--ignore", path], { ignore: [path] }, says] as const;
const replacing = (pattern: string, says: RegExp, to = "b") =>
  [["--replace", `${pattern}=${to}`], { replace: [{ pattern, with: to }] }, says] as const;
const MANY = Array.from({ length: 101 }, (_, n) => `a${n}`);
/** Rules that a fixture or a flag may not have, with the reason. */
const WRONG: readonly (readonly [flags: readonly string[], match: Json, says: RegExp])[] = [
  [["--replace", "abc"], { replace: [{ pattern: "", with: "x" }] }, /it has no = between|"" is empty/],
  ignoring("input[?@.a]", /has a filter/),
  ignoring("$['a','b']", /selects several members in one step/),
  ignoring("$", /selects the whole body/),
  ignoring("client-metadata", /is not a path at character 7/),
  ignoring("input[0].role", /ends in "role", which always counts/),
  ignoring("a.".repeat(32) + "a", /has more than 32 steps/),
  [["--normalize", "pwd"], { normalize: ["pwd"] }, /"pwd".*is no named rule/],
  replacing("(a", /missing closing \)/),
  replacing("(a)", /has no group 2/, "$2"),
  replacing(`(${"a".repeat(118)}😀`, /"\(a{118}…"/),
  replacing("(?:a?){500}a{500}", /instructions, more than/),
  [MANY.flatMap((path) => ["--ignore", path]), { ignore: MANY }, /101 rules/],
];
withHome(
  "rules that cannot be used are refused, of a flag as of a fixture, with the reason and a hint",
  async (home) => {
    for (const [index, [flags, match, says]] of WRONG.entries()) {
      home.fixture(`a${index}`, [exchangeOf(ask("Hi"))]);
      home.fixture(`b${index}`, [exchangeOf(ask("Hi"))], { match });
      const ofFlag = await Served.refusal(home, [`a${index}`], flags);
      const ofFixture = await Served.refusal(home, [`b${index}`]);
      for (const [kind, found] of [["usage", ofFlag], ["bad_fixture", ofFixture]]) {
        assert.deepEqual([found.exit, found.code, typeof found.hint], [2, kind, "string"], found.message);
        assert.match(found.message, says, `${index} ${kind}`);
      }
    }
  },
);

withHome("the rules of one fixture do not apply to another", async (home) => {
  home.fixture("a", [exchangeOf(talk(...at("/srv/a")))], { context: OF_A });
  home.fixture("b", [exchangeOf(talk(...at("/srv/a")))], { match: { normalize: ["cwd"] }, context: OF_A });
  const flags = [...FLAGS, "--context", "cwd=/opt/b"];
  await using server = await Served.start(home, ["a", "b"], { cwd: home.directory, flags });
  const first = await server.ask(talk(...at("/opt/b")));
  assert.deepEqual([outcomeOf(first), first.events[0].fixture], ["1 rules cwd", "b"]);
  assert.match(outcomeOf(await server.ask(talk(...at("/opt/b")))), /^miss/);
});

const answers = (first: Json, second: Json) => [
  sent(ask("Add 1 and 1"), first),
  sent(ask("Add 2 and 2"), second),
];
const text = (text: string, id = "msg_1") => ({
  answer: responseStream({
    id,
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text }],
  }),
});
const calling = (name: string, call_id = "call_1") => ({
  answer: responseStream({ id: "fc_1", type: "function_call", call_id, name, arguments: "{}" }),
});
const failing = (message: string) => ({ answer: `data: ${JSON.stringify({ type: "error", message })}\n\n` });
const PLAYED = "1 exact";
const BAD = "turned_away bad_fixture";
const ambiguous = (recorded: readonly Json[], outcome: string): Row => ({
  ...{
    header: { match: { replace: [{ pattern: "\\d+", with: "N" }] } },
    recorded,
    asked: [[recorded[0].body, outcome]],
  },
});
rows("rules that hide a difference between answers are refused; ids, times and retried failures are none", {
  "other texts": ambiguous(answers(text("2"), text("4")), BAD),
  "other ids of messages": ambiguous(answers(text("Yes", "msg_1"), text("Yes", "msg_2")), PLAYED),
  "other times": ambiguous(
    answers({ answer: { id: "a", created_at: 1, n: 1 } }, { answer: { id: "b", created_at: 2, n: 1 } }),
    PLAYED,
  ),
  "other calls": ambiguous(answers(calling("add"), calling("drop")), BAD),
  "other errors": ambiguous(answers(failing("one"), failing("two")), BAD),
  "a failure that clients retry": ambiguous(
    answers({ answer: { error: {} }, response: { status: 429 } }, text("Yes")),
    PLAYED,
  ),
  "requests that are equal without rules": ambiguous([
    sent(ask("Add 1"), text("Yes")),
    sent(ask("Add 1"), text("No")),
  ], PLAYED),
  "conversations with other call ids": ambiguous(
    ["1", "2"].map((n) => sent(talk(user("Add"), call(`call_${n}`), output(`call_${n}`, n)), text(n))),
    PLAYED,
  ),
}, { flags: ["--rules", "none"] });

withHome(
  "the rules of one recording leave nothing out of another, however many values they know",
  async (home) => {
    const directories = Array.from({ length: 70 }, (_, index) => `/srv/apps/p${index}x`);
    const body = (instructions: string, more: Json = {}) => ({
      ...{ model: "gpt-5.6", instructions, ...more },
      input: [{ role: "assistant", content: directories.join(" , ") }, { role: "user", content: "Go on" }],
    });
    for (const [index, cwd] of directories.entries()) {
      const match = { normalize: ["cwd"], ignore: ["$.text.verbosity"] };
      home.fixture(`a${index}`, [exchangeOf(body(`In ${cwd}`, { n: index }))], { match, context: { cwd } });
    }
    home.fixture("b", [exchangeOf(body("Alone", { text: {} }))], { match: { ignore: ["$.temperature"] } });
    const folders = [...directories.map((_, index) => `a${index}`), "b"].map((name) =>
      `${home.directory}/${name}`
    );
    await using server = await Served.start(home, folders, { flags: FLAGS });
    const answer = await server.ask(body("Alone", { text: { verbosity: "low" } }));
    assert.equal(outcomeOf(answer).split(" (")[0], "miss 1 text.verbosity");
  },
  test.long,
);
