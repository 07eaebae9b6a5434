/**
 * Sound sessions of many turns, for what depends on their number.
 *
 * @module
 */
import type { Home } from "../../src/store/home.ts";
import { sessionPaths, turnPath } from "../../src/store/layout.ts";
import { encodeTurn } from "../../src/domain/turn.ts";
import { answer, ID, modelDraft, newWriter, testPorts, userDraft } from "../unit/store/support.ts";

/**
 * Creates a session with one run of `turns` turns that has not ended; `textOf` returns the answer in a turn. Returns the
 * paths of its turns, in order.
 */
export async function createLongSession(
  home: Home,
  turns: number,
  textOf = (turn: number) => `Step ${turn} is done.`,
): Promise<string[]> {
  const writer = await newWriter(testPorts(), home);
  writer.append(userDraft("fix the failing test"));
  writer.close();
  const paths = sessionPaths(home.sessions, ID);
  let { seq, sum: prev } = writer.end;
  // Not by the writer, which syncs each file.
  for (let turn = 2; turn <= turns; turn++) {
    const place = { session: ID, turn, firstSeq: seq + 1, prev, at: "2026-11-21T20:18:00.000Z" };
    const encoded = encodeTurn(modelDraft([answer(textOf(turn))]), place);
    Deno.writeFileSync(turnPath(paths, turn), encoded.bytes, { mode: 0o600, createNew: true });
    [seq, prev] = [encoded.turn.seq[1], encoded.sum];
  }
  return Array.from({ length: turns }, (_, index) => turnPath(paths, index + 1));
}
