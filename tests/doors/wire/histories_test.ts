/** Turns on disk and the request that follows from them; also those that older versions wrote. */
import assert from "node:assert/strict";
import { bytesBelow, type Json } from "../../support/files.ts";
import { ID, type SessionHome, withHome } from "../sessions/home.ts";
import { REFUSED, SHORTER } from "./changed_histories.ts";
import { HISTORIES, type History } from "./histories.ts";
import { CLAUDE_HISTORIES } from "./histories_of_claude.ts";
import { brokenRules, historyOf, KEYS, nextRequest } from "./next_request.ts";

const ROWS: Readonly<Record<string, History>> = { ...HISTORIES, ...SHORTER, ...REFUSED, ...CLAUDE_HISTORIES };

for (const [name, { turns, to = {}, prompt = "Go on", sent, left = "" }] of Object.entries(ROWS)) {
  withHome(name, async (home) => {
    home.session(turns);
    const { provider = "openai", isPaused = false, flags: more = [] } = to;
    const { model = provider === "anthropic" ? "claude-opus-5" : "gpt-5.6" } = to;
    const flags = ["-p", provider, "-m", model, ...more];
    const words = prompt === null ? [] : [prompt];
    const body = JSON.parse(await nextRequest(home, [...flags, ...words], { isPaused }));
    assert.equal(
      historyOf(body),
      [sent, ...words.map((text) => `user: ${text}`)].filter((part) => part !== "").join(" | "),
    );
    const explained = await home.call(["explain", ID, "--json", ...flags], { env: KEYS });
    const { reasoning, dropped, repairs } = JSON.parse(explained.stdout);
    const why = [...reasoning, ...dropped].toSorted((a, b) => a.seq - b.seq).map(({ reason }) => reason);
    assert.equal(
      [...why, ...repairs.map(({ kind }: Json) => kind)].filter((reason) => reason !== null).join(", "),
      left,
    );
  });
}

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

/** The history in a request, as text. */
const inputOf = (body: string) => body.slice(body.indexOf('"input":['));

for (const name of ["plain", "reasoning"]) {
  withHome(`the golden session "${name}" gives the requests that it always gave`, async (home) => {
    const request = golden(home, name);
    assert.deepEqual(brokenRules(JSON.parse(request)), []);
    // The reasoning of the other one is of an endpoint that has no URL.
    if (name === "plain") assert.equal(inputOf(await nextRequest(home, [], { id: name })), inputOf(request));
    const { sessions: [{ requests }] } = await home.json(["fsck", name, "--requests"]);
    assert.ok(requests.length >= 4);
    assert.deepEqual(new Set(requests.map(({ verdict }: Json) => verdict)), new Set(["same"]));
  });
}

withHome("a session without reasoning gives the same request in every mode of replay", async (home) => {
  const request = golden(home, "plain");
  for (const mode of ["family", "none", "last:0"]) {
    const next = await nextRequest(home, ["--replay", mode], { id: "plain" });
    assert.equal(inputOf(next), inputOf(request), mode);
  }
});
