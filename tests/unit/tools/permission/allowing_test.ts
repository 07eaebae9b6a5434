import assert from "node:assert/strict";
import { allowingValue } from "../../../../src/tools/permission/allowing.ts";
import { judgePermission, parsePolicy } from "../../../../src/tools/permission/policy.ts";
import { commandLine, shellWords } from "../../../../src/tools/permission/shell_words.ts";
import { TOOL_GROUPS } from "../../../../src/tools/registry.ts";
import type { CallSubject } from "../../../../src/tools/tool.ts";

const policyOf = (deny: readonly string[] = [], allow: readonly string[] = []) =>
  parsePolicy({ allow, deny, ask: false, tools: TOOL_GROUPS });

const command = (...argv: readonly string[]): CallSubject => ({
  tool: "shell",
  group: "shell",
  target: { kind: "command", argv, line: commandLine(argv) },
});
const line = (text: string): CallSubject => ({
  tool: "shell",
  group: "shell",
  target: { kind: "command", argv: shellWords(text), line: text },
});
const edit = (path: string): CallSubject => ({
  tool: "edit_file",
  group: "write",
  target: { kind: "path", path },
});

const SUBJECTS: readonly CallSubject[] = [
  command("git", "status"),
  command("git", "commit", "-m", 'it\'s a "test" of * and $HOME'),
  command("echo", "a\nb", "", "**"),
  line("ls | wc"),
  edit("src/a.ts"),
  edit("a b.txt"),
  edit("odd[1]{a,b}*?.txt"),
  edit("back\\slash"),
  edit("a, b"),
  edit("name:colon"),
];

Deno.test("the value allows the call that was denied", () => {
  for (const subject of SUBJECTS) {
    const value = allowingValue(policyOf(), subject);
    assert.ok(value !== null, JSON.stringify(subject));
    assert.equal(judgePermission(policyOf([], [value]), subject, false).decision, "allow", value);
  }
});

Deno.test("the value is as narrow as a pattern can be, and never means another path", () => {
  assert.equal(allowingValue(policyOf(), command("git", "status")), "shell:git status");
  assert.equal(allowingValue(policyOf(), edit("src/a.ts")), "write:src/a.ts");
  assert.equal(allowingValue(policyOf(), line("ls | wc")), "shell");
  assert.equal(allowingValue(policyOf(), edit("a*.txt")), "write");
  // A pattern without a slash is compared with the last name, in any directory.
  assert.equal(allowingValue(policyOf(), edit("a.txt")), "write:a.txt");
});

Deno.test("no value allows what a rule denies", () => {
  assert.equal(allowingValue(policyOf(["shell:git **"]), command("git", "status")), null);
  assert.equal(allowingValue(policyOf(["shell:git **"]), line("ls | wc")), null);
  assert.equal(allowingValue(policyOf(["write:src"]), edit("src/a.ts")), null);
});
