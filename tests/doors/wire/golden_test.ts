/** Sessions that older versions wrote: each of their requests is built again, byte for byte. */
import { said } from "../../support/reprise.ts";
import assert from "node:assert/strict";
import { bytesBelow, type Json } from "../../support/files.ts";
import { type SessionHome, withHome } from "../sessions/home.ts";
import { brokenResponsesRules } from "../../support/scripted_api/judge.ts";

const GOLDEN = new URL("../../../fixtures/golden/turn-1/", import.meta.url).pathname;

/** Copies a golden session into a home; returns the next request that it always gave. */
function golden(home: SessionHome, name: string): string {
  for (const [path, bytes] of bytesBelow(`${GOLDEN}/${name}`)) {
    const file = `${home.home}/sessions/${name}/${path}`;
    Deno.mkdirSync(file.slice(0, file.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    if (path !== "request.json") Deno.writeFileSync(file, bytes, { mode: 0o600 });
  }
  return Deno.readTextFileSync(`${GOLDEN}/${name}/request.json`);
}

/** The history of the next request, as text. */
async function nextInput(home: SessionHome, name: string, ...flags: readonly string[]): Promise<string> {
  const env = { OPENAI_API_KEY: "sk-1" };
  const called = await home.call(["run", "--dry-run", "--body", "-s", name, ...flags], { env });
  assert.equal(called.code, 0, said(called));
  return inputOf(called.stdout);
}

const inputOf = (body: string) => body.slice(body.indexOf('"input":['));

for (const name of ["plain", "reasoning"]) {
  withHome(`the golden session "${name}" gives the requests that it always gave`, async (home) => {
    const request = golden(home, name);
    assert.deepEqual(brokenResponsesRules(JSON.parse(request)), []);
    // The reasoning of the other one is of an endpoint that has no URL.
    if (name === "plain") assert.equal(await nextInput(home, name), inputOf(request));
    const { sessions: [{ requests }] } = await home.json(["fsck", name, "--requests"]);
    assert.ok(requests.length >= 4);
    assert.deepEqual(new Set(requests.map(({ verdict }: Json) => verdict)), new Set(["same"]));
  });
}

withHome("a session without reasoning gives the same request in every mode of replay", async (home) => {
  const request = golden(home, "plain");
  for (const mode of ["family", "none", "last:0"]) {
    assert.equal(await nextInput(home, "plain", "--replay", mode), inputOf(request), mode);
  }
});
