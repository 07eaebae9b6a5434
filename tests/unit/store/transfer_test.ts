import assert from "node:assert/strict";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { seal } from "../../../src/domain/seal.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { type Home, openHome } from "../../../src/store/home.ts";
import { exportSession } from "../../../src/store/transfer/export.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { spyFiles } from "./spy_files.ts";
import {
  endDraft,
  ID,
  modelDraft,
  newSession,
  newWriter,
  portsOn,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { exported, imported, sealedLines } from "./transfer_support.ts";
import { test } from "../../support/test.ts";

/** A second home beside the first. */
function otherHome(root: string): Home {
  return openHome(testPorts(), `${root}/other`, { create: true });
}

function files(home: Home, id: string, without: readonly string[] = []): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (inside: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(`${home.sessions}/${id}${inside}`)) {
      if (without.includes(name)) continue;
      if (isDirectory) visit(`${inside}/${name}`);
      else found[`${inside}/${name}`] = Deno.readTextFileSync(`${home.sessions}/${id}${inside}/${name}`);
    }
  };
  visit("");
  return found;
}

/** Everything in the directory of sessions, hidden names too. */
function names(home: Home): string[] {
  return [...Deno.readDirSync(home.sessions)].map(({ name }) => name).sort();
}

test.long("an import restores turn files, blobs and manifest byte for byte, whatever pieces the file comes in", () =>
  withHome(async (home, root) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("grüße 🎉 \u0000\u0007 \u2028 end"));
    const bytes = Uint8Array.from({ length: 700_000 }, (_, index) => index % 251);
    const blob = writer.putBlob(bytes, { lossy: true });
    writer.append(modelDraft([{
      type: "tool_call",
      item: { type: "function_call", call_id: "call_a", name: "x", arguments: "{}" },
    }]));
    writer.append({
      kind: "tools",
      run: 1,
      events: [{
        type: "tool_result",
        call_id: "call_a",
        call_seq: 2,
        tool: "x",
        status: "ok",
        output: "x".repeat(600_000),
        blob,
      }],
    });
    writer.append(endDraft());
    writer.close();
    const text = exported(home).map((line) => `${line}\n`).join("");
    const before = files(home, ID, ["lock"]);
    for (const size of [4093, 65_536, 1 << 20]) {
      const other = otherHome(`${root}/${size}`);
      const { turns, blobs } = await imported(other, text, { size });
      assert.deepEqual([turns, blobs], [4, 3]);
      assert.deepEqual(files(other, ID, ["lock"]), before);
      assert.deepEqual((await fsckSession(testPorts(), other, ID)).findings, []);
    }
  }));

Deno.test("a fork is exported and imported with its lineage, without its parent", () =>
  withHome(async (home, root) => {
    await newSession(testPorts(), home);
    const child = parseSessionId("child");
    const plan = planFork(testPorts(), home, { parent: ID, toSeq: 7 });
    await forkSession(testPorts(), home, plan, { id: child, summary: "It continued.", usage: NO_USAGE });
    const other = otherHome(root);
    await imported(other, exported(home, { id: child }).map((line) => `${line}\n`).join(""));
    assert.deepEqual(
      readSession(testPorts(), other, child).turns,
      readSession(testPorts(), home, child).turns,
    );
    assert.deepEqual(names(other), ["child"]);
  }));

Deno.test("a damaged blob that only an old request names is a warning, and an export leaves it out", () =>
  withHome(async (home, root) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    const { sha256 } = writer.putBlob(new TextEncoder().encode("other tools"));
    const model = modelDraft([]);
    if (model.kind !== "model") throw new TypeError("The turn must be a model turn");
    writer.append({ ...model, request: { ...model.request, fields: { tools: { blob: sha256 } } } });
    writer.append(endDraft());
    writer.close();
    Deno.writeTextFileSync(`${writer.path}/blobs/${sha256}`, "Other tools");
    const { findings } = await fsckSession(testPorts(), home, ID);
    assert.deepEqual(findings.map(({ severity, code }) => [severity, code]), [["warning", "damaged_blob"]]);
    const other = otherHome(root);
    const { blobs } = await imported(other, `${exported(home).join("\n")}\n`);
    assert.equal(blobs, 2);
  }));

Deno.test("an import never overwrites a session, and says so before it reads on", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const lines = exported(home);
    const before = files(home, ID);
    await assert.rejects(imported(home, `${lines[0]}\nnonsense`), { code: "session_exists", exitCode: 2 });
    await assert.rejects(imported(home, `${lines.join("\n")}\n`), { code: "session_exists" });
    assert.deepEqual(files(home, ID), before);
    assert.deepEqual(names(home), [ID]);
  }));

Deno.test("a dry run of an import checks everything and writes nothing", () =>
  withHome(async (home, root) => {
    await newSession(testPorts(), home);
    const lines = exported(home);
    const other = openHome(testPorts(), `${root}/other`);
    const { turns } = await imported(other, `${lines.join("\n")}\n`, { dryRun: true });
    assert.equal(turns, 5);
    assert.equal(testPorts().files.facts(other.path), null);
    await assert.rejects(imported(other, `${lines.slice(0, -1).join("\n")}\n`, { dryRun: true }), {
      code: "bad_export",
    });
    assert.equal(testPorts().files.facts(other.path), null);
  }));

/** Edits of an export's lines: what each does, and what must be said of it. */
const HOSTILE: readonly [string, (lines: string[]) => string, RegExp][] = [
  ["empty", () => "", /line 1 is missing/],
  ["no newline", (lines) => lines.join("\n"), /cut short/],
  ["garbage", () => "\u0000\u0001\n", /is not JSON/],
  ["an array", () => "[]\n", /not a JSON object/],
  ["deep nesting", () => `${"[".repeat(100_000)}\n`, /nests too deep/],
  [
    "another format",
    (lines) => sealedLines(['{"format":"tar"}', ...lines.slice(1, -1)]),
    /does not name the format/,
  ],
  ["a line without end", () => "x".repeat(3 * 1024 * 1024), /has more than/],
  ["a path as session id", (lines) => sealedLines(edit(lines, 0, { session: "../../etc" })), /no session id/],
  [
    "another session's id",
    (lines) => sealedLines(edit(lines, 0, { session: "other" })),
    /was written by session/,
  ],
  [
    "more turns than there are",
    (lines) => sealedLines(edit(lines, 0, { turns: 6 })),
    /000006\.json", which comes next/,
  ],
  ["fewer turns", (lines) => sealedLines(edit(lines, 0, { turns: 4 })), /neither a blob nor the end/],
  ["no turns", (lines) => sealedLines(edit(lines, 0, { turns: 0 })), /has no "turns"/],
  ["a huge count", (lines) => sealedLines(edit(lines, 0, { turns: 1e300 })), /has no "turns"/],
  ["a fraction", (lines) => sealedLines(edit(lines, 0, { turns: 1.5 })), /has no "turns"/],
  [
    "traversal in a turn's path",
    (lines) => sealedLines(edit(lines, 1, { path: "turns/../../../x" })),
    /comes next/,
  ],
  ["an absolute path", (lines) => sealedLines(edit(lines, 1, { path: "/etc/passwd" })), /comes next/],
  ["a huge size", (lines) => sealedLines(edit(lines, 1, { bytes: 2 ** 40 })), /has no "bytes"/],
  ["a negative size", (lines) => sealedLines(edit(lines, 1, { bytes: -1 })), /has no "bytes"/],
  ["a size too small", (lines) => sealedLines(edit(lines, 1, { bytes: 10 })), /more than its file has left/],
  ["a size too large", (lines) => sealedLines(edit(lines, 1, { bytes: 60_000_000 })), /is not content/],
  [
    "another hash",
    (lines) => sealedLines(edit(lines, 1, { sha256: "0".repeat(64) })),
    /does not fit its sha256/,
  ],
  [
    "turns in another order",
    (lines) =>
      sealedLines([lines[0], ...lines.slice(3, 5), ...lines.slice(1, 3), ...lines.slice(5, -1)] as string[]),
    /comes next/,
  ],
  [
    "a turn twice",
    (lines) => sealedLines([...lines.slice(0, 3), ...lines.slice(1, 3), ...lines.slice(3, -1)]),
    /comes next/,
  ],
  [
    "altered text with a hash that fits it",
    (lines) => sealedLines(changedTurn(lines, (text) => text.replace("fix the", "mix the"))),
    /ends turn 1, which does not fit its checksum/,
  ],
  [
    "a sound turn instead of another",
    (lines) => sealedLines(changedTurn(lines, () => JSON.parse(lines[4] as string).text)),
    /ends turn 1, which says that it is turn 2/,
  ],
  [
    "a turn of another history, with its own seal",
    (lines) =>
      sealedLines(
        changedTurn(lines, (text) => resealed(text, /"prev":"[^"]+"/, `"prev":"${"0".repeat(64)}"`), 3),
      ),
    /ends turn 3, which does not follow the turn before it/,
  ],
  ["no blobs", (lines) => sealedLines(lines.slice(0, 11)), /comes before the blob/],
  ["a blob twice", (lines) => sealedLines([...lines.slice(0, -1), ...lines.slice(-3, -1)]), /out of order/],
  [
    "traversal in a blob's path",
    (lines) => sealedLines(edit(lines, 11, { path: "blobs/../../x" })),
    /neither a blob nor the end/,
  ],
  [
    "a manifest",
    (lines) => sealedLines(edit(lines, 11, { path: "manifest.json" })),
    /neither a blob nor the end/,
  ],
  [
    "a blob that no turn names",
    (lines) => sealedLines([...lines.slice(0, 11), ...stranger(), ...lines.slice(11, -1)]),
    /no turn names/,
  ],
  [
    "content where none belongs",
    (lines) => sealedLines([...lines.slice(0, 3), '{"text":"x"}', ...lines.slice(3, -1)]),
    /comes next/,
  ],
  [
    "empty content for ever",
    (lines) => sealedLines([...lines.slice(0, 2), '{"text":""}', ...lines.slice(2, -1)]),
    /has no content/,
  ],
  ["something after the end", (lines) => `${lines.join("\n")}\n{}\n`, /comes after the end/],
  [
    "another end",
    (lines) => `${[...lines.slice(0, -1), '{"end":true,"sha256":"00"}'].join("\n")}\n`,
    /were altered/,
  ],
];

function edit(lines: readonly string[], index: number, members: object): string[] {
  return lines.slice(0, -1).map((line, at) =>
    at === index ? JSON.stringify({ ...JSON.parse(line), ...members }) : line
  );
}

/** A turn with another text, under a hash that fits. */
function changedTurn(lines: readonly string[], change: (text: string) => string, turn = 1): string[] {
  const at = 2 * turn - 1;
  const text = change(JSON.parse(lines[at + 1] as string).text);
  const { path } = JSON.parse(lines[at] as string);
  const file = { path, bytes: new TextEncoder().encode(text).length, sha256: sha256Hex(text) };
  return [...lines.slice(0, at), JSON.stringify(file), JSON.stringify({ text }), ...lines.slice(at + 2, -1)];
}

/** A turn's text after a change, with a seal that fits. */
function resealed(text: string, from: RegExp, to: string): string {
  const open = text.slice(0, text.lastIndexOf('"sum":"')).replace(from, to);
  return new TextDecoder().decode(seal(open).bytes);
}

function stranger(): string[] {
  const sha256 = sha256Hex("");
  return [JSON.stringify({ path: `blobs/${sha256}`, bytes: 0, sha256 })];
}

test.long("a hostile or broken file gets a clear error and leaves nothing", () =>
  withHome(async (home, root) => {
    await newSession(testPorts(), home);
    const lines = exported(home);
    assert.equal(lines.length, 16, "header, five turns and two blobs of two lines each, end");
    const other = otherHome(root);
    for (const [what, change, says] of HOSTILE) {
      for (const dryRun of [true, false]) {
        await assert.rejects(
          imported(other, change([...lines]), { dryRun }),
          (error: Error & { code?: string }) => {
            assert.equal(error.code, "bad_export", `${what}: ${error.stack}`);
            assert.match(error.message, says, what);
            return true;
          },
        );
        assert.deepEqual(names(other), [], what);
      }
    }
    assert.deepEqual(names({ ...other, sessions: root }).sort(), ["home", "other"], "and nothing beside it");
  }));

test.long("a file that is cut anywhere, or has any one bit flipped, is refused and leaves nothing", () =>
  withHome(async (home, root) => {
    await newSession(testPorts(), home);
    const bytes = new TextEncoder().encode(`${exported(home).join("\n")}\n`);
    const other = otherHome(root);
    for (let at = 0; at < bytes.length; at += 7) {
      const cut = new TextDecoder().decode(bytes.subarray(0, at));
      await assert.rejects(imported(other, cut, { dryRun: true }), { code: "bad_export" }, `cut at ${at}`);
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] as number) ^ 1 << at % 7;
      await assert.rejects(
        imported(other, new TextDecoder().decode(flipped), { dryRun: true }),
        `bit at ${at}`,
      );
    }
    assert.deepEqual(names(other), []);
  }));

Deno.test("a newer export, or a turn of a later format in it, is refused as too new", () =>
  withHome(async (home, root) => {
    await newSession(testPorts(), home);
    const lines = exported(home);
    const newer = sealedLines(edit(lines, 0, { format: "reprise.export/2" }));
    await assert.rejects(imported(otherHome(root), newer), { code: "format_too_new" });
  }));

test.long("stopped before any of its file operations, an import is not there or whole", () =>
  withHome(async (home, root) => {
    await newSession(testPorts(), home);
    const text = `${exported(home).join("\n")}\n`;
    const other = otherHome(root);
    for (let at = 1;; at++) {
      let count = 0;
      const spied = spyFiles(() => {
        if (++count >= at) throw Object.assign(new Error("stopped"), { code: "EIO" });
      });
      let whole = false;
      try {
        await imported(other, text, { ports: portsOn(spied) });
        whole = true;
      } catch (error) {
        assert.match(String((error as { code?: string }).code), /^storage_/, String(error));
      }
      if (names(other).includes(ID)) {
        assert.deepEqual((await fsckSession(testPorts(), other, ID)).findings, []);
      } else assert.ok(!whole);
      for (const name of names(other)) Deno.removeSync(`${other.sessions}/${name}`, { recursive: true });
      if (whole) return assert.ok(at > 50, String(at));
    }
  }));

Deno.test("an export of a damaged session writes nothing; a blob that changes meanwhile leaves it without an end", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const [blob] = [...Deno.readDirSync(`${home.sessions}/${ID}/blobs`)];
    const path = `${home.sessions}/${ID}/blobs/${blob?.name}`;
    const made = exportSession(testPorts(), home, { id: ID, redact: false });
    Deno.writeTextFileSync(path, "X".repeat(Deno.statSync(path).size));
    const written: string[] = [];
    assert.throws(() => {
      for (const chunk of made.chunks) written.push(new TextDecoder().decode(chunk));
    }, { code: "session_damaged" });
    assert.doesNotMatch(written.join(""), /"end":true/);
    Deno.removeSync(path);
    assert.throws(() => exportSession(testPorts(), home, { id: ID, redact: false }), {
      code: "session_damaged",
      message: /is missing/,
    });
  }));
