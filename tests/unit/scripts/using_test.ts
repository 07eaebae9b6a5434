import assert from "node:assert/strict";
import { textsBelow } from "../../support/files.ts";

/** The rest of the block that holds `at`. */
function restOfBlock(text: string, at: number): string {
  let depth = 0;
  for (let end = at; end < text.length; end++) {
    if (text[end] === "{") depth++;
    else if (text[end] === "}" && --depth < 0) return text.slice(at, end);
  }
  return text.slice(at);
}

/** The declarations with `using` whose value is used once: the bundler of the executable inlines it, and closes nothing. */
function lost(text: string): string[] {
  return [...text.matchAll(/\busing (\w+) = [^;]*;/g)].flatMap(({ 0: declaration, 1: name = "", index }) => {
    const rest = restOfBlock(text, index + declaration.length);
    return rest.match(new RegExp(`\\b${name}\\b`, "g"))?.length === 1 ? [declaration] : [];
  });
}

Deno.test("no value that is declared with using is used once: minified, it would never be closed", () => {
  for (const [path, text] of textsBelow("src")) assert.deepEqual(lost(text), [], path);
  assert.deepEqual(lost("{ using file = open(); return file.size; }").length, 1);
  assert.deepEqual(lost("{ using file = open(); file.a(); return file.size; }").length, 0);
});
