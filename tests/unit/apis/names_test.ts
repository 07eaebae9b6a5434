import assert from "node:assert/strict";
import { wireCallId, wireToolName } from "../../../src/apis/names.ts";

Deno.test("a call id that an API takes does not change, any other becomes an accepted id, always the same one", () => {
  for (const id of ["toolu_01A", "call-9", "x".repeat(64)]) assert.equal(wireCallId(id), id);
  // sha256("functions.ls:0") and sha256("") by another tool.
  assert.equal(wireCallId("functions.ls:0"), "call_dd50e5a0d88a2b9758e1a5f1");
  assert.equal(wireCallId(""), "call_e3b0c44298fc1c149afbf4c8");
  for (const id of ["x".repeat(65), "a b", "ä", "toolu_1\n"]) {
    assert.match(wireCallId(id), /^call_[0-9a-f]{24}$/);
  }
});

Deno.test("a tool name that an API takes does not change, any other becomes an accepted name", () => {
  const rows: [string, string][] = [
    ["read_file-2", "read_file-2"],
    ["functions.ls", "functions_ls"],
    ["a b/ü", "a_b__"],
    ["😀", "_"],
    ["x".repeat(70), "x".repeat(64)],
    ["", "unknown"],
  ];
  for (const [name, expected] of rows) assert.equal(wireToolName(name), expected);
});
