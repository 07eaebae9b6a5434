/** The one list of names of secrets, with everything that decides by it. */
import assert from "node:assert/strict";
import { redactText } from "../../../src/domain/redact.ts";
import { NAME_EXAMPLES } from "../../../src/domain/secret_names.ts";
import { createScrubber } from "../../../src/fixture/secrets/scrubber.ts";
import { secretsOfHeader } from "../../../src/fixture/secrets/secret_values.ts";

const VALUE = "Ab12cd34Ef56";
/** Ends of names in bodies that have an anchor in the search. */
const ANCHORED =
  /(?:token|secret|password|passwd|passphrase|(?:api|account|access|secret|private|[_-])key)$/i;

/** A name as a header, a member of JSON, a parameter, and in an export: true where its value is gone. */
const PLACES: Readonly<Record<string, (name: string) => boolean>> = {
  header: (name) => secretsOfHeader(name, VALUE).length > 0,
  member: (name) => !createScrubber({ values: [] }).text(`{"${name}":"${VALUE}"}`).includes(VALUE),
  escaped: (name) =>
    !createScrubber({ values: [] }).text(`{"a":"{\\"x\\":1,\\n\\"${name}\\":\\"${VALUE}\\"}"}`).includes(
      VALUE,
    ),
  parameter: (name) => !createScrubber({ values: [] }).path(`/v1/a?${name}=${VALUE}`).includes(VALUE),
  export: (name) => !redactText(`{"${name}":"${VALUE}"}`).text.includes(VALUE),
};

for (const [place, isGone] of Object.entries(PLACES)) {
  Deno.test(`a name is that of a secret only by its whole last words: as a ${place}`, () => {
    for (const name of NAME_EXAMPLES.secret) {
      if (place === "header" || place === "parameter" || ANCHORED.test(name)) assert.ok(isGone(name), name);
    }
    for (const name of NAME_EXAMPLES.other) {
      // A key alone is one in a header and a query.
      if (name !== "key") assert.ok(!isGone(name), name);
    }
  });
}

Deno.test("a password in JSON is replaced whatever it is, and what stands for one stays", () => {
  const scrubbed = (text: string) => createScrubber({ values: [] }).text(text);
  for (const value of ["hunter2", "correct horse", "geheim", 'a\\"b', "pässwörd1", "x y.z"]) {
    const text = `{"password":"${value}","a":"${value}"}`;
    const after = scrubbed(text);
    assert.equal(new TextEncoder().encode(after).length, new TextEncoder().encode(text).length);
    assert.ok(!after.startsWith(`{"password":"${value}`) && after.endsWith(`,"a":"${value}"}`), after);
    JSON.parse(after);
  }
  const kept = [
    "Password",
    "your password",
    "string",
    "********",
    "<password>",
    "${DB_PASSWORD}",
    "required",
    "",
  ];
  for (const value of kept) {
    const text = `{"password":"${value}"}`;
    assert.equal(scrubbed(text), text);
  }
});

Deno.test("the value of a header that the body shows as its model, or that is the host, is no secret", () => {
  const body = new TextEncoder().encode('{"model": "gpt-5.2_2025"}');
  const scrubber = createScrubber({ values: [] });
  const headers = [["x-auth-token", "gpt-5.2_2025"], ["x-host-token", "a.example:8080"], [
    "x-api-key",
    VALUE,
  ]] as const;
  scrubber.learnHeaders(headers, { host: "a.example:8080", bodies: [body] });
  assert.deepEqual(scrubber.known.map(({ value }) => value), [VALUE]);
});
