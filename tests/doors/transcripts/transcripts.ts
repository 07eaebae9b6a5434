/** Transcripts of other agents on disk, imported by the program, and the session that they become. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { Sandbox } from "../../support/reprise.ts";

/** A transcript and what becomes of it. */
export interface Row {
  readonly lines: readonly Json[];
  /** The turns of the session, each as a short text; ends of runs are left out. */
  readonly turns: readonly string[];
  /** Lines that are lost, as `LINE what`. */
  readonly lost?: readonly string[];
  /** Turns of the other branches, by the name of the branch. */
  readonly forks?: Readonly<Record<string, readonly string[]>>;
}

/** Rows with a sentence as their name. */
export type Rows = Readonly<Record<string, Row>>;

/** The bytes of a transcript: a JSON object a line. */
export function bytesOf(lines: readonly Json[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** A home that imports transcripts. */
export class ImportHome extends Sandbox {
  #files = 0;

  /** Imports bytes; returns the report, or the error of a refusal. */
  async import(bytes: Uint8Array, flags: readonly string[] = []): Promise<Json> {
    const path = `${this.directory}/${++this.#files}.jsonl`;
    Deno.writeFileSync(path, bytes);
    const { code, stdout, stderr } = await this.call(["import", path, "--json", ...flags]);
    const report = JSON.parse(stdout);
    assert.ok(code === 0 || ["bad_import", "bad_export"].includes(report.code), stdout + stderr);
    return report;
  }

  /** The turns of a session as short texts. */
  told(session: string): string[] {
    return this.turns(session).flatMap(({ kind, response, events }): string[] => {
      if (kind === "model") {
        const types = events.flatMap(({ item }: Json) => item === undefined ? [] : [item.type]);
        const status = response.status === "completed" ? [] : [response.status];
        return [["response", response.id, ...types, ...status].join(" ")];
      }
      return events.flatMap((event: Json) => {
        if (event.type === "user_message") {
          return [`user ${event.content.map(({ text, type }: Json) => text ?? type).join(" ")}`];
        }
        if (event.type === "tool_result") {
          const output = event.output.startsWith("The imported session has no result") ? null : event.output;
          return [output === null ? `no result ${event.call_id}` : `result ${event.call_id} ${output}`];
        }
        if (event.type !== "history_compaction") return [];
        const prompt = event.opening_turn === null ? "" : `, keeps the prompt of turn ${event.opening_turn}`;
        return [`compaction of turns 1 to ${event.to_turn}${prompt}: ${event.summary}`];
      });
    });
  }
}

/** Registers a test for each row. */
export function testRows(agent: string, rows: Rows): void {
  for (const [name, { lines, turns, lost = [], forks = {} }] of Object.entries(rows)) {
    Deno.test(`import of ${agent}: ${name}`, async () => {
      await using home = new ImportHome();
      const { session, from, message } = await home.import(bytesOf(lines));
      assert.equal(from?.agent, agent, message);
      assert.deepEqual(home.told(session), turns);
      assert.deepEqual(from.lost.map(({ line, what }: Json) => `${line} ${what}`), lost);
      const branches = from.forks.map((fork: Json) => [fork.branch, home.told(fork.session)]);
      assert.deepEqual(Object.fromEntries(branches), forks);
      const { code, stdout } = await home.call(["fsck", "--all", "--json"]);
      assert.equal(code, 0, stdout);
    });
  }
}
