/**
 * Sessions whose lines name the line before them. They form a tree, and the agent continues one of its paths.
 *
 * @module
 */
import type { JsonObject } from "../domain/json.ts";

/** A line of a tree. */
export interface TreeLine {
  readonly line: number;
  readonly json: JsonObject;
  readonly id: string;
  /** The id of the line before it; `null` for a first one. */
  readonly parent: string | null;
}

/** Lines that leave the main path. */
export interface SidePath {
  /** Number of the last line that it shares with the main path; 0 if it shares none. */
  readonly after: number;
  /** From the first line of its own to its end. */
  readonly lines: readonly TreeLine[];
}

/** Most paths of a session that are kept beside the main one. */
export const MOST_SIDE_PATHS = 100;

/** Lines by their ids; the last one wins. Time and memory are proportional to the number of lines. */
export class LineTree {
  readonly #lines: readonly TreeLine[];
  readonly #byId: ReadonlyMap<string, TreeLine>;

  constructor(lines: readonly TreeLine[]) {
    this.#lines = lines;
    this.#byId = new Map(lines.map((line) => [line.id, line]));
  }

  /** The path from a first line to `leaf`. A line that names a missing or later line before it begins the path. */
  pathTo(leaf: TreeLine | undefined, until: (line: TreeLine) => boolean = () => false): TreeLine[] {
    const path: TreeLine[] = [];
    for (let at = leaf; at !== undefined && !until(at);) {
      path.push(at);
      const before: TreeLine | undefined = at.parent === null ? undefined : this.#byId.get(at.parent);
      // Lines are only added at the end, so that a later one shows a damaged file, and maybe a circle.
      at = before === undefined || before.line >= at.line ? undefined : before;
    }
    return path.reverse();
  }

  /**
   * The paths that leave `main`, each from where it leaves, in the order of their last lines; at most
   * {@linkcode MOST_SIDE_PATHS}. `counts`: true for lines that make a path worth keeping.
   */
  sidePaths(main: ReadonlySet<TreeLine>, counts: (line: TreeLine) => boolean): SidePath[] {
    const parents = new Set(
      this.#lines.filter((line) => !main.has(line) && counts(line)).flatMap(({ parent }) => parent ?? []),
    );
    const leaves = this.#lines.filter((line) => !main.has(line) && counts(line) && !parents.has(line.id));
    return leaves.slice(0, MOST_SIDE_PATHS).map((leaf) => {
      const lines = this.pathTo(leaf, (line) => main.has(line));
      const parent = lines[0]?.parent ?? null;
      const shared = parent === null ? undefined : this.#byId.get(parent);
      return { after: shared !== undefined && main.has(shared) ? shared.line : 0, lines };
    });
  }
}
