import assert from "node:assert/strict";
import { secretEnvironment } from "../../src/cli/secret_environment.ts";

const NAME = "SOMEBODYS_UNLISTED_TOKEN";
const VALUE = "line one 1\nline=two 2 é";

/** The values found under the name, while it is set. */
async function found(programs?: readonly string[]) {
  Deno.env.set(NAME, VALUE);
  try {
    const { values, whole } = await secretEnvironment(programs);
    return { found: values.filter(({ name }) => name === NAME).map(({ value }) => value), whole };
  } finally {
    Deno.env.delete(NAME);
  }
}

Deno.test("secrets are read from the whole environment, lines and equals signs included", async () => {
  assert.deepEqual(await found(), { found: [VALUE], whole: true });
});

Deno.test("a secret of the environment that is too short to be looked for is named", async () => {
  Deno.env.set("SOMEBODYS_PASSWORD", "hunter2");
  try {
    const { values, tooShort } = await secretEnvironment();
    assert.equal(values.some(({ name }) => name === "SOMEBODYS_PASSWORD"), false);
    assert.equal(tooShort.includes("SOMEBODYS_PASSWORD"), true);
    assert.equal(tooShort.includes(NAME), false);
  } finally {
    Deno.env.delete("SOMEBODYS_PASSWORD");
  }
});

Deno.test("where no program can print the environment, what is visible counts and that is said", async () => {
  assert.deepEqual(await found(["/nowhere/env", "/bin/false"]), { found: [VALUE], whole: false });
});
