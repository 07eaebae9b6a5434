/** The rehearsal ends at the first command that does not do what is expected, and shows its output. */
import assert from "node:assert/strict";
import { KEY, StoppableApi } from "../../../scripts/rehearsal/api.ts";
import { requireText, UserTerminal } from "../../../scripts/rehearsal/terminal.ts";
import { test } from "../../support/test.ts";

function terminal(): UserTerminal {
  return new UserTerminal("/", { PATH: "/usr/bin:/bin" }, () => {});
}

test.long("a command with another exit code is an error with its output", async () => {
  await assert.rejects(
    terminal().run("echo out; echo err >&2; exit 3"),
    /"echo out.*" ended with exit code 3, not 0\n\nout\nerr\n/,
  );
  await assert.rejects(terminal().run("true", { code: 1 }), /ended with exit code 0, not 1/);
  await terminal().run("exit 3", { code: 3 });
});

test.long("a command that does not print what is expected is an error with its output", async () => {
  await assert.rejects(
    terminal().run("echo 1 failed", { prints: ["2 passed"] }),
    /did not print 2 passed\n\n1 failed/,
  );
  await assert.rejects(
    terminal().run("echo 1 failed", { prints: [/\d passed/] }),
    /did not print \/\\d passed\//,
  );
  await terminal().run("echo 2 passed >&2", { prints: ["2 passed", /\d passed/] });
});

test.long("a command that its page does not have is an error, and does not run", async () => {
  const user = terminal();
  const page = "docs/npm.md";
  await assert.rejects(
    user.run("true --no-such-flag", { page }),
    /docs\/npm\.md does not contain "true --no-such-flag"/,
  );
  assert.equal(user.commands, 0);
  await user.run("true", { page, documented: "npx --no-install reprise --version" });
  assert.equal(user.commands, 1);
  assert.throws(() => requireText(page, "no such text"), /does not contain/);
});

Deno.test("the API counts its requests, and is at the same address after a stop", async () => {
  await using api = new StoppableApi();
  const ask = async () => {
    const body = JSON.stringify({ model: "gpt-5.6", input: "Which river?", store: false });
    const headers = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
    return await (await fetch(`${api.baseUrl}/responses`, { method: "POST", headers, body })).text();
  };
  api.start();
  assert.match(await ask(), /The Seine\./);
  assert.throws(() => api.received(2), /the API received 1 request, not 2/);
  api.received(0);
  await api.stop();
  await assert.rejects(ask());
  api.start();
  assert.match(await ask(), /The Seine\./);
  api.received(1);
});
