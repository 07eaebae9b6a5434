/** `reprise record` in front of a server whose answers no fixture can hold. */
import assert from "node:assert/strict";
import { readFixture } from "../../src/fixture/read.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { answering, COMPLETED, RawUpstream, write } from "../support/raw_upstream.ts";
import { Sandbox } from "../support/reprise.ts";

/** A command that asks once for each input, reports the statuses, and exits with `code`. */
function client(inputs: readonly string[], code = 0): string[] {
  const script = `
    for (const input of ${JSON.stringify(inputs)}) {
      const body = JSON.stringify({ input });
      const response = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", { method: "POST", body });
      await response.text();
      console.log(response.status);
    }
    Deno.exit(${code});`;
  return [Deno.execPath(), "eval", "--quiet", script];
}

Deno.test("an upstream that switches protocols costs record that exchange and its exit code, not the fixture", async () => {
  const whole = answering("200 OK\r\ncontent-type: text/event-stream", COMPLETED);
  await using upstream = new RawUpstream(async (connection, request) => {
    if (!new TextDecoder().decode(request.body).includes("switch")) return await whole(connection, request);
    await write(
      connection,
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
    );
  });
  await using sandbox = new Sandbox();
  const out = `${sandbox.directory}/fixture`;
  const events = `${sandbox.directory}/events`;
  const called = await sandbox.call([
    ...["record", "--upstream", upstream.origin, "--out", out, "--events", events, "--"],
    ...client(["one", "switch", "two"]),
  ]);
  assert.equal(called.stdout, "200\n502\n200\n");
  assert.equal(called.code, 7, called.stderr);
  assert.match(
    called.stderr,
    /not recorded: request 2, POST \/v1\/responses: a fixture cannot hold its method, status/,
  );
  assert.match(called.stderr, /error: Cannot keep 1 exchange: no fixture can hold the answers/);
  const logged = Deno.readTextFileSync(events).trimEnd().split("\n").map((line) => JSON.parse(line));
  const { code } = logged.find(({ type }) => type === "error");
  const { published, unkept, exit_code } = logged.find(({ type }) => type === "record.ended");
  assert.deepEqual([code, published, unkept, exit_code], ["not_kept", 2, 1, 7]);
  assert.equal(readFixture(denoFiles, out).exchanges.length, 2);
  assert.equal((await sandbox.call(["fixture", "lint", out])).code, 0);
  const failed = await sandbox.call([
    ...["record", "--upstream", upstream.origin, "--out", `${out}-failed`, "--"],
    ...client(["switch"], 3),
  ]);
  assert.equal(failed.code, 3, `the code of the command comes first: ${failed.stderr}`);
  assert.match(failed.stderr, /error: Cannot keep 1 exchange/);
});
