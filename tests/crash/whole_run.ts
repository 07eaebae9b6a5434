/**
 * A whole run as one of the operations of scenarios.ts: prompt, calls with large outputs, a checkpoint, an answer.
 *
 * @module
 */
import assert from "node:assert/strict";
import * as z from "zod";
import { type ErrorCode, RepriseError } from "../../src/domain/errors.ts";
import type { Turn } from "../../src/domain/turn.ts";
import { executeRun } from "../../src/run/loop.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { readSession } from "../../src/store/read/session.ts";
import { turnPath } from "../../src/store/layout.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { finishText } from "../../src/tools/output.ts";
import { scripted } from "../unit/run/scripted.ts";
import { answer, functionCall, message, reasoning } from "../support/responses_server/script.ts";
import { type Scenario } from "./scenarios.ts";
import { homeOf, ID, pathsOf, type Place } from "./sessions.ts";

const LARGE: Tool = {
  name: "large",
  description: "Says a lot",
  parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
  shape: z.looseObject({}) as unknown as Tool["shape"],
  group: "read",
  subject: () => ({ tool: "large", group: "read", target: { kind: "none" } }),
  run: (args) => Promise.resolve(finishText({ status: "ok", text: `${args.word} `.repeat(500) }, 800)),
};

const CALLS = [
  answer([reasoning(), functionCall("large", { word: "a" }), functionCall("large", { word: "b" })]),
  answer([reasoning(), functionCall("large", { word: "c" })]),
  answer([reasoning(), message("Done.")]),
];

async function run(place: Place, writer: SessionWriter, script: typeof CALLS): Promise<void> {
  const { setup, events } = scripted(place.ports, writer, { script, tools: [LARGE], autoCompact: 1 });
  try {
    const ended = await executeRun(setup, { kind: "prompt", content: [{ type: "input_text", text: "Go" }] });
    if (ended.exit_code === 0) return;
    const told = events.find((event) => event.type === "error");
    assert.ok(told?.type === "error", "a run that failed says why");
    assert.equal(told.exit_code, ended.exit_code);
    throw new RepriseError(told.code as ErrorCode, String(told.message));
  } finally {
    for (const event of events) {
      if (event.type === "turn.saved") place.acknowledge(event as unknown as Turn);
    }
    writer.close();
  }
}

/** Opens the session, or starts it where it has no turn. */
function openOrCreate(place: Place): Promise<SessionWriter> {
  const begun = denoFiles.facts(turnPath(pathsOf(place), 1)) !== null;
  return SessionWriter[begun ? "open" : "create"](place.ports, homeOf(place), { id: ID });
}

/** A run of a new session to its answer; the second try is another run. */
export const WHOLE_RUN: Scenario = {
  name: "whole run",
  prepare: () => Promise.resolve(),
  act: async (place) => run(place, await openOrCreate(place), CALLS),
  after: (place) => {
    const { turns } = readSession(place.ports, homeOf(place), ID);
    const kinds = turns.map(({ kind }) => kind).filter((kind) => kind !== "compaction").join(" ");
    assert.equal(kinds, "user model tools model tools model harness");
    return Promise.resolve();
  },
  again: async (place) => run(place, await openOrCreate(place), CALLS.slice(-1)),
};
