import assert from "node:assert/strict";
import { secretEnvironment } from "../../../src/cli/secret_environment.ts";

const NAME = "SOMEBODYS_UNLISTED_TOKEN";
const VALUE = "line one 1\nline=two 2 é";

Deno.test("secrets are read from the whole environment, lines and equals signs included", () => {
  Deno.env.set(NAME, VALUE);
  try {
    const found = secretEnvironment().values.filter(({ name }) => name === NAME);
    assert.deepEqual(found.map(({ value }) => value), [VALUE]);
    const open = secretEnvironment([NAME]).values.filter(({ name }) => name === NAME);
    assert.deepEqual(open.map(({ isOpen }) => isOpen), [true]);
  } finally {
    Deno.env.delete(NAME);
  }
});

Deno.test("a secret of the environment that is too short to be looked for is named", () => {
  Deno.env.set("SOMEBODYS_PASSWORD", "hunter2");
  try {
    const { values, tooShort } = secretEnvironment();
    assert.equal(values.some(({ name }) => name === "SOMEBODYS_PASSWORD"), false);
    assert.equal(tooShort.includes("SOMEBODYS_PASSWORD"), true);
    assert.equal(tooShort.includes(NAME), false);
  } finally {
    Deno.env.delete("SOMEBODYS_PASSWORD");
  }
});
