/** Items of a provider that JavaScript cannot hold, to the letter through everything that the store does with them. */
import assert from "node:assert/strict";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { seal } from "../../../src/domain/seal.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { eventOfItem } from "../../../src/run/request_step.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { type Home, openHome } from "../../../src/store/home.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { openEnvelope } from "../../../src/store/read/turn_file.ts";
import { judgeTurn } from "../../../src/store/read/turn.ts";
import { History, TARGET } from "../../support/history.ts";
import { endDraft, ID, modelDraft, newWriter, testPorts, userDraft, withHome } from "./support.ts";
import { exported, imported } from "./transfer_support.ts";

const SECRET = "sk-made-up-0123456789";
const ITEM = `{"10":[1.0,-0,1e5],"type":"strange_call","2":{"b":12345678901234567890,"1":"key ${SECRET}"}}`;
const FORK = parseSessionId("fork");

async function withItem(body: (home: Home, root: string) => void | Promise<void>): Promise<void> {
  await withHome(async (home, root) => {
    const data = `{"type":"response.output_item.done","output_index":0,"item":${ITEM}}`;
    const [update] = responsesApi.newAssembler().feed({ event: undefined, data });
    assert.ok(update?.kind === "item");
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("x"));
    writer.append(modelDraft([eventOfItem(update.item)]));
    writer.append(endDraft());
    // The next request of the same process is built from the writer's turns.
    assert.ok(
      responsesApi.bodyOf({ model: "m" }, foldHistory(writer.turns, TARGET).entries).includes(ITEM),
    );
    writer.close();
    await body(home, root);
  });
}

/** The turn file and the next request of a session. */
function textsOf(home: Home, id = ID): readonly [string, string] {
  const { turns } = readSession(testPorts(), home, id);
  return [
    Deno.readTextFileSync(`${home.sessions}/${id}/turns/000002.json`),
    responsesApi.bodyOf({ model: "m" }, foldHistory(turns, TARGET).entries),
  ];
}

Deno.test("an item is read back and sent to the letter, by the session itself and by a fork of it", () =>
  withItem(async (home) => {
    for (const text of textsOf(home)) assert.ok(text.includes(ITEM), text);
    const plan = planFork(testPorts(), home, { parent: ID, toSeq: undefined });
    await forkSession(testPorts(), home, plan, { id: FORK, summary: null, usage: NO_USAGE });
    for (const text of textsOf(home, FORK)) assert.ok(text.includes(ITEM), text);
  }));

Deno.test("an item survives an export, and loses nothing but its secrets in a redacted one", () =>
  withItem(async (home, root) => {
    for (const redact of [false, true]) {
      const other = openHome(testPorts(), `${root}/${redact}`, { create: true });
      await imported(other, exported(home, { redact }).join("\n") + "\n");
      const expected = redact ? ITEM.replace(SECRET, "[redacted api_key]") : ITEM;
      for (const text of textsOf(other)) assert.ok(text.includes(expected), text);
    }
  }));

Deno.test("a turn that another program wrote may spell numbers of its own as it likes", () => {
  const { file } = encodedModelTurn();
  const respelled = file.replace('"turn":2', '"turn":2.0').replace('"seq":2,"type"', '"seq":2e0,"type"')
    .replace(/ "sum":"[^"]*"\}\n$/, " ");
  const envelope = openEnvelope(seal(respelled).bytes);
  assert.ok(envelope.status === "ok");
  const judged = judgeTurn(envelope.value);
  assert.ok(judged.status === "ok", JSON.stringify(judged));
  assert.deepEqual([judged.turn.turn, judged.turn.events[0]?.seq], [2, 2]);
  assert.ok(JSON.stringify(judged.turn.events[0]).includes(ITEM));
});

function encodedModelTurn(): { readonly file: string } {
  const history = new History().user("x").model([{ type: "x" }]);
  const file = new TextDecoder().decode(history.files[1]);
  return { file: file.replace('{"type":"x"}', ITEM) };
}
