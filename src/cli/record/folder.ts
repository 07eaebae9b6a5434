/**
 * Folder of `record --out`: a fixture, or a folder with the fixtures of tests. Opening one for a recording takes its lock,
 * removes what a killed recorder left, and verifies the fixture that is there.
 */
import { dirname } from "node:path";
import { RepriseError } from "../../domain/errors.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { Files } from "../../domain/ports.ts";
import { VERSION } from "../../domain/version.ts";
import { cleanUpFolder } from "../../fixture/clean_up.ts";
import type { ExchangeEvent, ServeEvent } from "../../fixture/event.ts";
import { TestFaults } from "../../fixture/faults/plan.ts";
import type { MatchRules } from "../../fixture/file_schemas.ts";
import { refusedInFixture } from "../../fixture/files.ts";
import { STAGING_FOLDER } from "../../fixture/format.ts";
import { checkRules, mergeRules, refusedFlag } from "../../fixture/match/rules/match_rules.ts";
import { compilePatterns } from "../../fixture/match/rules/patterns.ts";
import { type Fixture, readHeader } from "../../fixture/read.ts";
import { EarlierReplayer, type EarlierReplayerOptions } from "../../fixture/record/earlier_replayer.ts";
import { openPatiently } from "../../fixture/record/exchange_files.ts";
import { RecordedRules } from "../../fixture/record/recorded_rules.ts";
import { readVerified, requireRecordable } from "../../fixture/record/target.ts";
import { type OpenRecording, TestRecordings } from "../../fixture/record/test_recordings.ts";
import { FixtureWriter } from "../../fixture/record/writer.ts";
import { Scrubber } from "../../fixture/secrets/scrubber.ts";
import type { CreateReplayer } from "../../fixture/serve/suite.ts";
import { isTestName } from "../../fixture/test_path.ts";
import { upstreamsOf } from "../../fixture/upstreams.ts";
import { fileError, orFileError } from "../../store/fs_errors.ts";
import { type FixtureLock, lockFixture, requireUnlocked } from "../fixture_lock.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { secretEnvironment } from "../secret_environment.ts";
import type { RecordFlags } from "./command.ts";
import { machineValues, parseContext } from "../machine_values.ts";
import { readListed } from "../serve/served_fixtures.ts";

interface FolderOptions {
  readonly flags: RecordFlags;
  readonly declared: MatchRules;
  /** True to add to a fixture as well; false to accept only a folder that is new or empty. */
  readonly grows: boolean;
  /** False to leave out answers of the API with a status of 400 and up. */
  readonly keepsErrors: boolean;
  /** Plays exchanges; `null` to record every request. */
  readonly playing: PlayOptions | null;
  readonly onExchange: (event: ExchangeEvent) => void;
  /** True for a folder that holds the fixtures of tests, even if none is there yet. */
  readonly isSuite: boolean;
  /** Folder whose recordings the new ones will replace; these keep its match rules and its variables that are no secrets. */
  readonly replaces?: string;
}

/** Folder that is being recorded into. */
export interface RecordingFolder {
  readonly recordings: TestRecordings;
  /** Number of exchanges that the folder itself has as a fixture. */
  readonly before: number;
  /** Variables with values that are too short to look for. */
  readonly tooShort: ReadonlySet<string>;
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

/** Content of a folder before a recording. */
export interface FolderContent {
  readonly exchanges: number;
  /** Number of recordings of tests; `null` for a folder that holds none. */
  readonly tests: number | null;
  /** Base URL of each API in the form that clients take, by variable; of the first fixture that names the variable. */
  readonly baseUrls: ReadonlyMap<string, string>;
}

/**
 * Opens the folder at `path`. Its first request decides whether it is a fixture or holds those of tests, unless it is one
 * of them already.
 *
 * @throws {RepriseError} `usage` for a folder that cannot be recorded into, `fixture_locked`, `bad_fixture` for a damaged
 * fixture, `storage_…`.
 */
export async function openFolder(
  ports: ProgramPorts,
  path: string,
  options: FolderOptions,
): Promise<RecordingFolder> {
  const { files } = ports;
  const tooShort = new Set<string>();
  const opened = async (at: string, test: string | null) => {
    const kept = options.replaces === undefined
      ? {}
      : await keptBy(files, `${options.replaces}${at.slice(path.length)}`, options);
    const recording = await openRecording(ports, at, test, { ...options, ...kept });
    for (const name of recording.tooShort) tooShort.add(name);
    return recording;
  };
  const isSuite = options.isSuite ||
    orFileError("look for fixtures", path, () => holdsTests(files, path));
  // Several processes record tests into one folder: none of them may lock it.
  const own = isSuite ? null : await opened(path, null);
  const recordings = new TestRecordings({
    files,
    path,
    own,
    isFixture: (own?.before ?? null) !== null,
    plays: options.playing?.plays === true,
    open: opened,
  });
  return { recordings, before: own?.before?.exchanges.length ?? 0, tooShort };
}

/** Returns the options of a recording that replaces the one at `path`, if one is there. */
async function keptBy(
  files: Files,
  path: string,
  { declared, flags }: FolderOptions,
): Promise<Partial<FolderOptions>> {
  if (files.facts(`${path}/fixture.json`) === null) return {};
  const { match, not_secret: open = [] } = readHeader(files, path);
  await compilePatterns(match?.replace ?? [], refusedInFixture(path));
  const notSecret = [...new Set([...open, ...flags.notSecret ?? []])];
  return { declared: mergeRules(match, declared), flags: { ...flags, notSecret } };
}

/**
 * Requires a place that a new recording may replace: it holds recordings, or nothing. Reads names only.
 *
 * @throws {RepriseError} `usage` for any other place, `fixture_locked`.
 */
export async function requireReplaceable(ports: ProgramPorts, path: string): Promise<void> {
  try {
    if (holdsTests(ports.files, path)) return;
    await requireUnlocked(ports, path);
    requireRecordable(ports.files, path, { grows: true, lock: null });
  } catch (error) {
    throw fileError(error, "replace the recording", path);
  }
}

/**
 * Checks what {@linkcode openFolder} checks before it writes anything. The recordings of tests are not read.
 *
 * @throws {RepriseError} as {@linkcode openFolder}.
 */
export async function previewFolder(
  ports: ProgramPorts,
  path: string,
  { grows, writes }: { readonly grows: boolean; readonly writes: boolean },
): Promise<void> {
  const { files } = ports;
  try {
    if (holdsTests(files, path)) return;
    if (writes) await requireUnlocked(ports, path);
    requireRecordable(files, path, { grows, lock: null });
    if (files.facts(path) !== null) readVerified(files, path, { isSettled: false });
  } catch (error) {
    throw fileError(error, "begin the recording", path);
  }
}

/**
 * Reads the content of a folder, of each fixture only `fixture.json`. Those that cannot be read do not count.
 *
 * @throws {RepriseError} `storage_…`.
 */
export function contentOf(files: Files, path: string): FolderContent {
  return orFileError("look for fixtures", path, () => {
    // Something else is refused when the folder is opened.
    const isFolder = files.facts(path)?.kind === "directory";
    const isSuite = holdsTests(files, path);
    const paths = !isFolder
      ? []
      : isSuite
      ? files.list(path).filter(isTestName).sort().map((name) => `${path}/${name}`)
      : [path];
    const fixtures = paths.filter((path) => files.facts(`${path}/fixture.json`) !== null)
      .map((path) => readListed(files, path));
    const upstreams = fixtures.flatMap(({ header }) => header === null ? [] : [...upstreamsOf(header)]);
    return {
      exchanges: fixtures.reduce((sum, { exchanges }) => sum + exchanges, 0),
      tests: isSuite ? fixtures.length : null,
      baseUrls: new Map(upstreams.toReversed().map(([variable, { baseUrl }]) => [variable, baseUrl])),
    };
  });
}

/** True for a folder that is no fixture itself, and has the recording of a test in it, finished or not. */
function holdsTests(files: Files, path: string): boolean {
  const exists = (name: string) => files.facts(`${path}/${name}`) !== null;
  if (files.facts(path)?.kind !== "directory" || exists("fixture.json") || exists("session.json")) {
    return false;
  }
  const names = files.list(path);
  const isFolder = (name: string) => isTestName(name) && files.facts(`${path}/${name}`)?.kind === "directory";
  return names.some((name) =>
    isFolder(name) && (exists(`${name}/fixture.json`) || exists(`${name}/${STAGING_FOLDER}`))
  ) ||
    // A recorder that is killed at its first or last step leaves the folder of a test empty.
    names.length > 0 && names.every((name) => isFolder(name) && files.list(`${path}/${name}`).length === 0);
}

/** Recording of a folder. */
interface BegunRecording extends OpenRecording {
  /** Fixture in the folder when the recording began; `null` if there was none. */
  readonly before: Fixture | null;
  /** Variables with values that are too short to look for. */
  readonly tooShort: readonly string[];
}

/** Opens the folder of a test, or of requests without one. */
async function openRecording(
  ports: ProgramPorts,
  path: string,
  test: string | null,
  options: FolderOptions,
): Promise<BegunRecording> {
  const { files } = ports;
  const { grows, playing } = options;
  try {
    if (playing?.sendsFor(path) === false) {
      requireRecordable(files, path, { grows, lock: null });
      return await begun(ports, path, test, { ...options, lock: null, isNew: false });
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
      return await begun(ports, path, test, { ...options, lock, isNew });
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
  test: string | null,
  { flags, declared, keepsErrors, playing, onExchange, lock, isNew }: FolderOptions & {
    /** `null` for a folder that is only read: no request is sent. */
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
  const replayer = playing === null ? null : await earlierReplayer({ before, path, test }, playing, {
    sends: lock !== null,
    faults: flags.fault === undefined ? null : new TestFaults(flags.fault),
  });
  // Players keep the values of both lists, so the new exchanges must have them too.
  const { values, tooShort } = secretEnvironment([...open, ...flags.notSecret ?? []]);
  const writer = new FixtureWriter(files, path, before, {
    ...(test === null ? {} : { test }),
    created: clock.now(),
    producer: `reprise ${VERSION}`,
    provider: flags.provider,
    scrubber: new Scrubber({
      values: flags.token === undefined ? values : [...values, { name: "--token", value: flags.token }],
    }),
    notSecret: flags.notSecret,
    keepCut: flags.keepCut === true,
    // A kept error would be played from then on, and its request never sent again.
    keepErrors: keepsErrors,
    rules: new RecordedRules(declared, machineValues(ports, { context }), before, context),
    open: openPatiently,
    onExchange,
  });
  let held = lock;
  /** Sum of `fixture.json` at the last closing; `null` if there was none. */
  let left: string | null = null;
  return {
    writer,
    replayer,
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

async function earlierReplayer(
  { before, path, test }: {
    readonly before: Fixture | null;
    readonly path: string;
    readonly test: string | null;
  },
  { plays, createReplayer, onPlayed, recordCommand }: PlayOptions,
  options: Pick<EarlierReplayerOptions, "sends" | "faults">,
): Promise<EarlierReplayer> {
  const unrecorded = before === null && test !== null
    ? { test, folders: [dirname(path)], recordCommand }
    : null;
  const replayer = await createReplayer(before === null || !plays ? [] : [before], unrecorded);
  return new EarlierReplayer({ ...options, replayer, test, createReplayer, onEvent: onPlayed });
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
