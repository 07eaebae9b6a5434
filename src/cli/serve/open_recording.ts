/**
 * Opens a folder for a recording: takes its lock, removes what a killed recorder left, and verifies the fixture that is
 * there.
 */
import { dirname } from "node:path";
import { RepriseError } from "../../domain/errors.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { Files } from "../../domain/ports.ts";
import { checkRules, mergeRules, refusedFlag } from "../../fixture/match/rules/match_rules.ts";
import type { MatchRules } from "../../fixture/file_schemas.ts";
import type { Fixture } from "../../fixture/read.ts";
import { TestFaults } from "../../fixture/faults/test_faults.ts";
import { EarlierReplayer } from "../../fixture/record/earlier_replayer.ts";
import { RecordedRules, rulesBefore } from "../../fixture/record/recorded_rules.ts";
import { readVerified, requireRecordable } from "../../fixture/record/target.ts";
import type { OpenRecording } from "../../fixture/record/test_recordings.ts";
import { openPatiently } from "../../fixture/record/exchange_files.ts";
import type { ExchangeEvent, ServeEvent } from "../../fixture/event.ts";
import { FixtureWriter } from "../../fixture/record/writer.ts";
import { createScrubber } from "../../fixture/secrets/scrubber.ts";
import type { CreateReplayer } from "../../fixture/serve/suite.ts";
import { cleanUpFolder } from "../../fixture/clean_up.ts";
import { fileError } from "../../store/fs_errors.ts";
import { secretEnvironment } from "../secret_environment.ts";
import { type FixtureLock, lockFixture, requireUnlocked } from "../fixture_lock.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { VERSION } from "../../domain/version.ts";
import type { RecordFlags } from "./command.ts";
import { machineValues, parseContext } from "./machine_values.ts";

/** Options of {@linkcode openRecording}. */
export interface OpenOptions {
  /** Name of the test; `null` for the recording of requests without one. @default {null} */
  readonly test?: string | null;
  readonly flags: RecordFlags;
  readonly declared: MatchRules;
  /** True to add to a fixture as well; false to accept only a folder that is new or empty. */
  readonly grows: boolean;
  /** False to leave out answers of the API with a status of 400 and up. @default {true} */
  readonly keepsErrors?: boolean;
  /** Plays exchanges; `null` to record every request. @default {null} */
  readonly playing?: PlayOptions | null;
  readonly onExchange: (event: ExchangeEvent) => void;
}

/** Options of a recording that plays what is there already, or what it records for a fault. */
export interface PlayOptions {
  /** False to play only what is recorded for a fault. */
  readonly plays: boolean;
  /** Returns false for a folder that is only read, because none of its requests is sent. */
  readonly sendsFor: (path: string) => boolean;
  readonly createReplayer: CreateReplayer;
  readonly onPlayed: (event: ServeEvent) => void;
  /** As {@linkcode ReplaySuiteOptions.recordCommand}. */
  readonly recordCommand?: string;
}

/** Recording of a folder. */
export interface BegunRecording extends OpenRecording {
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
): Promise<BegunRecording> {
  const { files } = ports;
  const { grows, playing = null } = options;
  try {
    const sends = playing?.sendsFor(path) ?? true;
    if (!sends) {
      requireRecordable(files, path, { grows, lock: null });
      return await begun(ports, path, { ...options, sends, lock: null, isNew: false });
    }
    await requireUnlocked(ports, path);
    requireRecordable(files, path, { grows, lock: null });
    const isNew = files.facts(path) === null;
    const lock = await lockFixture(ports, path);
    let isWhole = !lock.leftBehind;
    try {
      // Another recorder may have written since the first look.
      requireRecordable(files, path, { grows, lock });
      if (lock.leftBehind) cleanUpFolder(files, path);
      isWhole = true;
      return await begun(ports, path, { ...options, sends, lock, isNew });
    } catch (error) {
      lock.release(isWhole);
      throw error;
    }
  } catch (error) {
    throw fileError(error, "begin the recording", path);
  }
}

async function begun(
  ports: ProgramPorts,
  path: string,
  { test = null, flags, declared, keepsErrors = true, playing = null, onExchange, sends, lock, isNew }:
    & OpenOptions
    & {
      readonly sends: boolean;
      /** `null` for a folder that is only read. */
      readonly lock: FixtureLock | null;
      /** True if the recording created the folder. */
      readonly isNew: boolean;
    },
): Promise<BegunRecording> {
  const { files, clock } = ports;
  const before = readVerified(files, path, { isSettled: lock !== null });
  const { match, not_secret: open = [] } = before?.header ?? {};
  const context = parseContext(flags.context);
  checkRules(mergeRules(match, declared), refusedFlag);
  const player = playing === null
    ? null
    : await playerOf({ before, path }, { test, playing, sends, fault: flags.fault });
  // Players keep the values of both lists, so the new exchanges must have them too.
  const { values, tooShort } = secretEnvironment([...open, ...flags.notSecret ?? []]);
  const writer = new FixtureWriter(files, path, before, {
    ...(test === null ? {} : { test }),
    created: clock.now(),
    producer: `reprise ${VERSION}`,
    provider: flags.provider,
    scrubber: createScrubber({
      values: flags.token === undefined ? values : [...values, { name: "--token", value: flags.token }],
    }),
    notSecret: flags.notSecret,
    keepCut: flags.keepCut === true,
    // A kept error would be played from then on, and its request never sent again.
    keepErrors: keepsErrors,
    rules: new RecordedRules(
      declared,
      machineValues(ports, { context }),
      before === null ? null : rulesBefore(before),
      context,
    ),
    open: openPatiently,
    onExchange,
  });
  let held = lock;
  /** Sum of `fixture.json` at the last closing; `null` if there was none. */
  let left: string | null = null;
  return {
    writer,
    player,
    began: clock.monotonic(),
    before,
    tooShort,
    async close() {
      const summary = await writer.close();
      left = headerSum(files, path);
      held?.release(writer.isWhole);
      if (isNew) removeIfEmpty(files, path);
      return summary;
    },
    async reopen() {
      if (held === null) return;
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

async function playerOf(
  { before, path }: { readonly before: Fixture | null; readonly path: string },
  { test, playing: { plays, createReplayer, onPlayed, recordCommand }, sends, fault }: {
    readonly sends: boolean;
    readonly test: string | null;
    readonly playing: PlayOptions;
    readonly fault: RecordFlags["fault"];
  },
): Promise<EarlierReplayer> {
  const unrecorded = before === null && test !== null
    ? { test, folders: [dirname(path)], recordCommand }
    : null;
  return new EarlierReplayer({
    replayer: await createReplayer(before === null || !plays ? [] : [before], unrecorded),
    sends,
    test,
    createReplayer,
    faults: fault === undefined ? null : new TestFaults(fault),
    onEvent: onPlayed,
  });
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
