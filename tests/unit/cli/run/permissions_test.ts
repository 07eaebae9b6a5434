/** The calls that a run may make under each posture, and the tools that it offers. */
import assert from "node:assert/strict";
import { edit, EVERYTHING, read, shellArgv, shellLine, write } from "../../../support/calls.ts";
import { type GivenRun, PlayedSession } from "../../../support/played_session.ts";
import { answer, message } from "../../../support/responses_server.ts";
import { httpError } from "../../../support/responses_server/faults.ts";
import type { ScriptedItem } from "../../../support/responses_server/script.ts";
import { test } from "../../../support/test.ts";

const FILES = { "a.txt": "alpha\nbeta\n" };
const HELLO = answer([message("Hello.")]);
const READING = ["read_file", "list_files", "search_text"];
const WRITING = ["write_file", "edit_file"];
const ALL = [...READING, ...WRITING, "shell"];

interface Posture {
  readonly flags: readonly string[];
  readonly calls: readonly ScriptedItem[];
  /** The tools in the request. */
  readonly offered: readonly string[];
  /** A line for each decision on disk, which reading needs only if it is denied: `TOOL: DECISION, REASON (RULE)`. */
  readonly decisions: readonly string[];
  /** The files in the workspace afterwards. @default {["a.txt"]} */
  readonly files?: readonly string[];
}

/** By the promise. */
const POSTURES: Readonly<Record<string, Posture>> = {
  "without flags a run reads and changes nothing": {
    flags: [],
    calls: [...EVERYTHING, read("a.txt")],
    offered: READING,
    decisions: [
      "write_file: denied, not_allowed",
      "edit_file: denied, not_allowed",
      "shell: denied, not_allowed",
    ],
  },
  "--allow takes a group of tools": {
    flags: ["--allow", "write"],
    calls: EVERYTHING,
    offered: [...READING, ...WRITING],
    decisions: [
      "write_file: allowed, allowed_by_rule (write)",
      "edit_file: allowed, allowed_by_rule (write)",
      "shell: denied, not_allowed",
    ],
    files: ["a.txt", "new.txt"],
  },
  "--allow takes one tool": {
    flags: ["--allow", "edit_file"],
    calls: EVERYTHING,
    offered: [...READING, "edit_file"],
    decisions: [
      "write_file: denied, not_allowed",
      "edit_file: allowed, allowed_by_rule (edit_file)",
      "shell: denied, not_allowed",
    ],
  },
  "--allow takes a list with commas": {
    flags: ["--allow", "write,shell"],
    calls: EVERYTHING,
    offered: ALL,
    decisions: [
      "write_file: allowed, allowed_by_rule (write)",
      "edit_file: allowed, allowed_by_rule (write)",
      "shell: allowed, allowed_by_rule (shell)",
    ],
    files: ["a.txt", "new.txt", "touched"],
  },
  "--allow is given again for patterns of paths and of commands, which match exactly": {
    flags: ["--allow", "write:src/**", "--allow", "shell:true"],
    calls: [write("src/deep/new.txt", "x"), write("new.txt", "x"), shellArgv("true"), shellArgv("true", "x")],
    offered: ALL,
    decisions: [
      "write_file: allowed, allowed_by_rule (write:src/**)",
      "write_file: denied, not_allowed",
      "shell: allowed, allowed_by_rule (shell:true)",
      "shell: denied, not_allowed",
    ],
    files: ["a.txt", "src"],
  },
  "a value with a colon is one pattern, whatever commas it holds": {
    flags: ["--allow", "shell:echo a,write"],
    calls: [shellLine("echo a,write"), shellLine("echo a"), write("new.txt", "x")],
    offered: [...READING, "shell"],
    decisions: [
      "shell: allowed, allowed_by_rule (shell:echo a,write)",
      "shell: denied, not_allowed",
      "write_file: denied, not_allowed",
    ],
  },
  "a command line with operators matches no pattern, not even one of its parts": {
    flags: ["--allow", "shell:echo **"],
    calls: [
      "echo hi",
      "echo hi; touch x",
      "echo hi && touch x",
      "echo $(touch x)",
      "echo hi >x",
      "echo `touch x`",
      "echo hi\ntouch x",
    ].map((line) => shellLine(line)),
    offered: [...READING, "shell"],
    decisions: [
      "shell: allowed, allowed_by_rule (shell:echo **)",
      ...Array(6).fill("shell: denied, not_allowed"),
    ],
  },
  "--deny wins over --allow, whatever the order": {
    flags: ["--deny", "edit_file", "--deny", "write:secret/**", "--allow", "write"],
    calls: [write("new.txt", "x"), write("secret/new.txt", "x"), edit("a.txt", "alpha", "ALPHA")],
    offered: [...READING, "write_file"],
    decisions: [
      "write_file: allowed, allowed_by_rule (write)",
      "write_file: denied, denied_by_rule (write:secret/**)",
      "edit_file: denied, denied_by_rule (edit_file)",
    ],
    files: ["a.txt", "new.txt"],
  },
  "a pattern denies reading too": {
    flags: ["--deny", "read:a.txt"],
    calls: [read("a.txt")],
    offered: READING,
    decisions: ["read_file: denied, denied_by_rule (read:a.txt)"],
  },
  "a denied group is not offered, and its calls are denied": {
    flags: ["--deny", "read"],
    calls: [read("a.txt")],
    offered: [],
    decisions: ["read_file: denied, denied_by_rule (read)"],
  },
  "a denied command cannot hide in a line that only a shell can read": {
    flags: ["--allow", "shell", "--deny", "shell:touch **"],
    calls: [
      shellLine("touch x"),
      shellLine("true && touch x"),
      shellArgv("sh", "-c", "touch x"),
      shellLine("true"),
    ],
    offered: [...READING, "shell"],
    decisions: [
      "shell: denied, denied_by_rule (shell:touch **)",
      "shell: denied, unclear_command (shell:touch **)",
      "shell: denied, unclear_command (shell:touch **)",
      "shell: allowed, allowed_by_rule (shell)",
    ],
  },
  "--ask denies without a terminal to ask on": {
    flags: ["--ask"],
    calls: EVERYTHING,
    offered: ALL,
    decisions: [
      "write_file: denied, no_terminal",
      "edit_file: denied, no_terminal",
      "shell: denied, no_terminal",
    ],
  },
  "a denied tool is not offered under --ask either": {
    flags: ["--ask", "--deny", "shell"],
    calls: EVERYTHING,
    offered: [...READING, ...WRITING],
    decisions: [
      "write_file: denied, no_terminal",
      "edit_file: denied, no_terminal",
      "shell: denied, denied_by_rule (shell)",
    ],
  },
};

for (const [promise, { flags, calls, offered, decisions, files = ["a.txt"] }] of Object.entries(POSTURES)) {
  test.long(promise, async () => {
    await using session = await PlayedSession.open(FILES);
    const { exit, requests } = await session.run(calling(calls, flags));
    assert.equal(exit, 0);
    assert.deepEqual(requests[0]?.tools?.map(({ name }) => name) ?? [], offered);
    assert.deepEqual(decisionsOf(session), decisions);
    assert.deepEqual(filesOf(session), files);
    const isEdited = decisions.some((line) => line.startsWith("edit_file: allowed"));
    const text = Deno.readTextFileSync(`${session.workspace}/a.txt`);
    assert.equal(text, isEdited ? "ALPHA\nbeta\n" : "alpha\nbeta\n");
    const denied = session.events("tool_result").filter(({ status }) => status === "denied").length;
    assert.equal(denied, decisions.filter((line) => line.includes(": denied, ")).length);
  });
}

Deno.test("a run that continues another one has none of its allowances", async () => {
  await using session = await PlayedSession.open(FILES);
  const failed = await session.run({
    args: ["--allow", "shell", "Go"],
    answers: [httpError(400, { message: "Not now" })],
  });
  assert.equal(failed.exit, 13);
  const { exit, requests } = await session.run({ ...calling(EVERYTHING, []), args: [] });
  assert.equal(exit, 0);
  const offered = [...failed.requests, ...requests].map(({ tools }) => tools?.map(({ name }) => name));
  assert.deepEqual(offered, [[...READING, "shell"], READING, READING]);
  assert.deepEqual(decisionsOf(session), [
    "write_file: denied, not_allowed",
    "edit_file: denied, not_allowed",
    "shell: denied, not_allowed",
  ]);
});

/** A run that makes these calls at once, then answers. */
function calling(calls: readonly ScriptedItem[], flags: readonly string[]): GivenRun {
  return { args: [...flags, "Go"], answers: [answer(calls), HELLO] };
}

function decisionsOf(session: PlayedSession): string[] {
  return session.events("permission_decision").map(({ tool, decision, reason, rule }) =>
    `${tool}: ${decision}, ${reason}${rule === undefined ? "" : ` (${rule})`}`
  );
}

function filesOf({ workspace }: PlayedSession): string[] {
  return [...Deno.readDirSync(workspace)].map(({ name }) => name).sort();
}
