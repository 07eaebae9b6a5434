/**
 * Replaces secrets in what a page shows, as `export --redact` does.
 *
 * @module
 */
import type { JsonValue } from "../../domain/json.ts";
import type { SecretCounts, ValueRedactor } from "../../domain/redact.ts";
import { titleByPrompt } from "../../domain/manifest.ts";
import type { ShownSession, ShownTurn } from "../../store/read/show.ts";
import { judgeTurn } from "../../store/read/turn.ts";
import { redactedValue } from "../../store/transfer/redaction.ts";
import { environmentSecrets, redactedKinds } from "../maintenance/export.ts";

/** Replaces secrets, and counts them. */
export class PageRedactor {
  readonly #known: ValueRedactor | null;
  readonly #counts: SecretCounts = {};

  constructor(known: ValueRedactor | null) {
    this.#known = known;
  }

  /** Replaced secrets by kind. */
  get counts(): Readonly<Record<string, number>> {
    const known = this.#known?.counts.known ?? 0;
    return { ...this.#counts, ...(known === 0 ? {} : { known }) };
  }

  /** The counts as lines for people. */
  lines(): string[] {
    return [redactedKinds(this.counts)];
  }

  /** A value with all its texts redacted. Identifiers and opaque items stay. */
  value<T>(value: T): T {
    return redactedValue(value as JsonValue, this.#counts, this.#known) as T;
  }

  /** A session as it is shown. */
  session(shown: ShownSession): ShownSession {
    const turns = shown.turns.map((turn) => {
      const value = this.value({ ...turn.value, events: turn.events });
      return { ...turn, value, events: value.events };
    });
    const manifest = shown.manifest === null
      ? null
      : { ...this.value(shown.manifest), title: titleOf(turns) };
    return { ...shown, turns, manifest };
  }
}

/** The title by redacted turns: that of the manifest may end inside a secret, whose beginning no pattern matches. */
function titleOf(turns: readonly ShownTurn[]): string {
  const renamed = turns.flatMap(({ events }) => events).findLast(({ type, title }) =>
    type === "session_renamed" && typeof title === "string"
  );
  if (renamed !== undefined) return renamed.title as string;
  const [first] = turns;
  const verdict = first?.number === 1 ? judgeTurn(first.value) : null;
  return verdict?.status === "ok" ? titleByPrompt(verdict.turn) : "";
}

/** A redactor that also knows the secrets of the environment. */
export async function pageRedactor(): Promise<PageRedactor> {
  return new PageRedactor(await environmentSecrets());
}
