/**
 * Opens a folder for a recording: takes its lock, removes what a killed recorder left, and verifies the fixture that is
 * there.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { Files } from "../../domain/ports.ts";
import { type MatchRules, refusedFlag } from "../../fixture/match/rules/match_rules.ts";
import { checkRules, mergeRules } from "../../fixture/match/rules/match_rules.ts";
import type { Fixture } from "../../fixture/read.ts";
import { RecordedRules, rulesBefore } from "../../fixture/record/recorded_rules.ts";
import { readVerified, requireRecordable } from "../../fixture/record/target.ts";
import type * as fixture from "../../fixture/record/recordings.ts";
import { openPatiently } from "../../fixture/record/temp_file.ts";
import { type ExchangeEvent, FixtureWriter } from "../../fixture/record/writer.ts";
import { createScrubber } from "../../fixture/secrets/scrubber.ts";
import { settleFolder } from "../../fixture/settle.ts";
import { fileError } from "../../store/fs_errors.ts";
import { secretEnvironment } from "../environment.ts";
import { type FixtureLock, lockFixture, requireUnlocked } from "../fixture_lock.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { VERSION } from "../version.ts";
import type { RecordFlags } from "./command.ts";
import { machineValues } from "./machine_values.ts";

/** Options of {@linkcode openRecording}. */
export interface OpenOptions {
  readonly flags: RecordFlags;
  /** Match rules of the flags. */
  readonly declared: MatchRules;
  /** True to add to a fixture as well; false to accept only a folder that is new or empty. */
  readonly grows: boolean;
  /** True if the requests come from our command, on this machine. */
  readonly wraps: boolean;
  readonly onExchange: (event: ExchangeEvent) => void;
}

/** Recording of a folder. */
export interface OpenRecording extends fixture.OpenRecording {
  /** Fixture in the folder when the recording began; `null` if there was none. */
  readonly before: Fixture | null;
  /** Variables with values that are too short to look for. */
  readonly tooShort: readonly string[];
}

/**
 * Opens the folder at `path` for a recording.
 *
 * @throws {RepriseError} `usage` for a folder that cannot be recorded into, `fixture_locked`, `bad_fixture` for a damaged
 * fixture, `storage_…`.
 */
export async function openRecording(
  ports: ProgramPorts,
  path: string,
  options: OpenOptions,
): Promise<OpenRecording> {
  const { files } = ports;
  const { grows } = options;
  try {
    await requireUnlocked(ports, path);
    requireRecordable(files, path, { grows, lock: null });
    const isNew = files.facts(path) === null;
    const lock = await lockFixture(ports, path);
    let isWhole = !lock.leftBehind;
    try {
      // Another recorder may have written since the first look.
      requireRecordable(files, path, { grows, lock });
      if (lock.leftBehind) settleFolder(files, path);
      isWhole = true;
      return begun(ports, path, { ...options, lock, isNew });
    } catch (error) {
      lock.release(isWhole);
      throw error;
    }
  } catch (error) {
    throw fileError(error, "begin the recording", path);
  }
}

function begun(
  ports: ProgramPorts,
  path: string,
  { flags, declared, wraps, onExchange, lock, isNew }: OpenOptions & {
    readonly lock: FixtureLock;
    /** True if the recording created the folder. */
    readonly isNew: boolean;
  },
): OpenRecording {
  const { files, clock } = ports;
  const before = readVerified(files, path, { isSettled: true });
  const { match, not_secret: open = [] } = before?.header ?? {};
  checkRules(mergeRules(match, declared), refusedFlag);
  // Players keep the values of both lists, so the new exchanges must have them too.
  const { values, tooShort } = secretEnvironment([...open, ...flags.notSecret ?? []]);
  const writer = FixtureWriter.append(files, path, before, {
    created: clock.now(),
    producer: `reprise ${VERSION}`,
    provider: flags.provider,
    scrubber: createScrubber({
      values: flags.token === undefined ? values : [...values, { name: "--token", value: flags.token }],
    }),
    notSecret: flags.notSecret,
    keepCut: flags.keepCut === true,
    // A client that is not our command may run on another machine.
    rules: new RecordedRules(
      declared,
      wraps ? machineValues(ports) : [],
      before === null ? null : rulesBefore(before),
    ),
    open: openPatiently,
    onExchange,
  });
  let held = lock;
  /** Sum of `fixture.json` at the last closing; `null` if there was none. */
  let left: string | null = null;
  return {
    writer,
    began: clock.monotonic(),
    before,
    tooShort,
    async close() {
      const summary = await writer.close();
      left = headerSum(files, path);
      held.release(writer.isWhole);
      if (isNew) removeIfEmpty(files, path);
      return summary;
    },
    async reopen() {
      try {
        const again = await lockFixture(ports, path);
        if (again.leftBehind || headerSum(files, path) !== left) {
          again.release(!again.leftBehind);
          throw changedMeanwhile(path);
        }
        held = again;
      } catch (error) {
        throw fileError(error, "continue the recording", path);
      }
    },
  };
}

/** Returns the sum of `fixture.json`, which lists the sums of all other files; `null` if it cannot be read. */
function headerSum(files: Files, path: string): string | null {
  try {
    return sha256Hex(files.read(`${path}/fixture.json`));
  } catch {
    return null;
  }
}

/** Removes a folder without content. A folder that cannot be removed stays. */
function removeIfEmpty(files: Files, path: string): void {
  try {
    if (files.list(path).length === 0) files.unlink(path);
  } catch {
    // Another recorder uses it, or removed it.
  }
}

function changedMeanwhile(path: string): RepriseError {
  return new RepriseError(
    "bad_fixture",
    `Cannot continue the recording "${path}": another program changed it since its last request`,
    { hint: "Start record again with --append to add to what is there" },
  );
}
