import assert from "node:assert/strict";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { type Home, openHome } from "../../../src/store/home.ts";
import { exportSession } from "../../../src/store/transfer/export.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { readBlob, readSession } from "../../../src/store/read/session.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { scanForValues } from "../../../src/fixture/secrets/scan.ts";
import { createScrubber } from "../../../src/fixture/secrets/scrubber.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import {
  answer,
  call,
  endDraft,
  ID,
  modelDraft,
  newWriter,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { exported, imported } from "./transfer_support.ts";
import { test } from "../../support/test.ts";

/** Made up, and shaped like the real thing. */
const SECRET = "sk-made-up-0123456789";
const SEALED = "gAAAA-sk-inside-0123456789-opaque";

/** A session with a secret in its prompt, in a call's arguments, in a result and in the result's blob. */
async function secretive(home: Home): Promise<void> {
  const writer = await newWriter(testPorts(), home);
  const output = `${"line\n".repeat(80_000)}API_KEY=${SECRET}\n${"line\n".repeat(10)}`;
  const blob = writer.putBlob(new TextEncoder().encode(output));
  const image = writer.putBlob(Uint8Array.from([0xff, 0xfe, ...new TextEncoder().encode(SECRET)]), {
    lossy: true,
  });
  const result = { type: "tool_result", tool: "read_file", status: "ok" } as const;
  writer.append(userDraft(`use ${SECRET}`));
  writer.append(modelDraft([
    { type: "reasoning", item: { id: "rs_1", type: "reasoning", summary: [], encrypted_content: SEALED } },
    {
      type: "tool_call",
      item: { ...callItem("call_a"), arguments: JSON.stringify({ header: `Bearer ${SECRET}` }) },
    },
    call("call_b"),
  ]));
  writer.append({
    kind: "tools",
    run: 1,
    events: [
      { ...result, call_id: "call_a", call_seq: 3, output: `found ${SECRET}`, blob },
      { ...result, call_id: "call_b", call_seq: 4, output: "binary", blob: image },
    ],
  });
  writer.append(modelDraft([answer("Done.")]));
  writer.append(endDraft());
  writer.close();
}

function callItem(id: string) {
  return { id: "fc_1", type: "function_call", call_id: id, name: "read_file" };
}

test.long("a redacted export holds no secret outside opaque items, and says what it replaced, per kind and turn", () =>
  withHome(async (home) => {
    await secretive(home);
    const lines = exported(home, { redact: true });
    const { redacted } = JSON.parse(lines[0] as string);
    const texts = lines.map((line) => JSON.parse(line)).map(({ text, base64 }) =>
      text ?? (base64 === undefined ? "" : atob(base64))
    ).filter((text) => !text.startsWith("\u00ff\u00fe"));
    assert.doesNotMatch(texts.join("\n").replaceAll(SEALED, ""), /sk-made-up/);
    assert.ok(texts.join("\n").includes(SEALED), "what only the provider can read is untouched");
    assert.equal(redacted.replaced, 4);
    assert.deepEqual(redacted.turns.map(({ turn }: { turn: number }) => turn), [1, 2, 3]);
    assert.deepEqual(exportSession(testPorts(), home, { id: ID, redact: true }).redacted, redacted);
  }));

test.long("a redacted session is imported sound, with its marks, its calls still JSON and its blobs whole", () =>
  withHome(async (home, root) => {
    await secretive(home);
    const other = openHome(testPorts(), `${root}/other`, { create: true });
    await imported(other, `${exported(home, { redact: true }).join("\n")}\n`);
    const { findings } = await fsckSession(testPorts(), other, ID);
    assert.deepEqual(findings, []);
    const { turns, manifest } = readSession(testPorts(), other, ID);
    const originals = readSession(testPorts(), home, ID).turns;
    assert.deepEqual(turns.map(({ redacted }) => redacted?.replaced ?? 0), [1, 1, 2, 0, 0]);
    assert.equal(turns[0]?.redacted?.sum, originals[0]?.sum);
    assert.equal(manifest.title, "use [redacted api_key]");
    const made = turns[1]?.events[1];
    assert.ok(made?.type === "tool_call");
    assert.deepEqual(JSON.parse(String(made.item.arguments)), { header: "Bearer [redacted api_key]" });
    const result = turns[2]?.events[0];
    assert.ok(result?.type === "tool_result" && result.blob !== undefined);
    const blob = readBlob(testPorts(), other, ID, result.blob.sha256);
    assert.equal(blob.length, result.blob.bytes);
    assert.match(new TextDecoder().decode(blob), /API_KEY=\[redacted [a-z_]+\]\n(line\n)+$/);
    const binary = turns[2]?.events[1];
    const before = originals[2]?.events[1];
    assert.deepEqual(binary, before, "bytes that are no text are kept");
    // Once more: nothing is left to find, and the marks stay.
    const again = exported(other, { redact: true });
    assert.equal(JSON.parse(again[0] as string).redacted.replaced, 0);
    assert.equal(again.filter((line) => line.includes('\\"redacted\\":{')).length, 3);
  }));

test.long("a redacted fork names the new checksum of the last shared turn", () =>
  withHome(async (home, root) => {
    await secretive(home);
    const child = parseSessionId("child");
    const plan = planFork(testPorts(), home, { parent: ID });
    await forkSession(testPorts(), home, plan, { id: child, summary: null, usage: NO_USAGE });
    const other = openHome(testPorts(), `${root}/other`, { create: true });
    await imported(other, `${exported(home, { id: child, redact: true }).join("\n")}\n`);
    assert.deepEqual((await fsckSession(testPorts(), other, child)).findings, []);
  }));

Deno.test("without secrets a redacted export restores the same files as a plain one", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    writer.append(endDraft());
    writer.close();
    const [plain, redacted] = [exported(home), exported(home, { redact: true })];
    assert.deepEqual(redacted.slice(1, -1), plain.slice(1, -1));
  }));

test.long("a redacted export holds no value that is known to be a secret, in turns and blobs, encoded or not", () =>
  withHome(async (home, root) => {
    const value = 'no shape "of" a key';
    const writer = await newWriter(testPorts(), home);
    const filling = "line\n".repeat(80_000);
    const blob = writer.putBlob(new TextEncoder().encode(`${filling}${value} ${btoa(value)}\n${filling}`));
    writer.append(userDraft(`it is ${value}`));
    const args = JSON.stringify({ nested: JSON.stringify({ value }), postgres: "postgres" });
    writer.append(modelDraft([{ type: "tool_call", item: { ...callItem("call_a"), arguments: args } }]));
    const result = { type: "tool_result", tool: "read_file", status: "ok", output: "found" } as const;
    writer.append({ kind: "tools", run: 1, events: [{ ...result, call_id: "call_a", call_seq: 2, blob }] });
    writer.append(modelDraft([answer("token=REDACTEDRED, it said")]));
    writer.append(endDraft());
    writer.close();

    const known = () =>
      createScrubber({
        values: [{ name: "MY_SECRET", value }, { name: "POSTGRES_PASSWORD", value: "postgres" }],
        shapes: false,
      });
    const made = exportSession(testPorts(), home, { id: ID, redact: true, known: known() });
    const lines = new TextDecoder().decode(Uint8Array.from([...made.chunks].flatMap((chunk) => [...chunk])));
    assert.deepEqual(made.redacted?.kinds, { known: 4 });
    assert.deepEqual(made.redacted?.turns, [
      { turn: 1, kinds: { known: 1 } },
      { turn: 2, kinds: { known: 1 } },
      { turn: 3, kinds: { known: 2 } },
    ]);
    const texts = lines.trimEnd().split("\n").map((line) => JSON.parse(line))
      .map(({ text, base64 }) => text ?? (base64 === undefined ? "" : atob(base64)));
    assert.deepEqual(scanForValues(texts.join("\n"), known().values), []);
    const other = openHome(testPorts(), `${root}/other`, { create: true });
    await imported(other, lines);
    assert.deepEqual((await fsckSession(testPorts(), other, ID)).findings, []);
    const call = readSession(testPorts(), other, ID).turns[1]?.events[0];
    assert.ok(call?.type === "tool_call");
    const after = JSON.parse(String(call.item.arguments));
    assert.deepEqual([Object.keys(JSON.parse(after.nested)), after.postgres], [["value"], "postgres"]);
  }));
