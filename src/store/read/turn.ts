/** Reads turns for a request: envelope, then shape. */
import type { EventType } from "../../domain/event.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Mismatch } from "../../domain/shape.ts";
import type { Turn } from "../../domain/turn.ts";
import type { Looked } from "./safe_open.ts";
import { type Envelope, openEnvelope, readEnvelope } from "./turn_file.ts";
import { EVENT_SHAPES, TURN_SHAPES } from "./turn_shapes.ts";

/** A turn and the length of its file in bytes. */
export interface ReadTurn {
  readonly status: "ok";
  readonly turn: Turn;
  readonly size: number;
}

/** A turn, or the reason why it is not used. */
export type TurnVerdict =
  | ReadTurn
  /** `code` is a finding of `fsck`. */
  | { readonly status: "damaged"; readonly code: string; readonly message: string }
  /** A format, turn kind or event kind that this version does not know and that may matter to the fold. */
  | { readonly status: "newer"; readonly code: "newer_format" | "newer_kind"; readonly message: string };

export type TurnRead = TurnVerdict | { readonly status: "missing" };

/** Inspects, reads and validates one turn file; `looked` is an earlier inspection. Throws the runtime's errors. */
export function readTurn(ports: Ports, path: string, looked?: Looked): TurnRead {
  const file = readEnvelope(ports, path, looked);
  return file.status === "ok" ? judgeEnvelope(file) : file;
}

/** Validates the bytes of a turn file: seal, nesting, JSON, format, shape. */
export function parseTurn(bytes: Uint8Array): TurnVerdict {
  const file = openEnvelope(bytes);
  return file.status === "ok" ? judgeEnvelope(file) : file;
}

/** Validates a parsed turn file; `turn` in the result is `value` itself. */
function judgeEnvelope({ value, newer, size }: Envelope): TurnVerdict {
  if (newer) return newerThanUs("newer_format", `has the format ${JSON.stringify(value.format)}`);
  const { kind } = value;
  if (typeof kind !== "string" || kind === "") {
    return badShape({ path: ["kind"], expected: "the kind of a turn" });
  }
  if (!isTurnKind(kind)) {
    return newerThanUs("newer_kind", `has the turn kind ${JSON.stringify(kind)}, unknown to this version`);
  }
  const mismatch = TURN_SHAPES[kind](value);
  if (mismatch !== null) return badShape(mismatch);
  const turn = value as unknown as Turn;
  for (const [index, event] of turn.events.entries()) {
    const { type, fold } = event as { readonly type: string; readonly fold?: unknown };
    if (isKnownEventType(type)) {
      const misfit = EVENT_SHAPES[type](event);
      if (misfit !== null) return badShape(misfit, ["events", index]);
    } else if (fold !== false) {
      const message = `holds an event of kind ${JSON.stringify(type)}, unknown to this version`;
      return newerThanUs("newer_kind", message);
    }
  }
  return { status: "ok", turn, size };
}

function isKnownEventType(type: string): type is EventType {
  return Object.hasOwn(EVENT_SHAPES, type);
}

function isTurnKind(kind: string): kind is Turn["kind"] {
  return Object.hasOwn(TURN_SHAPES, kind);
}

function newerThanUs(code: "newer_format" | "newer_kind", message: string): TurnVerdict {
  return { status: "newer", code, message };
}

function badShape(
  { path, expected }: Mismatch,
  under: readonly (string | number)[] = [],
): TurnVerdict {
  const place = [...under, ...path].join(".");
  return {
    status: "damaged",
    code: "bad_shape",
    message: `does not have the shape of a turn: ${place} is not ${expected}`,
  };
}
