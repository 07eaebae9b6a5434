/** docs/start-tests.md does what it says, with pytest, and with vitest and the official SDK. */
import assert from "node:assert/strict";
import { lacksPython, needing } from "../support/needs.ts";
import { ApiProject } from "../support/api_project.ts";
import { answer, message } from "../support/responses_server.ts";
import { installed, LACKS_AGENTS, pathWith } from "./npm_packages.ts";

const PACKAGES = ["vitest@4.1.12", "openai@6.49.0"];

Deno.test({
  ...needing(
    "the blocks of docs/start-tests.md run in order, print what the page shows, and replay without a key",
    LACKS_AGENTS,
    await lacksPython("pytest"),
  ),
  async fn() {
    await using project = new ApiProject(({ body }) =>
      answer([message(JSON.stringify(body).includes("river") ? "The Seine." : "Paris.")])
    );
    project.path = await pathWith(PACKAGES);
    Deno.symlinkSync(await installed(PACKAGES), `${project.workspace}/node_modules`);
    await project.runPage("docs/start-tests.md", {
      env: (script) =>
        script.startsWith("reprise serve")
          ? { OPENAI_API_KEY: "", OPENAI_BASE_URL: "", HTTPS_PROXY: "http://127.0.0.1:9" }
          : {},
    });
    assert.equal(project.server.requests.length, 4, "two tests, one changed prompt, one test of vitest");
  },
});
