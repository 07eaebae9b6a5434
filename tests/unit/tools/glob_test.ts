import assert from "node:assert/strict";
import fc from "fast-check";
import { parseGlob } from "../../../src/tools/glob.ts";
import { test } from "../../support/test.ts";

Deno.test("globs match names and paths as their description says", () => {
  const rows: [pattern: string, path: string, fits: boolean][] = [
    ["*.ts", "a.ts", true],
    ["*.ts", "src/deep/a.ts", true],
    ["*.ts", "a.tsx", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/deep/a.ts", false],
    ["src/**/*.ts", "src/a.ts", true],
    ["src/**/*.ts", "src/x/y/a.ts", true],
    ["src/**/*.ts", "lib/src/a.ts", false],
    ["**/test/**", "a/test/b", true],
    ["**/test/**", "a/testing/b", false],
    ["**", "a/b", true],
    ["./src/*", "src/a", true],
    ["a?c", "abc", true],
    ["a?c", "a/c", false],
    ["*.{ts,tsx}", "x.tsx", true],
    ["*.{ts,tsx}", "x.js", false],
    ["{a,b}/{c,d}", "b/c", true],
    ["{a,b}/{c,d}", "c/b", false],
    // Special in regular expressions, plain here.
    ["a.b", "axb", false],
    ["(x)+", "(x)+", true],
    ["README", "readme", false],
    ["**/a/**/b", "a/a/x/b", true],
  ];
  for (const [pattern, path, fits] of rows) {
    assert.equal(parseGlob(pattern)(path), fits, `${pattern} on ${path}`);
  }
});

Deno.test("a glob has at most 1,024 characters and 64 alternatives, with all its braces", () => {
  const choices = (count: number) => `{${Array.from({ length: count }, (_, index) => index).join(",")}}`;
  assert.ok(parseGlob("a".repeat(1024))("a".repeat(1024)));
  assert.ok(parseGlob(`${choices(8)}${choices(8)}`)("77"));
  for (const pattern of ["a".repeat(1025), choices(65), `${choices(5)}${choices(13)}`]) {
    assert.throws(() => parseGlob(pattern), /^ToolFailure: Cannot match a pattern/);
  }
});

test.long("globs agree with a plain search of all ways to match", () => {
  const letter = fc.constantFrom("a", "b", "*", "?");
  const segment = fc.oneof(
    fc.constant("**"),
    fc.array(letter, { minLength: 1, maxLength: 4 }).map((l) => l.join("")),
  );
  const pattern = fc.array(segment, { minLength: 2, maxLength: 4 }).map((segments) => segments.join("/"));
  const name = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 4 }).map((l) => l.join(""));
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  fc.assert(
    fc.property(pattern, path, (pattern, path) => {
      assert.equal(parseGlob(pattern)(path), slowly(pattern.split("/"), path.split("/")));
    }),
    { numRuns: 5000 },
  );
});

function slowly(segments: readonly string[], names: readonly string[]): boolean {
  const [segment, ...rest] = segments;
  if (segment === undefined) return names.length === 0;
  if (segment === "**" && slowly(rest, names)) return true;
  const [name, ...others] = names;
  if (name === undefined) return false;
  if (segment === "**") return slowly(segments, others);
  return slowlyIn(segment.replace(/\*+/g, "*"), name) && slowly(rest, others);
}

function slowlyIn(pattern: string, name: string): boolean {
  if (pattern === "") return name === "";
  if (pattern[0] === "*") {
    return slowlyIn(pattern.slice(1), name) || (name !== "" && slowlyIn(pattern, name.slice(1)));
  }
  return name !== "" && (pattern[0] === "?" || pattern[0] === name[0]) &&
    slowlyIn(pattern.slice(1), name.slice(1));
}
