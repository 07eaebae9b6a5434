import type { Finding, SourceFile } from "./finding.ts";
import { lineAt } from "./source_text.ts";

const PROTOCOL = "docs/protocol.md";

/** Sections of RFCs are cited with the same sign. */
const CITATION = /(RFC \d+ )?§(\d+(?:\.\d+)*)(?:[–-](\d+(?:\.\d+)*))?/g;
const HEADING = /^#{2,3} (\d+(?:\.\d+)?)\.? /gm;

/** Checks that every cited section of the protocol exists in docs/protocol.md. */
export function checkCitations(files: readonly SourceFile[]): Finding[] {
  const protocol = files.find(({ path }) => path === PROTOCOL);
  if (protocol === undefined) return [];
  const sections = new Set([...protocol.text.matchAll(HEADING)].map(([, number]) => number));
  return files.filter(({ path }) => /\.(ts|md)$/.test(path)).flatMap(({ path, text }) =>
    [...text.matchAll(CITATION)].flatMap(({ 1: rfc, 2: first, 3: last, index }) => {
      if (rfc !== undefined) return [];
      const missing = [first, last].filter((number) => number !== undefined && !sections.has(number));
      return missing.map((number) => ({
        path,
        line: lineAt(text, index),
        message: `Cites section ${number}, which ${PROTOCOL} does not have`,
      }));
    })
  );
}
