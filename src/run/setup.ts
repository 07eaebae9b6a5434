import type { Ports } from "../domain/ports.ts";
import type { ToolResultStatus } from "../domain/event.ts";
import type { Turn } from "../domain/turn.ts";
import type { RunEvent } from "../schemas/run_events.ts";
import type { ApiKey } from "../apis/api.ts";
import type { SessionWriter } from "../store/write/writer.ts";
import type { Tool } from "../tools/tool.ts";
import type { Send } from "../transport/http.ts";
import type { RunLimits, Stop } from "./outcome.ts";
import type { AnswerCheck } from "./output_schema.ts";
import type { PermissionGate } from "./permission_gate.ts";
import type { PinnedSettings } from "./pins.ts";
import type { KeyFinder } from "./tool_keys.ts";

/** Receives the events of a run. Must not throw: a closed output stops the run through its stop signal. */
export type Emit = (event: RunEvent) => void;

/** The event that acknowledges a durable turn. */
export function savedEvent({ turn, kind, seq, sum }: Turn): RunEvent {
  return { type: "turn.saved", turn, kind, seq, sum };
}

/** Decision and result of a call when it was recorded. */
interface PlayedCall {
  /** `null` if none was recorded, as for reading tools that were allowed. */
  readonly decision: {
    readonly decision: "allowed" | "denied";
    readonly reason: string;
    readonly rule?: string | undefined;
  } | null;
  readonly status: ToolResultStatus;
  readonly output: string;
  /** The whole output, if `output` was cut or lost bytes. */
  readonly full: { readonly bytes: Uint8Array; readonly lossy: boolean } | null;
}

/** Recorded calls, which replace the tools. */
export interface ToolPlayback {
  /**
   * The next record of a call with this id.
   *
   * @throws {RepriseError} `fixture_miss` if there is no record, or the record is of another tool.
   */
  take(call: { readonly callId: string; readonly name: string }): PlayedCall;
}

/** Settings of a run as far as its first request depends on them. */
export interface RunSettings extends PinnedSettings {
  /** The account from earlier runs; `null` while no response of this endpoint and key named it. */
  readonly account: string | null;
  readonly limits: RunLimits;
}

/** The way to a server, with its key; `null` if a fixture is played, and for a server without keys. */
export interface ServerAccess extends Pick<PinnedSettings, "api"> {
  readonly ports: Ports;
  readonly send: Send;
  /** The URL of a path of the API, such as `/responses`. */
  readonly urlOf: (path: string) => string;
  readonly key: ApiKey | null;
}

/** Everything one run needs, decided before it starts. */
export interface RunSetup extends RunSettings, ServerAccess {
  readonly writer: SessionWriter;
  readonly emit: Emit;
  readonly stop: Stop;
  /** Computes the cost of a response in US dollars, `null` if it is unknown; `null` if a fixture is played. */
  readonly costOf: ((turn: Turn) => Promise<number | null>) | null;
  /** Checks answers against the output schema; absent without one. */
  readonly answerCheck?: AnswerCheck;
  /** Every tool: a call of a tool that was not offered is denied, not unknown. */
  readonly knownTools: readonly Tool[];
  readonly gate: PermissionGate;
  /** Replaces the tools and the gate if a recorded session is played; `null` if tools are run. */
  readonly playback: ToolPlayback | null;
  /** Finds the keys that this process holds in outputs of tools. Loaded with the first output. */
  readonly keys: () => Promise<KeyFinder>;
  /** The given flags that the command which continues the session repeats. */
  readonly resumeFlags: readonly string[];
  /** Permissions that the user's configuration gives, such as `allow shell:git status`. */
  readonly configRules: readonly string[];
  /** Refuses to begin when pins differ from the run before. */
  readonly strictDrift: boolean;
  /** Absolute paths that no tool writes to, inside or outside the workspace. */
  readonly protectedPaths: readonly string[];
  /** The canonical workspace directory, for the tools. */
  readonly workspaceRoot: string;
}
