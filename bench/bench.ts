import type { Report } from "./report.ts";

/** Parameters of every bench. */
export interface BenchContext {
  /** The checkout; an absolute path. */
  readonly root: string;
  /** Kept from one call to the next: compiled binaries. */
  readonly cacheDirectory: string;
  /** For all benches of a call, on the disk that is measured; empty at first, removed afterwards. */
  readonly workDirectory: string;
  /** Small sizes and few rounds: to see that a bench works, not what it measures. */
  readonly quick: boolean;
  /** A quick run that also downloads nothing and judges nothing. */
  readonly smoke: boolean;
  /** An earlier reprise to compare with; `null` if none is given. */
  readonly against: string | null;
  /** Gets each line about what is being prepared. */
  readonly say: (line: string) => void;
}

/** One bench: prepares what it needs, measures, and reports. */
export type Bench = (context: BenchContext) => Promise<Report>;

/** The value for a full measurement, or the one for `--quick`. */
export function sized(
  context: BenchContext,
  { full, quick }: { readonly full: number; readonly quick: number },
) {
  return context.quick ? quick : full;
}
