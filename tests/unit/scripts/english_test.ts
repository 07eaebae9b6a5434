import assert from "node:assert/strict";
import { checkEnglish, countPhrases, formatCounts } from "../../../scripts/house/english.ts";
import { formatFinding, type SourceFile } from "../../../scripts/house/finding.ts";

const FILES: readonly SourceFile[] = Object.entries({
  "README.md": "The file vouches for itself, the item behind it stands for another.\n",
  "docs/a.md": "Edit it by hand.\nThe manifest may lag behind.\n",
  "docs/b/c.md": "Edit it by hand.\n",
  "npm/a.cjs": "// made anew\n",
  "python/a.py": "# made anew\n",
  "src/a.ts": "/** What it is. */\n/**\n * Where it is.\n */\n/** Whether it is. */\n// made anew\n",
  "src/b.ts": "/** Returns what it is, and how. */\nexport const ids = 'handed out, minted';\n",
  "tests/a_test.ts":
    '/** Which it is. */\nDeno.test("what is lost is told", run);\nask("Go on");\nfunction told() {}\n',
  "tests/data/a.json": '"told"',
}).map(([path, text]) => ({ path, text }));

Deno.test("phrases to avoid are found in documents, sources and tests, and docstrings without a subject", () => {
  assert.deepEqual(checkEnglish(FILES).map(formatFinding), [
    'README.md:1: Says "behind": write after',
    'README.md:1: Says "stands": write represent, be in',
    'README.md:1: Says "vouches": write checksum, verify',
    'docs/a.md:1: Says "by hand": write manually',
    'npm/a.cjs:1: Says "anew": write again',
    'python/a.py:1: Says "anew": write again',
    'src/a.ts:6: Says "anew": write again',
    'src/a.ts:1: Says "/** What": write a verb or a noun phrase at the beginning',
    'src/a.ts:2: Says "/** Where": write a verb or a noun phrase at the beginning',
    'src/b.ts:2: Says "handed out": write issued',
    'src/b.ts:2: Says "minted": write issued, created',
    'tests/a_test.ts:2: Says "told": write reported, reports, prints',
    'tests/a_test.ts:4: Says "told": write reported, reports, prints',
    'tests/a_test.ts:2: Says "what i": write a noun',
    'tests/a_test.ts:1: Says "/** Which": write a verb or a noun phrase at the beginning',
  ]);
});

Deno.test("phrases are counted for each part of the checkout, with a sum", () => {
  const rows = countPhrases(FILES);
  const counts = (name: string) => rows.find((row) => row.name === name)?.counts;
  assert.deepEqual(counts("told, tells"), { src: 0, tests: 2, scripts: 0, docs: 0 });
  assert.deepEqual(counts("by hand"), { src: 0, tests: 0, scripts: 0, docs: 1 });
  assert.deepEqual(counts("docstring without subject"), { src: 2, tests: 1, scripts: 0, docs: 0 });
  const table = formatCounts(rows).split("\n");
  assert.match(table[0] ?? "", /^phrase +src +tests +scripts +docs$/);
  assert.match(table.at(-1) ?? "", /^sum +7 +4 +0 +4$/);
});
