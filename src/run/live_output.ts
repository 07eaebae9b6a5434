import { headOf } from "../domain/text.ts";
import type { Emit, RunEvent } from "./events.ts";

/** Most output of a call that is shown while it runs, in UTF-16 units. */
const MAX_LIVE_CHARS = 16_384;

/** The output of one call on its way to the screen. */
export interface LiveOutput {
  /** Reports output of a command that runs. */
  readonly onOutput: (text: string) => void;
  /** Reports the result of a call that had no output while it ran. */
  readonly end: (result: string) => void;
}

/** Reports the output of a call, up to {@linkcode MAX_LIVE_CHARS}; the session keeps all of it. */
export function liveOutput(
  emit: Emit,
  call: Pick<Extract<RunEvent, { type: "tool.output" }>, "seq" | "call_id" | "name">,
): LiveOutput {
  let left = MAX_LIVE_CHARS;
  const onOutput = (text: string) => {
    if (left === 0 || text === "") return;
    const shown = headOf(text, left);
    left = shown.length < text.length ? 0 : left - shown.length;
    emit({ type: "tool.output", ...call, text: shown, ...(left === 0 ? { truncated: true } : {}) });
  };
  return {
    onOutput,
    end: (result) => {
      if (left === MAX_LIVE_CHARS) onOutput(result);
    },
  };
}
