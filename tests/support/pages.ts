/** The tests that run the `sh` blocks of the docs, and the blocks that no test runs, each with its reason. */

/** Pages, with the tests that run their `sh` blocks. */
export const PAGE_TESTS: Readonly<Record<string, string | readonly string[]>> = {
  "README.md": "tests/cli/binary/readme_test.ts",
  "docs/ci.md": "tests/cli/binary/ci_doc_test.ts",
  "docs/clients.md": "tests/cli/binary/pages_test.ts",
  "docs/coming-from.md": "tests/cli/binary/start_pages_test.ts",
  "docs/debug.md": "tests/cli/binary/start_pages_test.ts",
  "docs/guarantees.md": "tests/cli/binary/sandbox_recipe_test.ts",
  "docs/keep.md": "tests/cli/binary/pages_test.ts",
  "docs/reasoning.md": "tests/cli/binary/pages_test.ts",
  "docs/recording.md": [
    "tests/clients/suites_test.ts",
    "tests/clients/helpers_test.ts",
    "tests/clients/npm_pack_test.ts",
  ],
  "docs/run.md": "tests/cli/binary/pages_test.ts",
  "docs/start-sessions.md": "tests/cli/binary/start_pages_test.ts",
  "docs/start-tests.md": "tests/cli/binary/start_pages_test.ts",
  "docs/schemas.md": "tests/cli/binary/pages_test.ts",
};

const RECIPE = "tests/clients/recipes_test.ts runs it, with the client installed";

/** Blocks that no test runs: the page, a text in the block, and the reason. */
export const NOT_RUN: readonly (readonly [page: string, text: string, reason: string])[] = [
  ["CONTRIBUTING.md", "task test", "is the gate, which runs this test"],
  ["CONTRIBUTING.md", "deno test -A", "is a test of the gate"],
  ["CONTRIBUTING.md", "git tag", "pushes to GitHub"],
  ["CONTRIBUTING.md", "npm publish", "needs a release"],
  [
    "docs/performance.md",
    "task bench",
    "takes minutes; CI runs bench-smoke, the same benches with small sizes",
  ],
  ["docs/clients.md", "-- sh agent.sh", RECIPE],
  ["docs/clients.md", "docker run", "needs Docker"],
  [
    "docs/clients.md",
    "-c -p anthropic",
    "tests/cli/binary/readme_test.ts runs it, with a server of Messages",
  ],
  [
    "docs/reasoning.md",
    "# Turn, run, reasoning items sent",
    "tests/cli/binary/reasoning_doc_test.ts runs each line, in the folder of a session",
  ],
];

/** Returns the reason for which no test runs a block; `null` if one does. */
export function reasonNotToRun(page: string, block: string): string | null {
  return NOT_RUN.find(([name, text]) => name === page && block.includes(text))?.[2] ?? null;
}
