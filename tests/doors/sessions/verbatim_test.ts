/** Items of a provider that JavaScript cannot hold, to the letter from the file to the request, the fork and the export. */
import assert from "node:assert/strict";
import { ID, type SessionHome, withHome } from "./home.ts";
import { call, model, user } from "./session_files.ts";

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
    const item = {
      zeta: 1,
      type: "reasoning",
      id: "rs_1",
      summary: [],
      alpha: { b: 1, a: 2 },
      encrypted_content: "x",
    };
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
