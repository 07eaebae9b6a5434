/**
 * A repair while it is planned: what would be done, in order, and where what is replaced would be kept.
 *
 * @module
 */
import type { Ports } from "../../domain/ports.ts";
import { insideSession, type SessionPaths } from "../layout.ts";
import { QuarantineNames } from "../write/quarantine.ts";
import type { Reason } from "./read_files.ts";

/** One thing that a repair does to the files of a session. */
export interface RepairAction {
  /**
   * `replace`: a turn that is lost gets a replacement. `restore`: a sound turn goes back to its own number.
   * `set_aside`: what does not belong where it lies moves to `quarantine/`. `rebuild_manifest` and `fix_mode`.
   */
  readonly action: "replace" | "restore" | "set_aside" | "rebuild_manifest" | "fix_mode";
  /** Inside the session; `.` is its directory. */
  readonly path: string;
  /** A code of `fsck`. */
  readonly reason: string;
  /** What was found, to be read after the path. */
  readonly message: string;
  /** Where what lay there is kept from then on, inside the session. */
  readonly kept?: string;
  /** Where a restored turn was found, inside the session. */
  readonly from?: string;
  readonly turn?: number;
  /** The events that a replacement stands for. */
  readonly seq?: readonly [number, number];
}

/** Gathers the actions of a repair. */
export class RepairDraft {
  readonly ports: Ports;
  readonly paths: SessionPaths;
  readonly actions: RepairAction[] = [];
  /** Files whose place is taken: they get the second path as another name first. */
  readonly keep = new Map<string, string>();
  /** Files that only move to the second path. */
  readonly move = new Map<string, string>();
  readonly #names: QuarantineNames;

  constructor(ports: Ports, paths: SessionPaths) {
    this.ports = ports;
    this.paths = paths;
    this.#names = new QuarantineNames(ports, paths);
  }

  /** A path as people read it. */
  inside(path: string): string {
    return path === this.paths.root ? "." : insideSession(this.paths, path);
  }

  /** Keeps what lies at `path`, whose place is taken. Returns what the action says of it. */
  keepFile(path: string): { readonly kept: string } {
    const kept = this.#names.choose(path);
    this.keep.set(path, kept);
    return { kept: this.inside(kept) };
  }

  /** Moves what lies at `path` to `quarantine/`. Returns what the action says of it. */
  moveFile(path: string): { readonly kept: string } {
    const kept = this.#names.choose(path);
    this.move.set(path, kept);
    return { kept: this.inside(kept) };
  }

  /** {@linkcode moveFile} as an action of its own. */
  setAside(path: string, { code, message }: Reason): void {
    const about = { path: this.inside(path), reason: code, message };
    this.actions.push({ action: "set_aside", ...about, ...this.moveFile(path) });
  }

  /** True when the file at `path` does not stay there. */
  leaves(path: string): boolean {
    return this.keep.has(path) || this.move.has(path);
  }
}
