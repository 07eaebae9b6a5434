/** The mode of replay. */
import type { Ports } from "../../domain/ports.ts";
import type { Fixture } from "../../fixture/read.ts";
import type { ReplayMode } from "../../fold/guard.ts";
import type { RequestFlags } from "../flags.ts";
import { switchVariable } from "../settings.ts";

/** Environment variables that switch the replay of reasoning off; the first that is set wins. */
const REPLAY_SWITCHES = ["REPRISE_REASONING_REPLAY", "LLM_REASONING_REPLAY"];

/** A mode of replay, and the most items from before the last user message; `null` for all. */
export interface ReplaySetting {
  readonly mode: ReplayMode;
  readonly window: number | null;
}

/**
 * The replay: `--replay`, then `REPRISE_REASONING_REPLAY` or its alias `LLM_REASONING_REPLAY`. Under a fixture only the
 * flag counts.
 *
 * @throws {RepriseError} `usage` when a variable is neither on nor off.
 */
export function replaySetting(
  ports: Ports,
  { replay }: RequestFlags,
  fixture: Fixture | null,
): ReplaySetting {
  const variable = fixture === null ? switchVariable(ports, REPLAY_SWITCHES) : null;
  return replayOf(replay ?? (variable === false ? "none" : "exact"));
}

function replayOf(text: string): ReplaySetting {
  const [mode, last] = text.split(":");
  return mode === "last"
    ? { mode: "exact", window: Number(last) }
    : { mode: mode as ReplayMode, window: null };
}

/** The value of `--replay` for a setting. */
export function replayText({ mode, window }: ReplaySetting): string {
  return window === null ? mode : `last:${window}`;
}
