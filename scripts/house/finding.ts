/** One file of the checkout. */
export interface SourceFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** One broken rule. */
export interface Finding {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly message: string;
}

/** A finding as the one line that is printed. */
export function formatFinding(finding: Finding): string {
  return `${finding.path}:${finding.line}: ${finding.message}`;
}
