/** Mutants of recordings that two branches wrote. */
import type { Mutant } from "./mutants.ts";

const GIT = ["doors/recordings/merge_test.ts"];
const SIDES = ["doors/recordings/merged_sides_test.ts"];

/** See the module. */
export const MERGE_MUTANTS: readonly Mutant[] = [
  {
    file: "src/fixture/folders.ts",
    text: "sha256Hex(content).slice(0, 8)",
    replacement: 'sha256Hex("").slice(0, 8)',
    promise: "ci.md: two branches that record conflict in fixture.json alone",
    area: GIT,
  },
  {
    file: "src/fixture/files.ts",
    text: "exchanges/** -merge\\n",
    replacement: "",
    promise: "ci.md: git keeps the files of both branches that replaced one exchange unchanged",
    area: GIT,
  },
  {
    file: "src/fixture/merge/conflict.ts",
    text: "choice >> level & 1",
    replacement: "choice & 1",
    promise: "fixtures.md: seal takes conflicts inside of conflicts",
    area: GIT,
  },
  {
    file: "src/fixture/merge/conflict.ts",
    text: 'conflict.section = "base"',
    replacement: 'conflict.section = "ours"',
    promise: "fixtures.md: the markers may have a base",
    area: GIT,
  },
  {
    file: "src/fixture/merge/arrange.ts",
    text: ".toSorted((a, b) => startOf(a) - startOf(b))",
    replacement: "",
    promise: "fixtures.md: after a merge the order is that of the recordings",
    area: [...GIT, ...SIDES],
  },
  {
    file: "src/fixture/merge/arrange.ts",
    text: "if (recording === undefined || others.length > 0) throw",
    replacement: "if (recording === undefined) throw",
    promise: "fixtures.md: seal refuses an exchange whose recording is not known",
    area: SIDES,
  },
  {
    file: "src/fixture/merge/arrange.ts",
    text: "context: isShared ? undefined : recording.context",
    replacement: "context: undefined",
    promise: "fixtures.md: each recording has the values of its own machine",
    area: SIDES,
  },
  {
    file: "src/fixture/merge/merged_fixture.ts",
    text: "if (joined === undefined) throw contradiction(path, name, sides);",
    replacement: "if (joined === undefined) continue;",
    promise: "fixtures.md: a side that has another provider is refused",
    area: SIDES,
  },
  {
    file: "src/fixture/merge/merged_fixture.ts",
    text: "  requireAllListed(files, path, listed);\n",
    replacement: "",
    promise: "fixtures.md: a folder of an exchange that no side lists is refused",
    area: SIDES,
  },
  {
    file: "src/fixture/merge/merged_fixture.ts",
    text: "if (folder !== undefined && !folders.has(folder)) continue;",
    replacement: "",
    promise: "fixtures.md: an exchange that one branch pruned is gone",
    area: SIDES,
  },
  {
    file: "src/fixture/reseal.ts",
    text: "if (conflict !== null) throw conflict;",
    replacement: "",
    promise: "fixtures.md: markers in a file of an exchange are refused",
    area: SIDES,
  },
  {
    file: "src/fixture/record/writer.ts",
    text: "Math.max(highest, folderNumber(folder)), 0);",
    replacement: "folderNumber(folder), 0);",
    promise: "fixtures.md: a recording that grows gives new folders the next number",
    area: [...GIT, ...SIDES],
  },
];
