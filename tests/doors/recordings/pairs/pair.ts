/** Pairs of requests: one that was recorded on a machine, one that a client sends on another, and the outcome. */
import type { Json } from "../../../support/files.ts";
import type { Machine } from "./machines.ts";
import { type ApiName, type Asked, type Place, requestAt } from "./places.ts";

/** The answer of the recording is played, or the request is another question. */
export type Outcome = "play" | "miss";

/** Members of a pair beside its requests. */
export interface More {
  /** Values of the recorder's machine other than the usual ones. */
  readonly recorder?: Partial<Machine>;
  /** Values of the client's machine other than the usual ones. */
  readonly client?: Partial<Machine>;
  /** Headers of both requests. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Flags of `record`. */
  readonly record?: readonly string[];
  /** Flags of `serve`. */
  readonly serve?: readonly string[];
  /** True for a pair that has no fixture of its own, only the one that it shares with others. @default {false} */
  readonly isShared?: boolean;
  /** Exchanges before these requests, in the same fixture, with the recorded answer. */
  readonly before?: readonly (readonly [recorded: Asked, received: Asked, answer: Json])[];
}

/** One row of a table. Texts are templates of `machines.ts`. */
export interface Pair extends More {
  /** Kind of the difference. */
  readonly kind: string;
  readonly recorded: Asked;
  readonly received: Asked;
  readonly expected: Outcome;
}

/** Two texts at one place of one API. The second may be missing if the template is the same. */
export type TextRow = readonly [
  kind: string,
  api: ApiName,
  place: Place,
  recorded: string,
  received?: string | undefined,
  more?: More | undefined,
];

/** Pairs of texts with one outcome. */
export function textPairs(expected: Outcome, rows: readonly TextRow[], shared: More = {}): Pair[] {
  return rows.map(([kind, api, place, recorded, received = recorded, more = {}]) => ({
    kind,
    recorded: requestAt(api, place, recorded),
    received: requestAt(api, place, received),
    expected,
    ...shared,
    ...more,
  }));
}

/** Two bodies of one path. */
export type BodyRow = readonly [kind: string, path: string, recorded: Json, received: Json, more?: More];

/** Pairs of bodies with one outcome. */
export function bodyPairs(expected: Outcome, rows: readonly BodyRow[], shared: More = {}): Pair[] {
  return rows.map(([kind, path, recorded, received, more = {}]) => ({
    kind,
    recorded: { path, body: recorded },
    received: { path, body: received },
    expected,
    ...shared,
    ...more,
  }));
}

/** A text for several places, as {@linkcode TextRow} without API and place. */
export type SpreadRow = readonly [
  kind: string,
  recorded: string,
  received?: string | undefined,
  more?: More | undefined,
];

/** Pairs of texts, each over these APIs at these places. */
export function spread(
  expected: Outcome,
  { apis, places }: { readonly apis: readonly ApiName[]; readonly places: readonly Place[] },
  rows: readonly SpreadRow[],
): Pair[] {
  const all = apis.flatMap((api) => places.map((place) => [api, place] as const));
  return rows.flatMap(([kind, recorded, received = recorded, more]) =>
    textPairs(expected, all.map(([api, place]) => [kind, api, place, recorded, received, more]))
  );
}

/** Places outside of questions, each with an API: a row is tried at two of them. */
const BESIDE: readonly (readonly [ApiName, Place])[] = [
  ...[["responses", "tool"], ["chat", "system"], ["messages", "tool"], ["gemini", "system"]] as const,
  ...[["responses", "part"], ["chat", "tool"], ["messages", "system"], ["gemini", "tool"]] as const,
  ...[["responses", "system"], ["chat", "message"]] as const,
];

/** Pairs of texts outside of questions, each at two places in turn. */
export function beside(expected: Outcome, rows: readonly SpreadRow[], shared: More = {}): Pair[] {
  const placeOf = (number: number) => BESIDE[number % BESIDE.length] as (typeof BESIDE)[number];
  return rows.flatMap(([kind, recorded, received, more], index) =>
    textPairs(
      expected,
      [placeOf(index), placeOf(index + 3)].map((
        [api, place],
      ) => [kind, api, place, recorded, received, more]),
      shared,
    )
  );
}
