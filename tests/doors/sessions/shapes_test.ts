/** Turns and events of the wrong shape: `fsck` names each member that is absent or another, and nothing else. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { ID, type SessionHome, withHome } from "./home.ts";
import { sealed, type SessionFiles, user, write } from "./session_files.ts";
import { EVENTS, MANIFEST, TURNS, type Variant, variantsOf } from "./shapes.ts";

/** Asserts that `fsck` calls exactly the wrong variants misshapen; `put` writes one into a session of one turn. */
async function judge(
  home: SessionHome,
  variants: readonly Variant[],
  put: (session: SessionFiles, value: Json) => void,
  code: string,
): Promise<void> {
  const ids = variants.map((_, index) => `s-${index}`);
  for (const [index, { value }] of variants.entries()) put(home.session([user("Hi")], ids[index]), value);
  const { sessions } = await home.json(["fsck", "--all"], 0, 12);
  const found = new Map<string, Json>(sessions.map(({ id, findings }: Json) => [id, findings]));
  for (const [index, { what, value, ok }] of variants.entries()) {
    const findings = found.get(ids[index] as string);
    const isWrong = findings.some((finding: Json) => finding.code === code);
    assert.equal(!isWrong, ok, `${what}: ${JSON.stringify(value)}\n${JSON.stringify(findings)}`);
  }
}

/** Writes turn 2, with a seal. */
function putTurn(session: SessionFiles, { format, ...turn }: Json): void {
  write(
    session.turn(2),
    sealed(`${JSON.stringify({ format: format ?? "reprise.turn/1", ...turn }).slice(0, -1)},`),
  );
}

/** An event that belongs into no certain kind of turn. */
const EVENT = { seq: 2, type: "blob_lost", sha256: "a".repeat(64) };

for (const [kind, shape] of Object.entries(TURNS)) {
  withHome(`each member of a ${kind} turn has its shape`, async (home) => {
    const put = (session: SessionFiles, turn: Json) => putTurn(session, { kind, events: [EVENT], ...turn });
    await judge(home, variantsOf({ turn: 2, ...shape }), put, "bad_shape");
  }, test.long);
}

withHome("the events of a turn are at least one, each with seq and type", async (home) => {
  const { seq, type, ...rest } = EVENT;
  const variants = [[], {}, null, [null], [rest], [{ seq, ...rest }], [{ type, ...rest }], [{
    ...EVENT,
    type: 7,
  }]]
    .map((value) => ({ what: "events", value, ok: false }));
  await judge(home, variants, (session, events) => putTurn(session, { ...harness, events }), "bad_shape");
});

const harness = {
  turn: 2,
  session: ID,
  kind: "harness",
  run: 1,
  seq: [2, 2],
  prev: null,
  at: "2026-11-21T20:18:02.000Z",
};

for (const [type, shape] of Object.entries(EVENTS)) {
  withHome(`each member of a ${type} has its shape`, async (home) => {
    const put = (session: SessionFiles, event: Json) =>
      putTurn(session, { ...harness, events: [{ seq: 2, type, ...event }] });
    await judge(home, variantsOf(shape), put, "bad_shape");
  }, test.long);
}

withHome("each member of a manifest has its shape", async (home) => {
  const put = (session: SessionFiles, { ...manifest }: Json) => {
    const head = { format: "reprise.manifest/1", session: session.id };
    write(session.manifest, sealed(`${JSON.stringify({ ...head, ...manifest }).slice(0, -1)},\n `));
  };
  await judge(home, variantsOf(MANIFEST), put, "manifest_garbled");
}, test.long);

withHome("a tool_use needs an id, and any other call a call_id", async (home) => {
  const variants = [
    { what: "a block", value: { type: "tool_use", id: "toolu_1" }, ok: true },
    { what: "a block without id", value: { type: "tool_use" }, ok: false },
    { what: "an item without call_id", value: { type: "function_call", id: "fc_1" }, ok: false },
  ];
  const put = (session: SessionFiles, item: Json) =>
    putTurn(session, { ...harness, events: [{ seq: 2, type: "tool_call", item }] });
  await judge(home, variants, put, "bad_shape");
});
