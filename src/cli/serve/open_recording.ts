/**
 * Opens a folder for a recording: takes its lock, removes what a killed recorder left, and verifies the fixture that is
 * there.
 *
 * @module
 */
import { type MatchRules, refusedFlag } from "../../fixture/match/rules/match_rules.ts";
import { checkRules, mergeRules } from "../../fixture/match/rules/match_rules.ts";
import type { Fixture } from "../../fixture/read.ts";
import { RecordedRules } from "../../fixture/record/recorded_rules.ts";
import { readVerified, requireRecordable } from "../../fixture/record/target.ts";
import { openPatiently } from "../../fixture/record/temp_file.ts";
import { type ExchangeEvent, FixtureWriter, type RecordingSummary } from "../../fixture/record/writer.ts";
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

/** Recording that has its folder to itself until it is closed. */
export interface OpenRecording {
  readonly writer: FixtureWriter;
  /** Fixture in the folder when the recording began; `null` if there was none. */
  readonly before: Fixture | null;
  /** Variables with values that are too short to look for. */
  readonly tooShort: readonly string[];
  /** Publishes what is finished and releases the folder. Never throws. */
  close(): Promise<RecordingSummary>;
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
    const lock = await lockFixture(ports, path);
    let isWhole = !lock.leftBehind;
    try {
      // Another recorder may have written since the first look.
      requireRecordable(files, path, { grows, lock });
      if (lock.leftBehind) settleFolder(files, path);
      isWhole = true;
      return begun(ports, path, { ...options, lock });
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
  { flags, declared, wraps, onExchange, lock }: OpenOptions & { readonly lock: FixtureLock },
): OpenRecording {
  const { files, clock } = ports;
  const before = readVerified(files, path);
  const { match, not_secret: open = [] } = before?.header ?? {};
  checkRules(mergeRules(match, declared), refusedFlag);
  // Players keep the values of both lists, so the new exchanges must have them too.
  const { values, tooShort } = secretEnvironment([...open, ...flags.notSecret ?? []]);
  const writer = FixtureWriter.append(files, path, before, {
    created: clock.now(),
    producer: `reprise ${VERSION}`,
    provider: flags.provider,
    scrubber: createScrubber({ values }),
    notSecret: flags.notSecret,
    keepCut: flags.keepCut === true,
    // A client that is not our command may run on another machine.
    rules: new RecordedRules(declared, wraps ? machineValues(ports) : []),
    open: openPatiently,
    onExchange,
  });
  return {
    writer,
    before,
    tooShort,
    async close() {
      const summary = await writer.close();
      lock.release(writer.isWhole);
      return summary;
    },
  };
}
