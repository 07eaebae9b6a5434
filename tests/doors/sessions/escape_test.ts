/** Ids and names lead nowhere outside the home: not in arguments, not on disk. */
import { said } from "../../support/reprise.ts";
import assert from "node:assert/strict";
import { bytesBelow, type Json } from "../../support/files.ts";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { Dice } from "../../support/dice.ts";
import { ID, SessionHome, withHome } from "./home.ts";
import { ended, FIVE_TURNS, model, user } from "./session_files.ts";

/** Values that attackers and accidents write in place of an id. */
const CORPUS = [
  ...[
    "..",
    ".",
    "",
    "/",
    "../../etc/passwd",
    "..\\..\\x",
    "a\u0000b",
    "/etc/passwd",
    "C:\\x",
    "nul.txt",
    "a.",
  ],
  ...[
    " a",
    "a".repeat(300),
    "\uff41",
    "e\u0301",
    "%2e%2e%2f",
    "~",
    "$HOME",
    "@first",
    ".new-1-abc",
    "a\nb",
    "Fix",
  ],
  ...[".new-1-abc/../../x", "turns/000001.json", `${ID}/..`, `${ID}/../../../outside`, "../../outside"],
];
const PARTS = ["a", "0", "-", ".", "/", "\\", "\u0000", ":", "A", "..", "outside", "../", ID, ...CORPUS];
/** Verbs that are given an id: `show` reads files too. */
const VERBS = [
  "fsck",
  "repair",
  "export",
  "fork",
  "rm --yes",
  "interrupt",
  "compact --undo",
  "omit --undo",
  "explain",
]
  .concat("run --dry-run -m m -s").map((verb) => verb.split(" "));

test.long(`${samples(10_000)} generated ids lead nowhere outside the home, whatever the verb`, async () => {
  await using home = new SessionHome();
  home.session();
  const outside = home.session([user("TOP SECRET"), model([]), ended()], "outside");
  Deno.renameSync(outside.path, `${home.directory}/outside`);
  const before = bytesBelow(home.directory, "lock");
  const dice = new Dice(6);
  for (let count = 0; count < samples(10_000); count++) {
    const parts = Array.from({ length: dice.count(1, 4) }, () => dice.pick(PARTS));
    const id = count < CORPUS.length ? CORPUS[count] as string : parts.join("");
    if (ID.startsWith(id) && id !== "") continue;
    const verb = dice.pick(VERBS);
    const called = await home.call([...verb, "--json", ...verb.at(-1) === "-s" ? [id, "Go on"] : ["--", id]]);
    const where = `${verb} ${JSON.stringify(id)}: ${said(called)}`;
    assert.equal(called.code, 2, where);
    assert.match(JSON.parse(called.stdout).code, /^(bad_session_id|no_such_session|usage)$/, where);
    assert.doesNotMatch(said(called), /TOP SECRET/);
  }
  assert.deepEqual(bytesBelow(home.directory, "lock"), before);
});

withHome("an id has letters, digits and dashes, and at most 64 of them", async (home) => {
  for (const id of ["a", "0", "con", "fix-ci-7k2m", "a".repeat(64)]) {
    home.session(FIVE_TURNS, id);
    assert.deepEqual(await home.findings(id), [], id);
  }
  const { code } = await home.json(["fsck", "a".repeat(65)], 2);
  assert.equal(code, "bad_session_id");
});

withHome("foreign names among the sessions are not touched, links among them", async (home) => {
  home.session();
  const sessions = `${home.home}/sessions`;
  Deno.mkdirSync(`${home.directory}/precious`);
  Deno.writeTextFileSync(`${home.directory}/precious/file`, "precious");
  for (const name of [".new-1-abc", ".removed-1-abc", "linked"]) {
    Deno.symlinkSync(`${home.directory}/precious`, `${sessions}/${name}`);
  }
  for (const name of ["UPPER", "a.b", ".new-x", ".removed-1-", "with space"]) {
    Deno.mkdirSync(`${sessions}/${name}`);
  }
  const before = home.names();
  const { removed, skipped } = await home.json(["rm", "--unused"], 12, 0);
  assert.deepEqual(removed, []);
  assert.deepEqual(skipped.map(({ path }: Json) => path), [".new-1-abc", ".removed-1-abc", "linked"]);
  assert.equal((await home.json(["rm", "linked", "--yes"], 12)).code, "session_damaged");
  assert.deepEqual(home.names(), before);
  assert.equal(Deno.readTextFileSync(`${home.directory}/precious/file`), "precious");
});
