/** Items of a provider that JavaScript cannot hold, to the letter from the file to the request, the fork and the export. */
import { type Json, sha256 } from "../../support/files.ts";
import assert from "node:assert/strict";
import { ID, type SessionHome, withHome } from "./home.ts";
import { call, model, reasoning, user } from "./session_files.ts";

const SECRET = "sk-made-up-0123456789";
const ITEM = `{"10":[1.0,-0,1e5],"type":"strange_call","2":{"b":12345678901234567890,"1":"key ${SECRET}"}}`;

/** A session whose last turn holds the item; its manifest is lost. */
function withItem(home: SessionHome): void {
  const session = home.session([user("Hi"), model([{ type: "strange_call" }])]);
  session.edit(session.turn(2), (text) => text.replace('{"type":"strange_call"}', ITEM));
  Deno.removeSync(session.manifest);
}

/** The turn file and the next request of a session. */
async function textsOf(home: SessionHome, id = ID): Promise<string[]> {
  const env = { OPENAI_API_KEY: "sk-test-1" };
  const { stdout } = await home.call(["run", "--dry-run", "--body", "-s", id, "-m", "gpt-5.6", "Go on"], {
    env,
  });
  return [Deno.readTextFileSync(`${home.home}/sessions/${id}/turns/000002.json`), stdout];
}

withHome("an item is read and sent to the letter, by its session and by a fork", async (home) => {
  withItem(home);
  const { session } = await home.json(["fork", ID]);
  for (const id of [ID, session]) {
    for (const text of await textsOf(home, id)) assert.ok(text.includes(ITEM), text);
  }
});

for (const flags of [[], ["--redact"]]) {
  withHome(`an item survives an export ${flags}`, async (home) => {
    withItem(home);
    const { stdout } = await home.call(["export", ID, ...flags]);
    await home.json(["rm", ID, "--yes"]);
    assert.equal((await home.call(["import", "-"], { stdin: stdout })).code, 0);
    const expected = flags.length > 0 ? ITEM.replace(SECRET, "[redacted api_key]") : ITEM;
    for (const text of await textsOf(home)) assert.ok(text.includes(expected), text);
  });
}

withHome(
  "members of items keep their order, and unknown members stay, in items and beside them",
  async (home) => {
    const item = { zeta: 1, ...reasoning("rs_1"), alpha: { b: 1, a: 2 } };
    home.session([
      { ...user("Hi"), later: { by: "another program" } },
      model([item, call("call_a")]),
    ]);
    const { stdout } = await home.call(["export", ID, "--redact"]);
    await home.json(["rm", ID, "--yes"]);
    assert.equal((await home.call(["import", "-"], { stdin: stdout })).code, 0);
    const [file] = await textsOf(home);
    assert.ok(file?.includes(JSON.stringify(item)), file);
    assert.deepEqual(home.turns(ID)[0].later, { by: "another program" });
    assert.deepEqual(await home.damage(), []);
  },
);

withHome("another program may spell numbers of its own as it likes", async (home) => {
  const session = home.session([user("Hi"), model([])]);
  session.edit(
    session.turn(2),
    (text) => text.replace('"turn":2', '"turn":2.0').replace('"seq":2,', '"seq":2e0,'),
  );
  assert.deepEqual(await home.damage(), ["warning manifest_wrong manifest.json"]);
  assert.equal(await home.refuses(), false);
});

withHome("an event of an unknown kind that is not folded is kept, counted and ignored", async (home) => {
  const [first, ...others] = [user("Hi"), model([])];
  const weather = { type: "weather", fold: false, sun: true };
  const session = home.session([
    { ...first, kind: "user", events: [weather, ...first?.events ?? []] },
    ...others,
  ]);
  assert.deepEqual(await home.damage(), []);
  const { input } = await home.nextBody();
  assert.equal(input.length, 2);
  await home.json(["rename", session.id, "Another"]);
  assert.equal(home.turns(ID)[0].events[0].sun, true);
});

withHome("a lone surrogate stays in its turn, and is sent as U+FFFD at any depth", async (home) => {
  const odd = { ...call("call_a"), arguments: '{"a":"\ud800"}' };
  home.session([
    user("a \udc00 b"),
    model([odd, { type: "strange_call", deep: [{ "\udfff": ["\ud83d"] }] }]),
  ]);
  const [file, body] = await textsOf(home);
  assert.match(file as string, /\\ud83d/);
  assert.match(body as string, /a \ufffd b/);
  assert.match(body as string, /\{\\"a\\":\\"\ufffd\\"\}/);
  assert.match(body as string, /\{"\ufffd":\["\ufffd"\]\}/);
});

withHome(
  "show --no-blobs names encrypted texts by size and hash, at any depth, and nothing else",
  async (home) => {
    const items = [
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAé" },
      { type: "web_search_tool_result", content: [{ title: "A", encrypted_content: "x" }] },
      { type: "strange_call", input: { data: "d", signature: "s", "10": 1 }, encrypted_content: null },
    ];
    home.session([user("Hi"), model(items)]);
    const { turns } = await home.json(["show", ID, "--no-blobs"]);
    const digest = (text: string) => ({ bytes: new TextEncoder().encode(text).length, sha256: sha256(text) });
    const [thought, found, strange] = turns[1].events.map(({ item }: Json) => item);
    assert.deepEqual(thought.encrypted_content, digest("gAAAé"));
    assert.deepEqual(found.content, [{ title: "A", encrypted_content: digest("x") }]);
    assert.deepEqual(strange, items[2]);
  },
);

/** First bytes of files that resemble a type that can be attached; cli/attach_test has those that can. */
const REFUSED = ["RIFF\x00\x00\x00\x00WAVE", "\x89PNG\r\n", "h\xe9", "a\x00b", "\xed\xa0\x80"];

withHome(
  "a file that is neither text nor a whole known type is not attached, whatever its name says",
  async (home) => {
    for (const content of REFUSED) {
      const bytes = Uint8Array.from(content, (letter) => letter.charCodeAt(0));
      Deno.writeFileSync(`${home.workspace}/file.txt`, bytes);
      const args = ["run", "--new", "--dry-run", "-m", "gpt-5.6", "--attach", "file.txt", "Look"];
      assert.match((await home.json(args, 2)).message, /neither an image, a PDF nor UTF-8 text/, content);
    }
  },
);
