/** Reasoning goes to its origin: the endpoint of its turn by the hash in docs/format.md, and its model or the model's family. */
import { sha256 } from "../../support/files.ts";
import assert from "node:assert/strict";
import { ID, type SessionHome, withHome } from "./home.ts";
import {
  call,
  ended,
  FINGERPRINT,
  type GivenTurn,
  message,
  model,
  PINS,
  reasoning,
  results,
  user,
} from "./session_files.ts";

const KEY = { OPENAI_API_KEY: "sk-test-1" };

/** A session whose reasoning is of this model and endpoint. */
function thinking(asked: string, endpoint: object = {}): readonly GivenTurn[] {
  const fingerprint = { ...FINGERPRINT, ...endpoint };
  const members = { model: { asked, answered: asked }, fingerprint };
  return [
    { ...user("Read it."), pins: { ...PINS, model: asked, fingerprint } },
    model([reasoning("rs_1"), call("call_a")], 1, members),
    results({ call_a: 3 }),
    model([message("msg_1", "Done.")], 1, members),
    ended(),
  ];
}

/** Returns true if the next request with these flags holds the reasoning. */
async function sendsIt(home: SessionHome, ...flags: string[]): Promise<boolean> {
  const { code, stdout } = await home.call(["run", "--dry-run", "--body", "-s", ID, ...flags, "Go on"], {
    env: KEY,
  });
  assert.equal(code, 0, stdout);
  return stdout.includes('"encrypted_content":"gAAAA"');
}

/** Base URLs, and whether they are the endpoint of that text, or of another one. */
const SAME: readonly (readonly [url: string, hashed: string, same: boolean])[] = [
  ["https://API.OpenAI.com/v1/", "https://api.openai.com/v1", true],
  ["https://api.openai.com:443/v1", "https://api.openai.com/v1", true],
  ["https://api.openai.com:8443/v1", "https://api.openai.com/v1", false],
  ["https://api.openai.com/v2", "https://api.openai.com/v1", false],
  ["http://127.0.0.1:8001/v1", "http://127.0.0.1:9/v1", false],
  // An endpoint of an earlier version, whose port is unknown.
  ["http://127.0.0.1:8001/v1", "http://127.0.0.1/v1", true],
  ["http://localhost:9/v1", "http://127.0.0.1/v1", false],
];

for (const [url, hashed, same] of SAME) {
  withHome(`${url} is ${same ? "" : "not "}the endpoint of ${hashed}`, async (home) => {
    home.session(thinking("gpt-5.6", { endpoint: sha256(hashed).slice(0, 8) }));
    assert.equal(await sendsIt(home, "-m", "gpt-5.6", "--base-url", url), same);
  });
}

for (
  const url of ["api.openai.com", "ftp://x/v1", "https://u:p@x/v1", "https://x/v1?k=1", "https://x/v1#f"]
) {
  withHome(`a base URL that could leak or mislead is refused: ${url}`, async (home) => {
    home.session();
    const flags = ["-s", ID, "-m", "gpt-5.6", "--base-url", url];
    assert.equal((await home.json(["run", "--dry-run", ...flags, "Go on"], 2)).code, "bad_url");
  });
}

/** Models, and whether they are of one family. */
const FAMILIES: readonly (readonly [of: string, now: string, same: boolean])[] = [
  ["gpt-5.6", "GPT-5.6", true],
  ["gpt-5.6", "gpt-5.6-mini", true],
  // A dated snapshot is one of its family.
  ["gpt-5.6-mini", "gpt-5.6-2026-08-01", true],
  ["o3", "o3-mini", true],
  // A newer number is another family, not one of the older name.
  ["gpt-5", "gpt-5.6", false],
  ["gpt-5", "gpt-50", false],
  ["gpt-5.6", "my-gpt-5.6", false],
  ["gpt-4.1", "gpt-4.1-mini", false],
];

for (const [of, now, same] of FAMILIES) {
  withHome(
    `${now} is ${same ? "" : "not "}of the family of ${of}, and only --replay family asks`,
    async (home) => {
      home.session(thinking(of));
      assert.equal(await sendsIt(home, "-m", now, "--replay", "family"), same);
      assert.equal(await sendsIt(home, "-m", now), of.toLowerCase() === now.toLowerCase() && of === now);
      assert.equal(await sendsIt(home, "-m", of), true);
    },
  );
}
