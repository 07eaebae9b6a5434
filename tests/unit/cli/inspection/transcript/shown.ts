/** Sessions as `show` reads them, from histories in memory. */
import { sessionSpending } from "../../../../../src/cli/cost/spending.ts";
import { sessionTranscript } from "../../../../../src/cli/inspection/transcript/session.ts";
import type { Transcript } from "../../../../../src/cli/inspection/transcript/transcript.ts";
import type { JsonObject } from "../../../../../src/domain/json.ts";
import { parseSessionId } from "../../../../../src/domain/ids.ts";
import { wholeManifest } from "../../../../../src/domain/manifest.ts";
import { type ShownSession, shownTurn } from "../../../../../src/store/read/show.ts";
import type { History } from "../../../../support/history.ts";

/** The session `s` with the turns of a history. `output` replaces those of its results. */
export function shownSession(
  { turns }: History,
  { output }: { readonly output?: string } = {},
): ShownSession {
  const id = parseSessionId("s");
  return {
    id,
    path: "/s",
    manifest: wholeManifest(id, turns),
    turns: turns.map((turn) => {
      const events = turn.events.map((event) =>
        event.type === "tool_result" && output !== undefined ? { ...event, output } : event
      );
      return shownTurn(turn.turn, { ...turn, events } as unknown as JsonObject, false);
    }),
    problems: [],
  };
}

/** The transcript of a session without costs. */
export function transcriptOf(session: ShownSession): Transcript {
  return sessionTranscript(session, session.turns, sessionSpending("s", []));
}
