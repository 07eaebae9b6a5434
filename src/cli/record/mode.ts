/**
 * Modes of `record`, in the words that helpers of test runners use: what is played, what is sent to the API, and what
 * happens to the folder at the end.
 */
import { basename, dirname } from "node:path";
import { RepriseError } from "../../domain/errors.ts";
import { KIND_NAMES } from "../../fixture/files.ts";
import { replaceByRecorded } from "../../fixture/prune/pruned_fixture.ts";
import type { FolderSummary } from "../../fixture/record/test_recordings.ts";
import { makeDirectories, removeTree } from "../../fixture/seal.ts";
import { fileError, systemCode } from "../../store/fs_errors.ts";
import { isCi } from "../environment.ts";
import { changeFixture, requireUnlocked } from "../fixture_lock.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { absolute, otherKind, switchVariable } from "../settings.ts";
import type { RecordFlags } from "./command.ts";
import { pruneUnused } from "../serve/obsolete.ts";
import { requireReplaceable } from "./folder.ts";

/** Reason to send nothing to the API, as the end of a sentence, and what to do about requests without a recording. */
interface Unsent {
  readonly why: string;
  readonly cure: string;
}

const UNSENT_IN_CI: Unsent = {
  why: "CI is set, so nothing is sent",
  cure: "Record them without CI set, or give --allow-live",
};

export interface ModePlan {
  /** `null`: every request is sent and recorded, into a folder that is new or grows. */
  readonly mode: RecordFlags["mode"] | null;
  /** Folder that the user named. */
  readonly out: string;
  /** Folder that is recorded into: for `all` one beside `out`, which replaces it at the end. */
  readonly into: string;
  /** True if what is there is played. */
  readonly plays: boolean;
  /** False to send nothing to the API at all. */
  readonly sends: boolean;
  readonly unsent: Unsent;
  /** Returns false for a folder whose requests are only played. */
  sendsFor(path: string): boolean;
  /** Ends a recording that succeeded; those of `--suite` have ended one by one. @returns notes for people. */
  finish(summary: FolderSummary): Promise<readonly string[]>;
  /** Ends a test of `--suite`: under `all`, a kept recording replaces the old one, and any other is removed. */
  endTest(test: string, isKept: boolean): Promise<void>;
  /** Removes what is left of a recording that did not succeed. */
  discard(): void;
}

/**
 * Resolves the mode of a recording.
 *
 * @throws {RepriseError} `usage` for a path below a file, for `prune` of tests that a helper ends, and for `all` that may
 * send nothing; `fixture_locked`.
 */
export async function planMode(ports: ProgramPorts, flags: RecordFlags): Promise<ModePlan> {
  const { files } = ports;
  const mode = flags.mode ?? (flags.missing === true ? "missing" : null);
  const out = absolute(ports, flags.out);
  requirePlace(ports, out);
  const isLive = flags.allowLive === true || switchVariable(ports, ["REPRISE_ALLOW_LIVE"]) === true ||
    !isCi(ports);
  const isSuite = flags.suite === true;
  if (isSuite && mode === "prune") {
    throw new RepriseError("usage", "Cannot use --suite with --mode prune", {
      hint: 'A helper asks for it at the end of each test: {"type":"end","test":"NAME","prune":true}',
    });
  }
  // The requests of a test are misses then, and its report says why.
  if (mode === "all" && !isLive && !isSuite) {
    throw new RepriseError("usage", "Cannot record everything again: CI is set, so nothing is sent", {
      hint: "Give --allow-live, or record without CI set",
    });
  }
  const into = mode === "all" ? `${dirname(out)}/.${basename(out)}.recording-${ports.process.pid}` : out;
  // A folder of tests may hold anything beside them.
  if (mode === "all" && !isSuite) await requireReplaceable(ports, out);
  const isRecorded = (path: string) => files.facts(`${path}/fixture.json`) !== null;
  const discard = (path: string) => {
    if (mode === "all" && files.facts(path) !== null) removeTree(files, path);
  };
  return {
    mode,
    out,
    into,
    plays: mode !== null && mode !== "all",
    sends: mode === null || mode !== "prune" && isLive,
    unsent: isLive
      ? {
        why: mode === "new"
          ? "--mode new only plays a recording that is there"
          : "--mode prune sends nothing",
        cure: "Record them with --mode missing, or everything again with --mode all",
      }
      : UNSENT_IN_CI,
    sendsFor: (path) => mode !== "new" || !isRecorded(path),
    finish: async (summary) => {
      if (mode === "all" && !isSuite) await replaceRecordings(ports, { into, out }, summary);
      if (mode === "all" && isSuite && files.facts(into) !== null) {
        return files.list(into).sort().map((test) =>
          `nothing in "${out}/${test}" was replaced: the test was not ended`
        );
      }
      if (mode !== "prune") return [];
      const used = summary.uses.filter(({ used }) => used.length > 0);
      return (await Promise.all(used.map((use) => pruneUnused(ports, use)))).flat();
    },
    async endTest(test, isKept) {
      if (mode !== "all") return;
      try {
        if (isKept) await replaceRecordings(ports, { into, out }, { tests: [{ test }] });
      } finally {
        // A test that runs again records into a new folder.
        discard(`${into}/${test}`);
        if (files.facts(into) !== null && files.list(into).length === 0) discard(into);
      }
    },
    discard: () => discard(into),
  };
}

/** Requires a path that is a folder or could be one: no part of it is a file. */
function requirePlace({ files }: ProgramPorts, path: string): void {
  try {
    files.facts(`${path}/fixture.json`);
  } catch (error) {
    if (systemCode(error) !== "ENOTDIR") throw fileError(error, "begin the recording", path);
    const what = otherKind(path) === null ? "a file, or below one" : KIND_NAMES.other;
    throw new RepriseError("usage", `Cannot record into "${path}": it is ${what}`, {
      hint: "Give a fixture, or a folder that is new or empty",
    });
  }
}

/** Moves new recordings to their places. Each replaces a recording, and the tests that did not run keep theirs. */
async function replaceRecordings(
  ports: ProgramPorts,
  { into, out }: Pick<ModePlan, "into" | "out">,
  { tests }: { readonly tests: readonly { readonly test: string }[] | null },
): Promise<void> {
  const { files } = ports;
  const exists = (path: string) => files.facts(path) !== null;
  const names = tests === null ? [""] : tests.map(({ test }) => `/${test}`);
  const moved = names.filter((name) => exists(`${into}${name}/fixture.json`));
  if (tests !== null && exists(`${out}/fixture.json`)) throw taken(out, "a recording without tests");
  for (const place of moved.map((name) => `${out}${name}`)) {
    if (!exists(place) || files.list(place).length === 0) continue;
    if (!exists(`${place}/fixture.json`)) throw taken(place, "no recording");
    if (exists(`${place}/session.json`)) throw taken(place, "a session test");
    await requireUnlocked(ports, place);
  }
  try {
    if (tests !== null) makeDirectories(files, out);
    for (const name of moved) {
      const [fresh, place] = [`${into}${name}`, `${out}${name}`];
      if (!exists(`${place}/fixture.json`)) files.rename(fresh, place);
      else {
        const act = () => replaceByRecorded(files, place, fresh);
        await changeFixture(ports, place, { tried: "replace the recording", act });
      }
    }
    files.syncDirectory(dirname(`${out}${moved[0] ?? ""}`));
  } catch (error) {
    throw fileError(error, "replace the recording", out);
  }
}

function taken(path: string, content: string): RepriseError {
  return new RepriseError("usage", `Cannot replace "${path}": it holds ${content}`, {
    hint: "The new recording was not kept. Give another folder, or remove this one first",
  });
}
