/** The tests that run the `sh` blocks of the docs, and the blocks that no test runs, each with its reason. */

const PAGES = "tests/cli/binary/docs_pages_test.ts";

/** Pages, with the tests that run their `sh` blocks. */
export const PAGE_TESTS: Readonly<Record<string, string | readonly string[]>> = {
  "README.md": PAGES,
  ...Object.fromEntries(
    ["ci", "clients", "coming-from", "debug", "guarantees", "keep", "reasoning", "run", "schemas"]
      .map((name) => [`docs/${name}.md`, PAGES]),
  ),
  "docs/recording.md": [
    "tests/clients/suites_test.ts",
    "tests/clients/helpers_test.ts",
    "tests/clients/npm_pack_test.ts",
  ],
  "docs/start-sessions.md": PAGES,
  "docs/start-tests.md": PAGES,
};

const RECIPE = "tests/clients/recipes_test.ts runs it, with the client installed";

/** Blocks that no test runs: the page, a text in the block, and the reason. */
export const NOT_RUN: readonly (readonly [page: string, text: string, reason: string])[] = [
  ["CONTRIBUTING.md", "task test", "is the gate, which runs this test"],
  ["CONTRIBUTING.md", "deno test -A", "is a test of the gate"],
  ["CONTRIBUTING.md", "git tag", "pushes to GitHub"],
  ["CONTRIBUTING.md", "npm publish", "needs a release"],
  ["CONTRIBUTING.md", "npm pack", "downloads from GitHub"],
  [
    "docs/performance.md",
    "task bench",
    "takes minutes; CI runs bench-smoke, the same benches with small sizes",
  ],
  ["docs/certify.md", "-- node agent.mjs", "takes minutes; tests/clients/certify_test.ts runs real clients"],
  ["docs/clients.md", "-- sh agent.sh", RECIPE],
  ["docs/clients.md", "docker run", "needs Docker"],
  [
    "docs/clients.md",
    "-c -p anthropic",
    "docs_pages_test.ts runs it by itself, with a server of Messages",
  ],
];

/** Returns the reason for which no test runs a block; `null` if one does. */
export function reasonNotToRun(page: string, block: string): string | null {
  return NOT_RUN.find(([name, text]) => name === page && block.includes(text))?.[2] ?? null;
}
