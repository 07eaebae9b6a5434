/** Keys of a remote: no command gets them, and whatever masks secrets masks them. */
import assert from "node:assert/strict";
import { bytesBelow } from "../../support/files.ts";
import { S3Server } from "../../support/s3_server.ts";
import { calling, eventsOf, NEW_RUN, read, shellArgv } from "../changes.ts";
import { Place } from "../harness.ts";

/** Values without the shape of a secret: only the names of the variables show that they are secrets. */
const VALUES = {
  AWS_ACCESS_KEY_ID: "plainidofsomebody",
  AWS_SECRET_ACCESS_KEY: "/plain+secret/of/somebody=",
  AWS_SESSION_TOKEN: "plaintokenofsomebody//",
};

function assertNone(text: string, where: string): void {
  for (const [name, value] of Object.entries(VALUES)) {
    for (const form of [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]) {
      assert.ok(!text.includes(form), `${where} holds ${name}`);
    }
  }
}

Deno.test("no command gets a variable of AWS, also while the run saves to a remote", async () => {
  await using server = new S3Server();
  await using place = new Place(calling(shellArgv("env")));
  const more = { AWS_PROFILE: "", AWS_REGION: "xx-plain-1", AWS_ENDPOINT_URL: "http://127.0.0.1:1" };
  const env = { ...server.env, ...more, ...VALUES };
  const called = await place.call([...NEW_RUN, "--allow", "shell", "Go"], { env });
  assert.equal(called.code, 0, called.stdout + called.stderr);
  assert.ok([...server.objects.keys()].some((key) => key.includes("/turns/")), "the run had no remote");
  const [{ status, output }] = eventsOf(place, "tool_result");
  assert.deepEqual([status, /^PATH=/m.test(output), /^AWS_|REPRISE/m.test(output)], ["ok", true, false]);
  for (const [key, bytes] of server.objects) assertNone(new TextDecoder().decode(bytes), key);
  assertNone(called.stdout + called.stderr, "the output");
});

Deno.test("keys of AWS that a tool read are masked in recordings, exports and pages", async () => {
  await using place = new Place(calling(read("notes.txt")));
  const { workspace, directory } = place.sandbox;
  Deno.writeTextFileSync(`${workspace}/notes.txt`, `Found: ${Object.values(VALUES).join(" and ")}\n`);
  const call = async (...args: readonly string[]) => {
    const called = await place.call(args, { env: VALUES });
    assert.equal(called.code, 0, called.stdout + called.stderr);
    return called.stdout;
  };
  await call(...NEW_RUN, "--record", `${directory}/recording`, "Go");
  const [{ output }] = eventsOf(place, "tool_result");
  assert.ok(output.includes(VALUES.AWS_SECRET_ACCESS_KEY), "the tool did not read them");
  for (const [path, bytes] of bytesBelow(`${directory}/recording`)) {
    assertNone(new TextDecoder().decode(bytes), path);
  }
  assertNone(await call("export", "s", "--redact"), "the export");
  assertNone(await call("show", "s", "--redact"), "the text");
  assertNone(await call("show", "s", "--redact", "--json"), "the JSON");
  assertNone(await call("show", "s", "--redact", "--html", "-"), "the page");
  await call("fixture", "lint", `${directory}/recording`);
});
