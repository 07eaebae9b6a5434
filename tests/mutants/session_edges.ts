/** Mutants of sessions at their edges: the first, the last, one of two, the second window. */
import type { Mutant } from "./mutants.ts";

/** See the module. */
export const SESSION_EDGES: readonly Mutant[] = [
  {
    file: "src/store/write/writer.ts",
    text: 'if (this.#held.moved() === "directory") throw new Error("The next append says why");',
    replacement: 'if (this.#held === null) throw new Error("The next append says why");',
    promise: "guarantees.md: a session that replaced an open one gets nothing, its manifest included",
    area: ["doors/sessions/storage_test.ts"],
  },
  {
    file: "src/domain/redact.ts",
    text: "return open ? key : line;",
    replacement: "return line;",
    promise: "guarantees.md: export --redact replaces a private key wherever the text is cut",
    area: ["doors/sessions/redaction_test.ts"],
  },
  {
    file: "src/store/lifecycle/fork.ts",
    text: "const seqs = event.seqs.filter((seq) => from < seq && seq <= last);",
    replacement: "const seqs = event.seqs.filter((seq) => from < seq);",
    promise: "format.md: a fork names no event that it does not have",
    area: ["doors/sessions/forks_test.ts"],
  },
  {
    file: "src/cli/maintenance/omit.ts",
    text: "const rest = seqs.length === 0 ? [] : omission.seqs.filter((seq) => !seqs.includes(seq));",
    replacement: "const rest = seqs.length === 0 ? [] : omission.seqs.slice(0, 0);",
    promise: "keep.md: omit --undo --seq sends the named items again, and no other",
    area: ["cli/omit_test.ts"],
  },
  {
    file: "src/cli/inspection/session_filter.ts",
    text: "const judged = judgeSessions(ports, home, sessions);",
    replacement: "const judged = judgeSessions(ports, home, sessions.slice(0, limit));",
    promise: "cli.md: ls --limit counts the sessions that the other flags choose",
    area: ["cli/ls_test.ts"],
  },
  {
    file: "src/remote/session_remote.ts",
    text: "(sum === null || sum === prev)",
    replacement: "(sum === null || sum !== null)",
    promise: "keep.md: a remote has no turn whose predecessor is another one",
    area: ["cli/sync_test.ts"],
  },
  {
    file: "src/compaction/shrink.ts",
    text: "tailOf(output, KEPT_TAIL)",
    replacement: "tailOf(output, 0)",
    promise: "keep.md: a result that compact shortens keeps its beginning and its end",
    area: ["doors/sessions/compaction_test.ts"],
  },
  {
    file: "src/store/read/session.ts",
    text: "blobs: measureBlobs(ports, paths) };\n    manifest = ",
    replacement: "blobs: bytes.blobs };\n    manifest = ",
    promise: "format.md: the manifest counts the blobs that a killed writer left",
    area: ["doors/sessions/manifest_test.ts"],
  },
  {
    file: "src/store/byte_totals.ts",
    text: "return least <= blobs && blobs <= measureBlobs(ports, paths);",
    replacement: "return least <= blobs;",
    promise: "format.md: fsck finds a manifest that counts other blobs than there are",
    area: ["doors/sessions/manifest_test.ts"],
  },
];
