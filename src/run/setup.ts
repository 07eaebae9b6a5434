import type { Ports } from "../domain/ports.ts";
import type { ApiKey } from "../apis/api.ts";
import type { SessionWriter } from "../store/write/writer.ts";
import type { Tool } from "../tools/tool.ts";
import type { Send } from "../transport/http.ts";
import type { Emit } from "./events.ts";
import type { RunLimits, Stop } from "./outcome.ts";
import type { PinnedSettings } from "./pins.ts";
import type { PermissionGate, ToolPlayback } from "./tool_batch.ts";

/** Everything one run needs, decided before it starts. */
export interface RunSetup extends PinnedSettings {
  readonly ports: Ports;
  readonly writer: SessionWriter;
  readonly send: Send;
  readonly emit: Emit;
  readonly stop: Stop;
  readonly limits: RunLimits;
  /** The URL of a path of the API, such as `/responses`. */
  readonly urlOf: (path: string) => string;
  /** The account as earlier runs know it; `null` while no response of this endpoint and key named it. */
  readonly account: string | null;
  /** `null` where a fixture is played, and for a server that takes none. */
  readonly key: ApiKey | null;
  /** Every tool: a call of one that was not offered is denied, not unknown. */
  readonly knownTools: readonly Tool[];
  readonly gate: PermissionGate;
  /** Replaces the tools and the gate where a recorded session is played; `null` where tools are run. */
  readonly playback: ToolPlayback | null;
  /** Flags of this call that its endpoint comes from: the command that continues the session repeats them. */
  readonly endpointFlags: readonly string[];
  /** Refuses to begin when pins differ from the run before. */
  readonly strictDrift: boolean;
  /** Absolute paths that no tool writes to, wherever they lie. */
  readonly protectedPaths: readonly string[];
  /** The canonical workspace directory, for the tools. */
  readonly workspaceRoot: string;
}
