/** Sessions whose lines name the line before them. They form a tree, and the agent continues one of its paths. */
import type { JsonObject } from "../domain/json.ts";
import type { AgentBranch, AgentEntry } from "./agent_session.ts";
import type { LostParts } from "./reading.ts";

export interface TreeLine {
  readonly line: number;
  readonly json: JsonObject;
  readonly id: string;
  /** The id of the line before it; `null` for a first one. */
  readonly parent: string | null;
}

/** Lines that leave the main path. */
interface SidePath {
  /** Number of the last line that it shares with the main path; 0 if it shares none. */
  readonly after: number;
  /** From the first line of its own to its end. */
  readonly lines: readonly TreeLine[];
}

/**
 * Lines with ids of their own, linked again where the line before is missing, as after damage: to the last line before it
 * of the same `chain`. A line that repeats an id is lost.
 */
export function linkedLines(
  lines: readonly TreeLine[],
  lost: LostParts,
  chain: (line: TreeLine) => string = () => "",
): TreeLine[] {
  const ids = new Set(lines.map(({ id }) => id));
  const seen = new Set<string>();
  const newest = new Map<string, string>();
  const broken: number[] = [];
  const linked = lines.flatMap((line) => {
    const { id, parent } = line;
    if (seen.has(id)) {
      lost.add(line.line, "line", "a line before it has the same id");
      return [];
    }
    seen.add(id);
    const last = newest.get(chain(line)) ?? null;
    const isKnown = parent === null || ids.has(parent);
    if (!isKnown && last !== null) broken.push(line.line);
    newest.set(chain(line), id);
    return [{ ...line, parent: isKnown ? parent : last }];
  });
  const [first] = broken;
  if (first !== undefined) {
    const why = broken.length === 1
      ? "the line that it names is"
      : `the lines that ${broken.length} lines name are`;
    lost.add(first, "link", `${why} not in the file: the one before takes its place`);
  }
  return linked;
}

/** Most paths of a session that are kept beside the main one. */
const MOST_SIDE_PATHS = 100;

/** Lines by their ids. Time and memory are proportional to the number of lines. */
export class LineTree {
  readonly #lines: readonly TreeLine[];
  readonly #byId: ReadonlyMap<string, TreeLine>;
  /** Places in the file: a damaged line may hold several records. */
  readonly #places: ReadonlyMap<TreeLine, number>;

  constructor(lines: readonly TreeLine[]) {
    this.#lines = lines;
    this.#byId = new Map(lines.map((line) => [line.id, line]));
    this.#places = new Map(lines.map((line, index) => [line, index]));
  }

  /** The path from a first line to `leaf`. A line that names a later line before it begins the path. */
  pathTo(leaf: TreeLine | undefined, until: (line: TreeLine) => boolean = () => false): TreeLine[] {
    const path: TreeLine[] = [];
    for (let at = leaf; at !== undefined && !until(at);) {
      path.push(at);
      const before: TreeLine | undefined = at.parent === null ? undefined : this.#byId.get(at.parent);
      // Lines are only added at the end, so that a later one shows a damaged file, and maybe a circle.
      at = before !== undefined && this.#placeOf(before) < this.#placeOf(at) ? before : undefined;
    }
    return path.reverse();
  }

  #placeOf(line: TreeLine): number {
    return this.#places.get(line) ?? 0;
  }

  /**
   * The paths that leave `main`, each from where it leaves, in the order of their last lines. More than
   * {@linkcode MOST_SIDE_PATHS} are lost. `counts`: true for lines that make a path worth keeping.
   */
  sidePaths(
    main: ReadonlySet<TreeLine>,
    { counts, lost }: { readonly counts: (line: TreeLine) => boolean; readonly lost: LostParts },
  ): SidePath[] {
    const parents = new Set(
      this.#lines.filter((line) => !main.has(line) && counts(line)).flatMap(({ parent }) => parent ?? []),
    );
    const leaves = this.#lines.filter((line) => !main.has(line) && counts(line) && !parents.has(line.id));
    for (const { line } of leaves.slice(MOST_SIDE_PATHS)) {
      lost.add(line, "branch", `only ${MOST_SIDE_PATHS} branches are kept`);
    }
    return leaves.slice(0, MOST_SIDE_PATHS).map((leaf) => {
      const lines = this.pathTo(leaf, (line) => main.has(line));
      const parent = lines[0]?.parent ?? null;
      const shared = parent === null ? undefined : this.#byId.get(parent);
      return { after: shared !== undefined && main.has(shared) ? shared.line : 0, lines };
    });
  }
}

/** Branches of their lines. `entriesOf` reads the lines of one; branches without an entry are left out. */
export function branchesOf(
  paths: readonly SidePath[],
  main: readonly AgentEntry[],
  entriesOf: (lines: readonly TreeLine[]) => readonly AgentEntry[],
): AgentBranch[] {
  return paths.flatMap(({ after, lines }): AgentBranch[] => {
    const entries = entriesOf(lines);
    const [first] = entries;
    if (first === undefined) return [];
    const shared = main.filter(({ line }) => line <= after).length;
    const isSide = lines[0]?.json.isSidechain === true;
    return [{ name: `${isSide ? "sidechain" : "branch"} at line ${first.line}`, shared, entries }];
  });
}
