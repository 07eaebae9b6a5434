/**
 * Part of the rehearsal: a suite of pytest with urllib and httpx.
 *
 * @module
 */
import type { StoppableApi } from "./api.ts";
import { commit, goOffline, goOnline, installReprise, recordAndCommit, replayInClone } from "./project.ts";
import { requireText, type UserTerminal } from "./terminal.ts";

const MARKED = `${requireText("README.md", "@pytest.mark.reprise(")}"fixtures/tests")\n`;

/** Records and replays a suite of pytest. @throws {RepriseError} `unexpected` if anything is not as the docs say. */
export async function rehearsePytest(terminal: UserTerminal, api: StoppableApi): Promise<void> {
  terminal.comment("A project with a suite of pytest");
  await installReprise(terminal, "pytest-project");
  requireText("docs/npm.md", 'export PATH="$PWD/node_modules/.bin:$PATH"');
  terminal.export({ PATH: "$PWD/node_modules/.bin:$PATH" });
  await terminal.run("reprise --version", { prints: [/^\d+\.\d+\.\d+$/m] });
  terminal.copyFiles("docs/start-tests.md", "tests/test_chat.py");

  terminal.comment("Record the whole suite, with the API");
  goOnline(terminal, api);
  await terminal.run("reprise record --out fixtures/suite -- pytest -q", {
    page: "docs/start-tests.md",
    prints: ["2 passed", "recorded 2 exchanges"],
  });
  api.received(2);
  await terminal.run("reprise fixture show fixtures/suite", {
    page: "docs/start-tests.md",
    prints: ["What is the capital of France?"],
  });

  terminal.comment("Replay it: no key, no API");
  await goOffline(terminal, api);
  await terminal.run("reprise serve fixtures/suite -- pytest -q", {
    page: "docs/start-tests.md",
    prints: ["2 passed", "2 served, 0 missed, 0 rejected, 0 warnings"],
  });

  terminal.comment("One recording for each test: the plugin for pytest");
  await terminal.run("rm -r fixtures/suite");
  terminal.copyFiles("docs/helpers.md", "pytest.ini", "conftest.py", "tests/test_mountain.py");
  terminal.edit("tests/test_chat.py", "import urllib.request\n", "import urllib.request\n\nimport pytest\n");
  for (const test of ["test_capital", "test_river"]) {
    terminal.edit("tests/test_chat.py", `def ${test}(`, `${MARKED}def ${test}(`);
  }
  goOnline(terminal, api);
  await recordAndCommit(terminal, api, "REPRISE_RECORD=new pytest", {
    ...{ page: "docs/helpers.md", prints: ["4 passed"] },
    ...{ requests: 4, message: "Tests: recorded with reprise" },
  });

  await replayInClone(terminal, api, {
    suite: "pytest",
    install: "npm ci --offline",
    test: "pytest",
    prints: ["4 passed"],
  });

  terminal.comment("A changed prompt fails, with the difference");
  terminal.edit("tests/test_chat.py", "What is the capital of France?", "Name the capital of France.");
  await terminal.run("pytest", {
    code: 1,
    prints: [
      /does not match its recording "fixtures\/tests\/test-capital-[0-9a-f]{8}"/,
      'differs at input: recorded "What is the capital of France?", received "Name the capital of France."',
      "run the test with REPRISE_RECORD=all",
      "1 failed, 3 passed",
    ],
  });
  goOnline(terminal, api);
  await terminal.run("REPRISE_RECORD=all pytest -k test_capital", {
    page: "docs/helpers.md",
    documented: "REPRISE_RECORD=all pytest -k ",
    prints: ["1 passed"],
  });
  api.received(1);
  await terminal.run("git status --short", { prints: [/fixtures\/tests\/test-capital-[0-9a-f]{8}\//] });
  await commit(terminal, "Ask for the capital by another prompt");

  terminal.comment("One more test: only its request goes to the API");
  const added = `\n\n${MARKED}def test_sea():\n    assert "sea" in ask("Name a sea")\n`;
  terminal.edit(
    "tests/test_chat.py",
    'ask("Which river runs through Paris?")\n',
    `ask("Which river runs through Paris?")\n${added}`,
  );
  await recordAndCommit(terminal, api, "REPRISE_RECORD=missing pytest", {
    ...{ page: "README.md", prints: ["5 passed"], requests: 1, message: "Test seas" },
  });
  await goOffline(terminal, api);
  await terminal.run("pytest", { prints: ["5 passed"] });
  api.received(0);
  terminal.cd("..");
}
