/** Previews the first request of a run: the steps of a run, on a session in memory. */
import { NO_USAGE } from "../domain/usage.ts";
import { advanceManifest, type Manifest } from "../domain/manifest.ts";
import { encodeTurn, type Turn, type TurnDraft } from "../domain/turn.ts";
import { type CompactedSession, compactIfLarge } from "./auto_compact.ts";
import {
  type NextRequest,
  nextRequest,
  type RecordedHistory,
  type RequestHistory,
  targetOf,
} from "./next_request.ts";
import { NO_PROGRESS, outcomeBeforeRequest, tokensLeft } from "./outcome.ts";
import { pinsOf } from "./pins.ts";
import {
  type AttachedFile,
  closeKilledRun,
  openingDraft,
  requireUnfinished,
  type RunStart,
} from "./recover.ts";
import type { RunSettings } from "./setup.ts";

/** A session that a run would continue or create. */
export interface PreviewedSession extends RecordedHistory {
  readonly id: string;
  /** `null` for a session that does not exist. */
  readonly manifest: Manifest | null;
  readonly allTurns: () => readonly Turn[];
}

/**
 * Builds the first request that a run of `settings` would send. For `null` no run starts: the request has the unchanged
 * history, whether or not a run could continue.
 *
 * @throws {RepriseError} `nothing_to_continue`, and `over_budget` if no request would be sent.
 */
export async function previewRequest(
  settings: RunSettings,
  previewed: PreviewedSession,
  start: RunStart | null,
): Promise<NextRequest> {
  const session = new MemorySession(previewed, start?.attached ?? []);
  const { account, limits } = settings;
  const run = (session.manifest?.run ?? 0) + 1;
  if (start === null) return nextRequest(settings, session, { account });
  if (start.prompt === null) requireUnfinished(session.id, session.manifest);
  await closeKilledRun(session);
  // No request depends on the workspace.
  await session.save(openingDraft(start, run, pinsOf(settings, "")));
  const progress = { ...NO_PROGRESS, cost: 0 };
  const refused = outcomeBeforeRequest(limits, progress)?.error ?? null;
  if (refused !== null) throw refused;
  if (limits.autoCompact !== undefined) {
    const auto = { limit: limits.autoCompact, target: targetOf(settings, { account, run }) };
    await compactIfLarge(session, auto, { run, usage: NO_USAGE });
  }
  return nextRequest(settings, session, { run, account, maxOutputTokens: tokensLeft(limits, progress) });
}

/** A session whose appended turns stay in memory. */
export class MemorySession implements CompactedSession, RequestHistory {
  readonly id: string;
  #manifest: Manifest | null;
  readonly #saved: PreviewedSession;
  readonly #added: Turn[] = [];
  readonly #attached: readonly AttachedFile[];

  constructor(saved: PreviewedSession, attached: readonly AttachedFile[]) {
    this.id = saved.id;
    this.#attached = attached;
    this.#manifest = saved.manifest;
    this.#saved = saved;
  }

  get manifest(): Manifest | null {
    return this.#manifest;
  }

  get turns(): readonly Turn[] {
    return [...this.#saved.turns, ...this.#added];
  }

  allTurns(): readonly Turn[] {
    return [...this.#saved.allTurns(), ...this.#added];
  }

  readBlob(sha256: string): Uint8Array | null {
    return this.#attached.find((file) => file.sha256 === sha256)?.bytes ?? this.#saved.readBlob(sha256);
  }

  preview(draft: TurnDraft): Turn {
    const head = this.#manifest?.head;
    return encodeTurn(draft, {
      session: this.id,
      turn: (head?.turn ?? 0) + 1,
      firstSeq: (head?.seq ?? 0) + 1,
      prev: head?.sum ?? null,
      at: new Date(0).toISOString(),
    }).turn;
  }

  save(draft: TurnDraft): Promise<Turn> {
    const turn = this.preview(draft);
    this.#added.push(turn);
    this.#manifest = advanceManifest(this.#manifest, this.id, turn);
    return Promise.resolve(turn);
  }
}
