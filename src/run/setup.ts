import type { Ports } from "../domain/ports.ts";
import type { Turn } from "../domain/turn.ts";
import type { ApiKey } from "../apis/api.ts";
import type { SessionWriter } from "../store/write/writer.ts";
import type { Tool } from "../tools/tool.ts";
import type { Send } from "../transport/http.ts";
import type { Emit } from "./events.ts";
import type { RunLimits, Stop } from "./outcome.ts";
import type { AnswerCheck } from "./output_schema.ts";
import type { PermissionGate } from "./permission_gate.ts";
import type { PinnedSettings } from "./pins.ts";
import type { ToolPlayback } from "./played_batch.ts";
import type { KeyFinder } from "./tool_keys.ts";

/** Everything one run needs, decided before it starts. */
export interface RunSetup extends PinnedSettings {
  readonly ports: Ports;
  readonly writer: SessionWriter;
  readonly send: Send;
  readonly emit: Emit;
  readonly stop: Stop;
  readonly limits: RunLimits;
  /** Computes the cost of a response in US dollars, `null` if it is unknown; `null` if a fixture is played. */
  readonly costOf: ((turn: Turn) => Promise<number | null>) | null;
  /** The URL of a path of the API, such as `/responses`. */
  readonly urlOf: (path: string) => string;
  /** Checks answers against the output schema; absent without one. */
  readonly answerCheck?: AnswerCheck;
  /** The account from earlier runs; `null` while no response of this endpoint and key named it. */
  readonly account: string | null;
  /** `null` if a fixture is played, and for a server without keys. */
  readonly key: ApiKey | null;
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
