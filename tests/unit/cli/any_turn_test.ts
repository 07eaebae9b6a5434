/** Turns of later versions may hold anything: each view of a session shows them. */
import assert from "node:assert/strict";
import type { Context } from "../../../src/cli/context.ts";
import { sessionPage } from "../../../src/cli/html/session_page.ts";
import { transcriptLines } from "../../../src/cli/inspection/transcript/lines.ts";
import { transcriptMarkdown } from "../../../src/cli/inspection/transcript/markdown.ts";
import { eventTable, turnTable } from "../../../src/cli/inspection/transcript/tables.ts";
import { PLAIN_SCREEN } from "../../../src/cli/screen.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { isJsonObject, objectMember } from "../../../src/domain/json.ts";
import { type ShownSession, type ShownTurn, shownTurn } from "../../../src/store/read/show.ts";
import { HOSTILE_OBJECTS, spoilt } from "../../support/hostile_json.ts";
import { readSessionTurns } from "./html/session_turns.ts";
import { transcriptOf } from "./inspection/transcript/shown.ts";
import { test } from "../../support/test.ts";

/** A value that `String` cannot show, a name that each JavaScript object knows, and no value. */
const HOSTILE = [HOSTILE_OBJECTS[0], "constructor", undefined];

async function assertShown(turns: readonly ShownTurn[]): Promise<void> {
  const session: ShownSession = {
    id: parseSessionId("s"),
    path: "/s",
    manifest: null,
    turns,
    problems: [],
  };
  const transcript = transcriptOf(session);
  const options = { full: true, wholeOutput: () => null };
  await transcriptLines(transcript, { ...options, screen: PLAIN_SCREEN, fullFlag: "--full" });
  transcriptMarkdown(transcript, { ...options, facts: [] });
  turnTable(turns, PLAIN_SCREEN);
  eventTable(turns, turns, PLAIN_SCREEN);
  // Only a session of a home needs its context.
  sessionPage({} as Context, { session, home: null, wholeOutput: () => null }, transcript);
}

test.long("a turn with any value at any place, or with none there, is shown in each view", async () => {
  const seen = new Set<string>();
  let count = 0;
  for (const turns of readSessionTurns()) {
    for (const [index, turn] of turns.entries()) {
      // One turn of each kind, with and without dropped reasoning.
      const guard = objectMember(objectMember(turn.value, "request") ?? {}, "guard");
      const drops = JSON.stringify(guard?.dropped ?? []) !== "[]";
      const kinds = `${[...new Set(turn.events.map(({ type }) => type))].join()} ${drops}`;
      if (seen.has(kinds)) continue;
      seen.add(kinds);
      for (const hostile of HOSTILE) {
        for (const value of spoilt(turn.value, hostile)) {
          if (!isJsonObject(value) || !Array.isArray(value.events)) continue;
          count++;
          const beside = turns.slice(0, index + 2).with(index, shownTurn(turn.number, value, true));
          await assertShown(beside.slice(-3));
        }
      }
    }
  }
  assert.ok(count > 1000, String(count));
});
