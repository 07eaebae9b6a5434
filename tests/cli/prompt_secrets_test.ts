/** Secrets of a prompt that names of the session are made of: its id and its title. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { HELLO, Place } from "./harness.ts";

const TOKEN = "k7f3q9x2m5v8b1n4w6z0t2";
/** Looks like a secret, and is in no variable. */
const LOOKS = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
const env = { DEPLOY_TOKEN: TOKEN, DEPLOY_SECRETS: '{"password":"plum tree","user":"me"}' };

/** A secret that is a part of a variable's value. */
const PASSWORD = "plum tree";

for (
  const [what, secret] of [
    ["a secret of the environment", TOKEN],
    ["what looks like a secret", LOOKS],
    ["a part of a variable", PASSWORD],
  ]
) {
  test(`the id of a new session has no part of ${what} in its prompt`, async () => {
    await using place = new Place(() => HELLO);
    const { code, stdout } = await place.call(["run", "--json", `${secret} is refused, why?`], { env });
    assert.equal(code, 0, stdout);
    const names = [...Deno.readDirSync(`${place.sandbox.home}/sessions`)].map(({ name }) => name);
    assert.match(names.join(), /^is-refused-why-[2-9a-z]{4}$/);
    const redacted = await place.call(["export", names[0] as string, "--redact", "-"], { env });
    assert.equal(redacted.code, 0, redacted.stderr);
    assert(!redacted.stdout.includes(secret as string));
  });
}

test("a redacted export shows no beginning of a secret that the title cuts", async () => {
  await using place = new Place(() => HELLO);
  const prompt = `${"w".repeat(59)} ${TOKEN}`;
  const called = await place.call(["run", "--json", "--new", "-s", "cut", prompt], { env });
  assert.equal(called.code, 0, called.stdout);
  const beginning = TOKEN.slice(0, 8);
  const file = `${place.sandbox.directory}/cut.jsonl`;
  assert.equal((await place.call(["export", "cut", file, "--redact"], { env })).code, 0);
  for (const flags of [[], ["--json"], ["--markdown"], ["--html", "-"]]) {
    const shown = await place.call(["show", file, ...flags]);
    assert.equal(shown.code, 0, shown.stderr);
    assert(shown.stdout.includes("wwww"), shown.stdout);
    assert(!shown.stdout.includes(beginning), flags.join());
  }
});

test.process("a variable that is not UTF-8 is named, and its value is not printed", async () => {
  await using place = new Place(() => HELLO);
  for (const args of [["run", "--json", "--new", "hi"], ["doctor"], ["ls", "--json"]]) {
    const broken = ["sh", "-c", `OPENAI_API_KEY=$(printf 'sk-hidden-1234\\351') exec "$@"`, "sh"];
    const { code, stdout, stderr } = await place.call(args, { through: broken });
    const said = stdout + stderr;
    assert(!said.includes("sk-hidden"), said);
    if (args[0] === "run") {
      assert.equal(code, 2);
      assert.match(said, /Cannot read the variable OPENAI_API_KEY: its value is not UTF-8/);
    }
  }
});
