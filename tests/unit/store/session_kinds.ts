/**
 * One session of each kind on disk, written by the store itself, for tests that damage them.
 *
 * @module
 */
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { parseSessionId, type SessionId } from "../../../src/domain/ids.ts";
import type { Ports } from "../../../src/domain/ports.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import type { Home } from "../../../src/store/home.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import {
  answer,
  appendRun,
  call,
  endDraft,
  modelDraft,
  newWriter,
  pinsFor,
  reasoning,
  result,
  userDraft,
} from "./support.ts";

/** Makes one session of each kind that the store knows. Returns their ids. */
export async function makeKinds(ports: Ports, home: Home): Promise<SessionId[]> {
  const made: SessionId[] = [];
  const make = async (name: string, fill: (writer: SessionWriter) => void) => {
    const id = parseSessionId(name);
    const writer = await newWriter(ports, home, id);
    fill(writer);
    writer.close();
    made.push(id);
  };
  await make("plain", (writer) => appendRun(writer));
  await make("blobs", (writer) => {
    writer.append(userDraft("read the large one"));
    const model = modelDraft([reasoning("rs_1"), call("call_a")]);
    const fields = { tools: writer.putBlob(new TextEncoder().encode('["other tools"]')).sha256 };
    if (model.kind !== "model") throw new TypeError("The turn must be a model turn");
    writer.append({ ...model, request: { ...model.request, fields: { tools: { blob: fields.tools } } } });
    const blob = writer.putBlob(new TextEncoder().encode("a large output ".repeat(50)));
    writer.append({ kind: "tools", run: 1, events: [{ ...result("call_a", 3), blob } as never] });
    writer.append(endDraft());
  });
  await make("killed", (writer) => {
    appendRun(writer);
    writer.append(userDraft("go on", 2));
    writer.append(modelDraft([reasoning("rs_2"), call("call_x"), call("call_y")], 2));
    writer.append({ kind: "tools", run: 2, events: [result("call_x", writer.end.seq - 2)] });
  });
  await make("compacted", (writer) => {
    appendRun(writer);
    appendRun(writer, 2);
    checkpoint(writer, { turn: 5, opening: null });
    appendRun(writer, 3);
  });
  await make("cut-inside", (writer) => {
    appendRun(writer);
    writer.append(userDraft("a long task", 2));
    writer.append(modelDraft([answer("First part.")], 2));
    checkpoint(writer, { turn: 7, opening: 6 });
    writer.append(modelDraft([answer("Second part.")], 2));
  });
  const fork = parseSessionId("forked");
  await forkSession(ports, home, planFork(ports, home, { parent: parseSessionId("killed"), toSeq: 10 }), {
    id: fork,
    summary: "The other branch continued.",
    usage: NO_USAGE,
  });
  const writer = await SessionWriter.open(ports, home, { id: fork });
  appendRun(writer, 2);
  writer.close();
  return [...made, fork];
}

function checkpoint(
  writer: SessionWriter,
  { turn, opening }: { readonly turn: number; readonly opening: number | null },
): void {
  const last = writer.turns.find((each) => each.turn === turn);
  writer.append({
    kind: "compaction",
    run: writer.end.run,
    pins: pinsFor(),
    events: [{
      type: "history_compaction",
      to_seq: last?.seq[1] ?? 0,
      to_turn: turn,
      previous_checkpoint: null,
      opening_turn: opening,
      strategy: "deterministic",
      summary: "Everything up to here.",
      limitations: [],
    }],
  });
}
