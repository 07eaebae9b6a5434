import assert from "node:assert/strict";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { executeRun } from "../../../src/run/loop.ts";
import { sessionPaths, turnPath } from "../../../src/store/layout.ts";
import { readBlob } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { finishText } from "../../../src/tools/output.ts";
import { spyFiles } from "../store/spy_files.ts";
import { ID, portsOn, withHome } from "../store/support.ts";
import { answer, functionCall, message, reasoning } from "../../support/responses_server/script.ts";
import { readTool, scripted } from "./scripted.ts";
import { test } from "../../support/test.ts";

/** As long as an output may be, of characters that JSON writes as six bytes each. */
const TEXT = "\u0001".repeat(32_000);
const CALLS = 400;

const LOUD = readTool(
  "loud",
  (args) => Promise.resolve(finishText({ status: "ok", text: args.loud === true ? TEXT : "quiet" })),
);

test.long("outputs that would make a turn too large go to blobs: the turn stays under 8 MiB, nothing is lost", () =>
  withHome(async (home) => {
    const ports = portsOn(spyFiles(() => {}, { syncs: false }));
    const calls = Array.from({ length: CALLS }, (_, index) => functionCall("loud", { loud: index > 0 }));
    const script = [answer([reasoning(), ...calls]), answer([reasoning(), message("Done.")])];
    const writer = await SessionWriter.create(ports, home, { id: ID });
    const { setup } = scripted(ports, writer, { script, tools: [LOUD] });
    const ended = await executeRun(setup, { kind: "prompt", content: [{ type: "input_text", text: "Go" }] });
    writer.close();
    assert.equal(ended.state, "completed");
    const turn = writer.turns.find(({ kind }) => kind === "tools");
    const results = turn?.events.filter((event) => event.type === "tool_result") ?? [];
    assert.equal(results.length, CALLS);
    const [quiet, ...loud] = results;
    assert.deepEqual([quiet?.output, quiet?.blob], ["quiet", undefined], "what is within its share stays");
    for (const { output, blob } of loud) {
      assert.match(output, /characters left out here; the complete output is kept in the session/);
      assert.equal(blob?.sha256, sha256Hex(TEXT));
    }
    const { size } = Deno.statSync(turnPath(sessionPaths(home.sessions, ID), turn?.turn ?? 0));
    assert.ok(size < 8 * 1024 * 1024 + CALLS * 400, `${size} bytes`);
    assert.equal(new TextDecoder().decode(readBlob(ports, home, ID, sha256Hex(TEXT))), TEXT);
  }));
