/** The verb `show`: prints a session as a transcript, as turns or as events, or one of its files unchanged. */
import type { ExitCode } from "../../domain/errors.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectMember,
  stringMember,
} from "../../domain/json.ts";
import { counted, headOf } from "../../domain/text.ts";
import { readTurnBytes } from "../../store/read/turn_file.ts";
import { readForShow, type ShownTurn } from "../../store/read/show.ts";
import type { ShowFlags } from "./viewing.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { sessionArgument } from "../sessions.ts";

/** Performs `show`. Prints the readable part of a damaged session, reports the damage and returns exit code 12. */
export function showVerb(ports: ProgramPorts, selector: string, flags: ShowFlags): ExitCode {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, id } = sessionArgument(context, selector);
  if (flags.raw !== undefined) {
    output.bytes(readTurnBytes(ports, home, { id, turn: flags.raw }));
    return 0;
  }
  const { path, manifest, turns, problems } = readForShow(ports, home, id);
  const exitCode = problems.length === 0 ? 0 : 12;
  if (output.options.json) {
    const found = problems.length === 0 ? {} : { problems };
    if (flags.turns) output.json({ session: id, turns: turns.map(turnHeader), ...found });
    else if (flags.events) output.json({ session: id, events: turns.flatMap(eventsOf), ...found });
    else output.json({ session: id, path, manifest, turns: turns.map(({ value }) => value), ...found });
    return exitCode;
  }
  if (flags.turns) { for (const turn of turns) output.text(`${turnLine(turn)}\n`); }
  else if (flags.events) {
    for (const event of turns.flatMap(eventsOf)) {
      output.text(`${eventLine(event)}\n`);
    }
  } else output.text(transcript(turns));
  for (const problem of problems) output.note(`damaged: ${problem.path} ${problem.message}`);
  return exitCode;
}

function eventsOf(turn: ShownTurn): ShownTurn["events"] {
  return turn.events;
}

/** A turn with the number of its events instead of the events. */
function turnHeader({ value, events }: ShownTurn) {
  return { ...value, events: events.length };
}

/** UTF-16 units of a tool's output or arguments that a transcript shows. */
const SHOWN = 400;
/** UTF-16 units of an event that one line shows. */
const LINE_SHOWN = 160;

type ShownEvent = ShownTurn["events"][number];

/** A session as a transcript, oldest turn first. */
function transcript(turns: readonly ShownTurn[]): string {
  return turns.map((turn) => {
    const model = objectMember(turn.value, "model");
    const name = model === undefined
      ? undefined
      : stringMember(model, "answered") ?? stringMember(model, "asked");
    const head = [
      `── ${turn.number}`,
      `run ${String(turn.value.run)}`,
      turn.kind,
      ...(name === undefined ? [] : [name]),
    ];
    const body = turn.events.map(eventText).filter((text) => text !== "").map((text) => `${text}\n`).join("");
    return `${head.join(" · ")}\n${body}`;
  }).join("\n");
}

/** One turn in one line: number, run, kind, seqs, time, and the number of events of each kind. */
function turnLine({ number, kind, value, events }: ShownTurn): string {
  const kinds = new Map<string, number>();
  for (const { type } of events) kinds.set(type, (kinds.get(type) ?? 0) + 1);
  const eventCounts = [...kinds].map(([type, count]) => count === 1 ? type : `${count} ${type}`).join(", ");
  const seqs = Array.isArray(value.seq) ? value.seq.join("-") : "?";
  return `${String(number).padStart(6, "0")}  run ${String(value.run)}  ${kind.padEnd(7)}  seq ${seqs}  ` +
    `${String(value.at)}  ${eventCounts}`;
}

/** One event in one line: number, kind and the start of its text. */
function eventLine(event: ShownEvent): string {
  const text = headOf(eventText(event).replace(/\s+/g, " "), LINE_SHOWN);
  return `${String(event.seq).padStart(5)}  ${event.type.padEnd(17)}  ${text}`;
}

/** The text of an event. Files may come from any version, so its members may be anything. */
function eventText(event: ShownEvent): string {
  const item = objectMember(event, "item") ?? {};
  switch (event.type) {
    case "user_message":
      return partsText(event.content);
    case "assistant_message":
      return partsText(item.content);
    case "reasoning": {
      const blob = stringMember(item, "encrypted_content");
      const size = blob === undefined ? "not encrypted" : `${counted(blob.length, "byte")} encrypted`;
      const summary = partsText(item.summary);
      return `(reasoning ${stringMember(item, "id") ?? ""}, ${size})${
        summary === "" ? "" : ` ${shorten(summary)}`
      }`;
    }
    case "tool_call": {
      const text = stringMember(item, "arguments") ?? stringMember(item, "input") ?? "";
      return `→ ${stringMember(item, "name") ?? "?"} ${shorten(text)}`;
    }
    case "tool_result": {
      const blob = stringMember(objectMember(event, "blob") ?? {}, "sha256");
      const whole = blob === undefined ? "" : ` (whole output: blob ${blob.slice(0, 12)})`;
      const head = `← ${stringMember(event, "tool") ?? "?"}: ${stringMember(event, "status") ?? "?"}${whole}`;
      return `${head}\n${shorten(stringMember(event, "output") ?? "")}`;
    }
    case "provider_item":
      return `(${stringMember(item, "type") ?? "?"})`;
    case "provider_usage": {
      const usage = objectMember(event, "usage") ?? {};
      return `(${usage.input_tokens === 1 ? "1 token" : `${String(usage.input_tokens ?? "?")} tokens`} in, ${
        String(usage.output_tokens ?? "?")
      } out)`;
    }
    case "permission_decision":
      return `(${String(event.tool)} ${String(event.decision)}: ${String(event.reason)})`;
    case "replay_notice": {
      const items = Array.isArray(event.items) ? event.items.filter(isJsonObject) : [];
      return `(${String(event.reason)}: ${
        items.map(({ seq, action }) => `seq ${seq} ${action}`).join(", ")
      })`;
    }
    case "history_compaction":
      return `(checkpoint up to seq ${String(event.to_seq)})\n${
        shorten(stringMember(event, "summary") ?? "")
      }`;
    case "session_fork":
      return `(forked from ${String(event.parent)} after seq ${String(event.to_seq)})`;
    case "branch_summary":
      return `(what ${String(event.session)} went on to do)\n${
        shorten(stringMember(event, "summary") ?? "")
      }`;
    case "compaction_withdrawn":
      return `(checkpoint of seq ${String(event.checkpoint)} withdrawn)`;
    case "run_continued":
      return `(run ${String(event.run)} continues without a prompt)`;
    case "run_ended": {
      const why = stringMember(objectMember(event, "error") ?? {}, "message");
      return `(run ${String(event.run)} ended: ${String(event.state)}${why === undefined ? "" : `: ${why}`})`;
    }
    default:
      return shorten(JSON.stringify(event));
  }
}

function partsText(parts: JsonValue | undefined): string {
  if (typeof parts === "string") return parts;
  if (!Array.isArray(parts)) return "";
  return (parts as readonly JsonValue[]).filter(isJsonObject).map(partText).join("\n");
}

function partText(part: JsonObject): string {
  return stringMember(part, "text") ?? stringMember(part, "refusal") ?? `(${String(part.type)})`;
}

function shorten(text: string): string {
  return text.length <= SHOWN ? text : `${headOf(text, SHOWN)}… (${text.length} characters)`;
}
