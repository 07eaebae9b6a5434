/**
 * Creates a session of a given size, or runs one operation on it, and prints the peak memory.
 *
 * Usage: limits_program.ts make HOME TURNS MIB; limits_program.ts open|fold|run|fsck|export HOME
 *
 * @module
 */
import { foldNeedsOf } from "../../src/apis/apis.ts";
import type { EventDraft } from "../../src/domain/event.ts";
import { foldHistory } from "../../src/fold/fold.ts";
import { executeRun } from "../../src/run/loop.ts";
import { exportSession } from "../../src/store/transfer/export.ts";
import { fsckSession } from "../../src/store/check/fsck.ts";
import { openHome } from "../../src/store/home.ts";
import { readSession } from "../../src/store/read/session.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";
import { scripted } from "./scripted.ts";
import { spyFiles } from "./spy_files.ts";
import {
  answer,
  call,
  endDraft,
  modelDraft,
  pinsFor,
  portsOn,
  putPinned,
  reasoning,
  result,
  userDraft,
} from "./drafts.ts";
import { answer as answers, message, reasoning as thinks } from "../support/scripted_api/responses_script.ts";
import { ID } from "./sessions.ts";

const BLOB_BYTES = 4 * 1024 * 1024;
const [mode, homePath, turns = "", mebibytes = ""] = Deno.args as [string, string, string?, string?];
const ports = portsOn(spyFiles(() => {}, { syncs: false }));
const home = openHome(ports, homePath, { create: true });

/** Runs of five turns each, and as many large outputs as make up the size. */
async function make(turnCount: number, blobCount: number): Promise<void> {
  const writer = await SessionWriter.create(ports, home, { id: ID });
  putPinned(writer);
  const content = new Uint8Array(BLOB_BYTES).fill(0x61);
  for (let run = 1; writer.end.turn < turnCount; run++) {
    writer.append(userDraft(`prompt ${run}`, run));
    const seq = writer.append(modelDraft([reasoning(`rs_${run}`), call(`call_${run}`)], run)).seq[0] + 1;
    const event = { ...result(`call_${run}`, seq), output: "content ".repeat(50) };
    if (run > blobCount) writer.append({ kind: "tools", run, events: [event] });
    else {
      new DataView(content.buffer).setUint32(0, run);
      writer.append({
        kind: "tools",
        run,
        events: [{ ...event, blob: writer.putBlob(content) } as EventDraft],
      });
    }
    writer.append(modelDraft([reasoning(`rs_end_${run}`), answer("Done.")], run));
    writer.append(endDraft(run));
  }
  writer.close();
}

/** One more run, answered at once. Returns how many turns there are then. */
async function run(): Promise<number> {
  const writer = await SessionWriter.open(ports, home, { id: ID });
  const { setup } = scripted(ports, writer, { script: [answers([thinks(), message("Done.")])] });
  const ended = await executeRun(setup, { kind: "prompt", content: [{ type: "input_text", text: "Go" }] });
  writer.close();
  if (ended.state !== "completed") throw new Error(JSON.stringify(ended));
  return writer.end.turn;
}

/** Does it, and returns a number that shows that it was done. */
async function count(): Promise<number> {
  switch (mode) {
    case "make":
      await make(Number(turns), Math.ceil(Number(mebibytes) * 1024 * 1024 / BLOB_BYTES));
      return Number(turns);
    case "open": {
      const writer = await SessionWriter.open(ports, home, { id: ID });
      writer.close();
      return writer.end.turn;
    }
    case "fold": {
      const target = {
        fingerprint: pinsFor().fingerprint,
        needs: foldNeedsOf(pinsFor().fingerprint.provider),
        model: pinsFor().model,
        replay: "exact",
      } as const;
      return foldHistory(readSession(ports, home, ID).turns, target).entries.length;
    }
    case "run":
      return await run();
    case "fsck":
      return (await fsckSession(ports, home, ID)).findings.length;
    case "export": {
      let bytes = 0;
      for (const chunk of exportSession(ports, home, { id: ID, redact: false }).chunks) bytes += chunk.length;
      return bytes;
    }
    default:
      throw new Error(`Unknown mode ${mode}`);
  }
}

const counted = await count();
const peak = Number(/VmHWM:\s+(\d+) kB/.exec(Deno.readTextFileSync("/proc/self/status"))?.[1] ?? 0);
Deno.stdout.writeSync(
  new TextEncoder().encode(
    JSON.stringify({ counted, peakMiB: Math.round(peak / 1024), ms: Math.round(performance.now()) }),
  ),
);
