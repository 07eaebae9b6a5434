/**
 * Part of the rehearsal: a suite of vitest with the SDK of OpenAI.
 *
 * @module
 */
import type { StoppableApi } from "./api.ts";
import { goOffline, goOnline, installReprise, recordAndCommit, replayInClone } from "./project.ts";
import { requireText, type UserTerminal } from "./terminal.ts";

/** Records and replays a suite of vitest. @throws {RepriseError} `unexpected` if anything is not as the docs say. */
export async function rehearseVitest(terminal: UserTerminal, api: StoppableApi): Promise<void> {
  terminal.comment("A project with a suite of vitest");
  await installReprise(terminal, "vitest-project");
  await terminal.run("npm install --save-dev vitest@4.1.12 openai@6.49.0", {
    page: "docs/start-tests.md",
    documented: "npm install --save-dev vitest openai",
  });
  await terminal.run("npx --no-install reprise --version", {
    page: "docs/npm.md",
    prints: [/^\d+\.\d+\.\d+$/m],
  });
  terminal.copyFiles("docs/start-tests.md", "tests/chat.test.ts");

  terminal.comment("Record the whole suite, with the API; replay it without");
  goOnline(terminal, api);
  await terminal.run("npx --no-install reprise record --out fixtures/vitest -- npx vitest run", {
    page: "docs/start-tests.md",
    documented: "reprise record --out fixtures/vitest -- npx vitest run",
    prints: ["recorded 1 exchange"],
  });
  api.received(1);
  await goOffline(terminal, api);
  await terminal.run("npx --no-install reprise serve fixtures/vitest -- npx vitest run", {
    page: "docs/start-tests.md",
    documented: "reprise serve fixtures/vitest -- npx vitest run",
    prints: [/Tests\s+1 passed/, "1 served, 0 missed, 0 rejected, 0 warnings"],
  });

  terminal.comment("One recording for each test: the helpers");
  await terminal.run("rm -r fixtures/vitest");
  for (const text of [IMPORT, OPEN, CLIENT, CONTEXT]) requireText("docs/helpers.md", text);
  const file = "tests/chat.test.ts";
  terminal.edit(file, 'from "openai";\n', `from "openai";\n${IMPORT}`);
  terminal.edit(file, 'capital", async () => {\n', `capital", ${CONTEXT} {\n${OPEN}`);
  terminal.edit(file, "  const client = new OpenAI();\n", CLIENT);
  terminal.copyFiles("docs/helpers.md", "tests/api.ts", "tests/capital.test.ts");
  goOnline(terminal, api);
  await recordAndCommit(terminal, api, "REPRISE_RECORD=new npx vitest run", {
    ...{ page: "docs/helpers.md", prints: [/Tests\s+2 passed/] },
    ...{ requests: 2, message: "Tests: recorded with reprise" },
  });

  await replayInClone(terminal, api, {
    suite: "vitest",
    install: "npm ci",
    test: "npx vitest run",
    prints: [/Tests\s+2 passed/],
  });

  terminal.comment("A changed prompt fails, with the difference");
  for (const [file, from, to] of CHANGED) terminal.edit(file, from, to);
  await terminal.run("npx vitest run", {
    code: 1,
    prints: [
      /The test "names a capital" does not match its recording "fixtures\/vitest\/names-a-capital-[0-9a-f]{8}"/,
      /The test "knows the capital" does not match its recording "fixtures\/any\/knows-the-capital-[0-9a-f]{8}"/,
      ...CHANGED.map(([, from, to]) => `differs at input: recorded "${from}", received "${to}"`),
      /Tests\s+2 failed/,
    ],
  });
  goOnline(terminal, api);
  await recordAndCommit(terminal, api, 'REPRISE_RECORD=all npx vitest run -t "capital"', {
    page: "docs/helpers.md",
    documented: "REPRISE_RECORD=all npx vitest run -t ",
    prints: [/Tests\s+2 passed/],
    ...{ requests: 2, message: "Ask for the capitals by another prompt" },
  });

  terminal.comment("One more test: only its request goes to the API");
  terminal.edit("tests/capital.test.ts", 'test("names a capital"', `${ADDED}test("names a capital"`);
  await recordAndCommit(terminal, api, "REPRISE_RECORD=missing npx vitest run", {
    page: "README.md",
    documented: "REPRISE_RECORD=missing ",
    prints: [/Tests\s+3 passed/],
    ...{ requests: 1, message: "Test seas" },
  });
  await goOffline(terminal, api);
  await terminal.run("npx vitest run", { prints: [/Tests\s+3 passed/] });
  api.received(0);
  terminal.cd("..");
}

/** Lines of docs/helpers.md that open the recording of a test. */
const IMPORT = 'import { replay } from "@reprise-cli/reprise";\n';
const OPEN = '  await using api = await replay("fixtures/any", { test: t.name });\n';
const CLIENT = "  const client = new OpenAI({ baseURL: api.openai, apiKey: api.env.OPENAI_API_KEY });\n";
/** The context of a test in vitest, which docs/helpers.md names. */
const CONTEXT = "async ({ task: t }) =>";

/** Prompts that change. */
const CHANGED: readonly (readonly [file: string, from: string, to: string])[] = [
  ["tests/capital.test.ts", "What is the capital of Peru?", "Which city is the capital of Peru?"],
  ["tests/chat.test.ts", "What is the capital of France?", "Name the capital of France."],
];

const ADDED = `test("names a sea", async ({ api }) => {
  const client = new OpenAI({ baseURL: api.openai, apiKey: api.env.OPENAI_API_KEY });
  const answer = await client.responses.create({ model: "gpt-5.6", input: "Name a sea" });
  expect(answer.output_text).toContain("sea");
});

`;
