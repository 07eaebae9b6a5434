/** `fsck` of a session that is long enough for a second thread, in the program itself. */
import assert from "node:assert/strict";
import { openHome } from "../../../src/store/home.ts";
import { createLongSession } from "../../support/long_session.ts";
import { Sandbox } from "../../support/reprise.ts";
import { ID, testPorts } from "../../unit/store/support.ts";

Deno.test("fsck of thousands of turns finds an edited turn, and prints nothing else", async () => {
  await using place = new Sandbox();
  const paths = await createLongSession(openHome(testPorts(), place.home, { create: true }), 6000);
  const sound = await place.call(["fsck", ID]);
  assert.deepEqual({ code: sound.code, stderr: sound.stderr }, { code: 0, stderr: "" });
  const edited = paths[5000 - 1] as string;
  Deno.writeTextFileSync(edited, Deno.readTextFileSync(edited).replace("is done", "is open"));
  const { code, stdout, stderr } = await place.call(["fsck", ID, "--json"]);
  assert.equal(stderr, "");
  assert.equal(code, 12);
  const [session] = JSON.parse(stdout).sessions;
  const codes = session.findings.map(({ code, turn }: { code: string; turn?: number }) => [code, turn]);
  assert.deepEqual(codes.slice(0, 1), [["bad_sum", 5000]]);
});
