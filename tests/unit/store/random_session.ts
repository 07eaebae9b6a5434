/**
 * Random sound sessions on a disk in memory, the same for the same seed: several runs with reasoning, calls and
 * results, some killed, some continued, with notices and checkpoints between them.
 *
 * @module
 */
import type { EventDraft } from "../../../src/domain/event.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import type { SessionId } from "../../../src/domain/ids.ts";
import { advanceManifest, encodeManifest, type Manifest } from "../../../src/domain/manifest.ts";
import { encodeTurn, type Turn, type TurnDraft } from "../../../src/domain/turn.ts";
import { type SessionPaths, sessionPaths, turnPath } from "../../../src/store/layout.ts";
import type { Dice } from "../fold/dice.ts";
import { MemoryDisk } from "./memory_disk.ts";
import {
  call,
  endDraft,
  ID,
  INSTRUCTIONS,
  modelDraft,
  pinsFor,
  reasoning,
  result,
  TOOLS,
  userDraft,
} from "./support.ts";

/** A session on a disk of its own. */
export interface MadeSession {
  readonly disk: MemoryDisk;
  readonly paths: SessionPaths;
  readonly turns: readonly Turn[];
  readonly manifest: Manifest;
}

/** Directory of the sessions. */
export const SESSIONS = "/store/sessions";

/** A session of one to `maxRuns` runs. */
export function randomSession(dice: Dice, maxRuns: number, id: SessionId = ID): MadeSession {
  const maker = new Maker(id);
  const runs = dice.count(1, maxRuns);
  for (let run = 1; run <= runs; run++) {
    const opensWithPrompt = run === 1 || dice.chance(0.8);
    maker.add(
      opensWithPrompt ? userDraft(`prompt ${run} ${dice.count(0, 1e9)}`, run) : continued(run),
    );
    for (let step = dice.count(0, 2); step > 0; step--) {
      const calls = Array.from({ length: dice.count(1, 3) }, (_, index) => `call_${run}_${step}_${index}`);
      const first = maker.seq + 2;
      maker.add(modelDraft([reasoning(`rs_${run}_${step}`), ...calls.map(call)], run));
      if (dice.chance(0.3)) maker.add(decisions(calls, first, run));
      maker.add({ kind: "tools", run, events: calls.map((name, index) => result(name, first + index)) });
    }
    if (dice.chance(0.8)) maker.add(modelDraft([reasoning(`rs_${run}`), message(run)], run));
    if (run < runs || dice.chance(0.6)) {
      maker.add(endDraft(run));
      if (dice.chance(0.2)) {
        maker.add({
          kind: "harness",
          run,
          events: [{ type: "replay_notice", reason: "quarantine_lifted", items: [] }],
        });
      }
      if (dice.chance(0.15)) maker.checkpoint(run);
    }
  }
  return maker.made();
}

function message(run: number): EventDraft {
  const content = [{ type: "output_text", text: "Done." }];
  return {
    type: "assistant_message",
    item: { id: `msg_${run}`, type: "message", role: "assistant", content },
  };
}

function continued(run: number): TurnDraft {
  return { kind: "harness", run, pins: pinsFor(), events: [{ type: "run_continued", run }] };
}

function decisions(calls: readonly string[], first: number, run: number): TurnDraft {
  return {
    kind: "harness",
    run,
    events: calls.map((name, index): EventDraft => ({
      type: "permission_decision",
      call_id: name,
      call_seq: first + index,
      tool: "read_file",
      decision: "allowed",
      reason: "allowed_by_rule",
    })),
  };
}

class Maker {
  readonly #disk = new MemoryDisk();
  readonly #paths: SessionPaths;
  readonly #turns: Turn[] = [];
  #manifest: Manifest | null = null;

  constructor(id: SessionId) {
    this.#paths = sessionPaths(SESSIONS, id);
    this.#disk.directory(this.#paths.turns);
    this.#disk.directory(this.#paths.blobs);
    for (const bytes of [INSTRUCTIONS, TOOLS]) {
      this.#disk.write(`${this.#paths.blobs}/${sha256Hex(bytes)}`, bytes);
    }
  }

  get seq(): number {
    return this.#turns.at(-1)?.seq[1] ?? 0;
  }

  add(draft: TurnDraft): void {
    const number = this.#turns.length + 1;
    const { turn, bytes } = encodeTurn(draft, {
      session: this.#paths.id,
      turn: number,
      firstSeq: this.seq + 1,
      prev: this.#turns.at(-1)?.sum ?? null,
      at: new Date(Date.UTC(2026, 10, 21) + number * 1000).toISOString(),
    });
    this.#turns.push(turn);
    this.#disk.write(turnPath(this.#paths, number), bytes);
    this.#manifest = advanceManifest(this.#manifest, this.#paths.id, turn);
  }

  checkpoint(run: number): void {
    const last = this.#turns.at(-1) as Turn;
    this.add({
      kind: "compaction",
      run,
      pins: pinsFor(),
      events: [{
        type: "history_compaction",
        to_seq: last.seq[1],
        to_turn: last.turn,
        previous_checkpoint: null,
        opening_turn: null,
        strategy: "deterministic",
        summary: "Everything up to here.",
        limitations: [],
      }],
    });
  }

  made(): MadeSession {
    const manifest = this.#manifest as Manifest;
    this.#disk.write(this.#paths.manifest, encodeManifest(manifest).bytes);
    return { disk: this.#disk, paths: this.#paths, turns: this.#turns, manifest };
  }
}
