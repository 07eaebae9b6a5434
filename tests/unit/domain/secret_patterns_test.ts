/** The table of secret shapes, row by row, with everybody who looks for them. */
import assert from "node:assert/strict";
import { oneLine } from "../../../src/apis/message.ts";
import { redactText } from "../../../src/domain/redact.ts";
import { SECRET_PATTERNS, type SecretPattern } from "../../../src/domain/secret_patterns.ts";
import { EXAMPLES } from "./secret_examples.ts";
import { secretValues } from "../../../src/fixture/secrets/secret_values.ts";
import { Scrubber } from "../../../src/fixture/secrets/scrubber.ts";
import { test } from "../../support/test.ts";
import { textSize } from "../../support/scale.ts";

const ROWS = SECRET_PATTERNS.map((row) => ({ kept: [], found: [], ...row, ...EXAMPLES[row.name] }));

const scrubbed = (text: string) => new Scrubber({ values: [] }).text(text);

/** The searches for shapes: each with its redacted text, and the rows that it looks for. */
const SEARCHES: Readonly<
  Record<string, {
    readonly without: (text: string) => string;
    readonly isSought: (row: SecretPattern) => boolean;
  }>
> = {
  "export --redact": {
    without: (text) => redactText(text).text,
    isSought: ({ inMessages }) => inMessages !== true,
  },
  "record, lint and fixture redact": { without: scrubbed, isSought: ({ starts }) => starts.length > 0 },
  "messages of servers": {
    without: oneLine,
    isSought: ({ kind }) => kind === "api_key" || kind === "jwt" || kind === "bearer",
  },
};

/** An example without its marks, and the secret in it. */
function exampleOf(marked: string): { readonly text: string; readonly secret: string } {
  const [, secret = ""] = /«(.*)»/s.exec(marked) ?? [];
  assert.notEqual(secret, "", marked);
  return { text: marked.replaceAll(/[«»]/g, ""), secret };
}

Deno.test("every row has an example, and what names the row says its kind", () => {
  for (const { name, found, kept, kind } of ROWS) {
    assert.ok(found.length > 0 && name !== "", kind);
    assert.ok(kept.every((text) => !/[«»]/.test(text)), name);
  }
});

for (const [who, { without, isSought }] of Object.entries(SEARCHES)) {
  Deno.test(`each secret of the table is found by ${who}`, () => {
    const rows = ROWS.filter(isSought);
    assert.ok(rows.length > 5);
    for (const { name, found } of rows) {
      for (const { text, secret } of found.map(exampleOf)) {
        const rest = without(text);
        for (const word of secret.split(/\s+/)) {
          assert.ok(!rest.includes(word), `${name}: ${text} -> ${rest}`);
        }
      }
    }
  });
}

Deno.test("text that only resembles a secret stays in recordings, exports and messages", () => {
  for (const { kind, name, kept } of ROWS) {
    for (const text of kept) {
      assert.deepEqual(redactText(text), { text, counts: {} }, name);
      assert.equal(scrubbed(text), text, name);
      // Messages lose whatever follows the word bearer.
      if (kind !== "bearer") assert.equal(oneLine(text), text.replaceAll("\n", " ").trim(), name);
    }
  }
});

Deno.test("a variable whose value is an API key, a web token or a private key is secret, whatever its name", () => {
  for (const { kind, inMessages, found } of ROWS) {
    if (inMessages || !["api_key", "jwt", "private_key"].includes(kind)) continue;
    for (const { text, secret } of found.map(exampleOf)) {
      const value = kind === "private_key" ? text.trim() : secret;
      assert.deepEqual(secretValues({ WHATEVER: value }), [{ name: "WHATEVER", value }]);
    }
  }
});

test.long("no search takes more than linear time for 1 MiB, in the gate 256 KiB, of any beginning of a secret", () => {
  const pieces = new Set(ROWS.flatMap(({ starts, found }) => [
    starts[0]?.map((set) => set[0]).join("") ?? "",
    ...found.slice(0, 1).map(exampleOf).flatMap(({ text, secret }) => {
      const at = text.indexOf(secret);
      return [text.slice(0, at + 3), text.slice(Math.max(0, at - 3), at + secret.length - 1)];
    }),
  ]));
  for (const piece of pieces) {
    if (piece === "") continue;
    const text = piece.repeat(Math.ceil(textSize(1_048_576) / piece.length));
    for (const [who, { without }] of Object.entries(SEARCHES)) {
      const start = performance.now();
      without(text);
      const took = performance.now() - start;
      assert.ok(took < textSize(20_000), `${who}: ${JSON.stringify(piece)} took ${Math.round(took)} ms`);
    }
  }
});
