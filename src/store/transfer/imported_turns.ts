/**
 * The turns of an export, judged one after the other by the rules that every reader applies.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { advanceManifest, type Manifest } from "../../domain/manifest.ts";
import { blobsOf, lostBlobsIn } from "../blobs.ts";
import { ANY_LINEAGE, Chain, type Lineage, mayHold } from "../read/validate.ts";
import { LineageSearch } from "../read/lineage.ts";
import { BadExport } from "./format.ts";
import { openEnvelope } from "../read/turn_file.ts";
import { judgeTurn } from "../read/turn_schema.ts";

/** Takes the turns in order and remembers no more of them than the end needs. */
export class ImportedTurns {
  readonly #id: SessionId;
  /** Whose turns they may be is known once the fork turn has come. */
  readonly #chain: Chain;
  readonly #search: LineageSearch;
  #lineage: Lineage | null = null;
  readonly #foreign: { readonly number: number; readonly writer: string }[] = [];
  /** Blobs by name: whether one is needed, and the sizes that turns give. */
  readonly #blobs = new Map<string, { needed: boolean; there: boolean; readonly sizes: Set<number> }>();
  readonly #lost = new Set<string>();
  #manifest: Manifest | null = null;

  constructor(id: SessionId) {
    this.#id = id;
    this.#chain = new Chain(id, { lineage: () => ANY_LINEAGE });
    this.#search = new LineageSearch(id);
  }

  /**
   * Judges the bytes of the next turn's file.
   *
   * @throws {BadExport}; {@linkcode RepriseError} `format_too_new`.
   */
  add(bytes: Uint8Array): void {
    const number = this.#chain.end.turn + 1;
    const envelope = openEnvelope(bytes);
    if (envelope.status === "damaged") throw bad(number, envelope.message);
    if (envelope.newer) throw tooNew(number, `has the format ${JSON.stringify(envelope.value.format)}`);
    const judged = judgeTurn(envelope.value);
    if (judged.status === "newer") throw tooNew(number, judged.message);
    if (judged.status === "damaged") throw bad(number, judged.message);
    const { turn } = judged;
    const breach = this.#chain.check(turn).find(({ severity }) => severity === "error");
    if (breach !== undefined) throw bad(number, breach.message);
    if (number === 1 && !("pins" in turn && turn.pins !== undefined)) throw bad(number, "opens no run");
    this.#chain.advance(turn);
    this.#lineage ??= this.#search.look(number, envelope.value);
    if (turn.session !== this.#id) this.#foreign.push({ number, writer: turn.session });
    this.#manifest = advanceManifest(this.#manifest, this.#id, turn);
    for (const sha256 of lostBlobsIn([turn])) this.#lost.add(sha256);
    for (const use of blobsOf(turn)) {
      const blob = this.#blobs.get(use.sha256) ?? { needed: false, there: false, sizes: new Set<number>() };
      blob.needed ||= use.needed;
      if (use.bytes !== undefined) blob.sizes.add(use.bytes);
      this.#blobs.set(use.sha256, blob);
    }
  }

  /** Refuses a blob that no turn names, or that has another size than a turn says. */
  requireNamed(name: string, bytes: number): void {
    const blob = this.#blobs.get(name);
    if (blob === undefined) throw new BadExport("is a blob that no turn names");
    if ([...blob.sizes].some((size) => size !== bytes)) {
      throw new BadExport("gives its blob another size than a turn does");
    }
    blob.there = true;
  }

  /** The manifest, when nothing is missing and every turn is of this session or its lineage. */
  finish(): Manifest {
    const lineage = this.#lineage ?? this.#search.end();
    const foreign = this.#foreign.find((turn) => !mayHold(this.#id, turn, () => lineage));
    if (foreign !== undefined) {
      throw bad(foreign.number, `was written by session ${JSON.stringify(foreign.writer)}`);
    }
    for (const [name, { needed, there }] of this.#blobs) {
      if (needed && !there && !this.#lost.has(name)) {
        throw new BadExport(`comes before the blob ${name}, which a turn names`);
      }
    }
    return this.#manifest as Manifest;
  }
}

function bad(number: number, message: string): BadExport {
  return new BadExport(`ends turn ${number}, which ${message}`);
}

function tooNew(number: number, found: string): RepriseError {
  return new RepriseError("format_too_new", `Cannot import: turn ${number} ${found}`, {
    hint: "Use a newer version of reprise",
  });
}
