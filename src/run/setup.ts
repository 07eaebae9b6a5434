import type { EndpointHashes, Fingerprint, ProviderKind } from "../domain/fingerprint.ts";
import type { Item } from "../domain/event.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Ports } from "../domain/ports.ts";
import type { ReplayMode } from "../fold/guard.ts";
import type { ApiKey, RunApi } from "../apis/api.ts";
import type { SessionWriter } from "../store/write/writer.ts";
import type { Tool } from "../tools/tool.ts";
import type { Send } from "../transport/http.ts";
import type { Emit } from "./events.ts";
import type { PermissionGate } from "./permission_gate.ts";
import type { Stop } from "./stop.ts";
import type { ToolPlayback } from "./tool_playback.ts";

/** Everything one run needs, decided before it starts. */
export interface RunSetup extends EndpointHashes {
  readonly ports: Ports;
  readonly writer: SessionWriter;
  readonly api: RunApi;
  readonly send: Send;
  readonly emit: Emit;
  readonly stop: Stop;
  readonly provider: ProviderKind;
  /** The URL of a path of the API, such as `/responses`. */
  readonly urlOf: (path: string) => string;
  /** The key's hash, for turns; absent where there is no key, and where a fixture is played. */
  readonly keyHash?: string;
  /** The account as earlier runs know it; unknown without it. */
  readonly account?: string | null;
  /** `null` when a fixture is played: then nothing is sent anywhere. */
  readonly key: ApiKey | null;
  readonly model: string;
  readonly instructions: string;
  /** The tools that the model is offered: those that the posture may allow. */
  readonly tools: readonly Tool[];
  /** Every tool there is: a call of one that was not offered is denied, not unknown. */
  readonly knownTools: readonly Tool[];
  readonly gate: PermissionGate;
  /** Answers every call in the place of the tools and the gate, where a recorded session is played. */
  readonly playback?: ToolPlayback;
  /** The posture as the pins keep it, in canonical order. */
  readonly permissions: readonly string[];
  /** Flags of this call that its endpoint comes from: the command that continues the session repeats them. */
  readonly endpointFlags?: readonly string[];
  /** Refuse to begin when pins differ from the run before. */
  readonly strictDrift: boolean;
  /** End the run with `permission_denied` after the first denial. */
  readonly failOnDenied: boolean;
  /** Absolute paths that no tool writes to, wherever they lie. */
  readonly protectedPaths: readonly string[];
  /** The canonical workspace directory, for the tools. */
  readonly workspaceRoot: string;
  readonly replay: ReplayMode;
  /** How many reasoning items from before the last user message go at most; `null` for all. */
  readonly window: number | null;
  readonly effort?: string;
  readonly summary?: string;
  readonly outputSchema?: JsonObject;
  /** Requests at most, 1 or more. */
  readonly maxSteps: number;
  /** Input tokens of a request above which the history is compacted before the next one. */
  readonly autoCompact?: number;
  /** Input plus output tokens of this run at most. */
  readonly maxTokens?: number;
}

/** The fingerprint of a request, whose account is known or `null`. */
export function fingerprintOf(
  { provider, endpoint, portless, keyHash }: Pick<RunSetup, "provider" | "endpoint" | "portless" | "keyHash">,
  account: string | null,
): Fingerprint {
  return {
    provider,
    endpoint,
    account,
    ...(portless === undefined ? {} : { portless }),
    ...(keyHash === undefined ? {} : { key: keyHash }),
  };
}

/** How a run starts: with the user's words, or by going on with what is there. */
export type RunStart =
  | { readonly kind: "prompt"; readonly content: readonly Item[] }
  | { readonly kind: "continue" };
