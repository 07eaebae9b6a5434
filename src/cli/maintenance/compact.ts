/** The verb `compact`: writes a checkpoint, which stands for the older events in every later request. */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { deterministicText } from "../../compaction/deterministic.ts";
import { type CompactionPlan, planOf } from "../../compaction/plan.ts";
import type { ExitCode } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import { checkpointDraft } from "../../run/checkpoint.ts";
import { closeKilledRun } from "../../run/recover.ts";
import { Stop } from "../../run/stop.ts";
import { readSession, readSessionTail } from "../../store/read/session.ts";
import { SessionWriter } from "../../store/write/writer.ts";
import type { CompactFlags } from "../run/command.ts";
import {
  compactRequest,
  type CompactSettings,
  compactSettings,
  type CompactSource,
  EMPTY,
  makeCheckpoint,
} from "./compaction.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { sessionArgument } from "../session_argument.ts";
import { stopOnSignals } from "../run/signals.ts";

/** How long the whole of it may take, in milliseconds: a summary is one request. */
const TIMEOUT_MS = 1_800_000;

/** Performs `compact`. */
export async function compactVerb(
  ports: ProgramPorts,
  selector: string,
  flags: CompactFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, id } = sessionArgument(context, selector);
  const settings = compactSettings(context, flags, readSessionTail(context.ports, home, id).manifest);
  if (flags.dryRun === true) {
    const report = preview(settings, readSession(context.ports, home, id));
    if (output.options.json) output.json({ type: "dry_run", session: id, ...report.json });
    else output.text(`${id}: would stand ${planText(report.plan)}. Nothing was sent or written.\n`);
    return 0;
  }
  const stop = new Stop();
  const release = stopOnSignals(ports, stop, TIMEOUT_MS);
  try {
    const { signal } = stop;
    const writer = await SessionWriter.open(settings.ports, home, { id, waitMs: flags.wait * 1000, signal });
    try {
      await writeCheckpoint(writer, settings, signal);
    } finally {
      writer.close();
    }
  } catch (error) {
    throw stop.error ?? error;
  } finally {
    release();
  }
  return 0;
}

async function writeCheckpoint(
  writer: SessionWriter,
  settings: CompactSettings,
  signal: AbortSignal,
): Promise<void> {
  const { output } = settings.context;
  closeKilledRun(writer, () => {});
  const turns = writer.allTurns();
  const { manifest } = writer;
  if (manifest === null) throw new TypeError("An opened session has a manifest");
  const made = await makeCheckpoint(settings, { manifest, turns }, signal);
  const turn = writer.append(checkpointDraft(turns, made, { run: manifest.run, pins: manifest.pins }));
  const { plan, text } = made;
  if (output.options.json) {
    output.json({
      type: "compacted",
      session: writer.id,
      strategy: text.strategy,
      checkpoint: { turn: turn.turn, seq: turn.seq[0] },
      ...plan,
      summary: text.summary,
      limitations: text.limitations,
      ...(text.verification === undefined ? {} : { verification: text.verification }),
    });
    return;
  }
  output.text(`${writer.id}: turn ${turn.turn} now stands ${planText(plan)}\n`);
  for (const limitation of text.limitations) output.note(`notice: ${limitation}`);
}

/** The plan; sizes exclude a summary that only a request would make. */
function preview(
  settings: CompactSettings,
  source: CompactSource,
): { readonly plan: CompactionPlan; readonly json: JsonObject } {
  const { strategy } = settings.flags;
  const { turns } = source;
  const { scope, target, contract, built } = compactRequest(settings, source);
  const text = strategy === "deterministic" ? deterministicText(turns, scope) : EMPTY;
  const plan = planOf(turns, scope, { text, target });
  const request = built === null ? {} : {
    after_excludes_summary: true,
    request: {
      url: settings.endpoint.urlOf(built.path),
      model: target.model,
      body_bytes: encodeUtf8(built.body).length,
    },
  };
  const packaged = contract === null ? {} : {
    contract: {
      name: contract.contract,
      instructions: contract.instructions,
      output_schema: contract.outputSchema,
      input: contract.entries.flatMap((entry) => entry.kind === "user_message" ? entry.content : []),
    },
  };
  const summary = strategy === "deterministic"
    ? { summary: text.summary, limitations: text.limitations }
    : {};
  return {
    plan,
    json: { strategy, ...plan as unknown as JsonObject, ...summary, ...request, ...packaged },
  };
}

function planText({ range, tail, before, after }: CompactionPlan): string {
  return `for turns 1 to ${range.to_turn} (seq 1 to ${range.to_seq}); ${counted(tail.events, "event")} ${
    tail.events === 1 ? "stays" : "stay"
  }; ` +
    `${counted(before.bytes, "byte")} become ${after.bytes}, about ${
      counted(before.tokens, "token")
    } ${after.tokens}`;
}
