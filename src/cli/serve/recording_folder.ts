/** Folder of `record --out`: a fixture, or a folder with the fixtures of tests. */
import type { Files } from "../../domain/ports.ts";
import { refusedInFixture } from "../../fixture/files.ts";
import { STAGING_FOLDER } from "../../fixture/format.ts";
import { mergeRules } from "../../fixture/match/rules/match_rules.ts";
import { compilePatterns } from "../../fixture/match/rules/patterns.ts";
import { readHeader } from "../../fixture/read.ts";
import { readVerified, requireRecordable } from "../../fixture/record/target.ts";
import { TestRecordings } from "../../fixture/record/test_recordings.ts";
import { upstreamsOf } from "../../fixture/upstreams.ts";
import { isTestName } from "../../fixture/test_path.ts";
import { fileError, orFileError } from "../../store/fs_errors.ts";
import { requireUnlocked } from "../fixture_lock.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { type OpenOptions, openRecording } from "./open_recording.ts";
import { readListed } from "./served_fixtures.ts";

/** Options of {@linkcode openFolder}. */
export interface FolderOptions extends Omit<OpenOptions, "test"> {
  /** True for a folder that holds the fixtures of tests, even if none is there yet. @default {false} */
  readonly isSuite?: boolean;
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
 * @throws {RepriseError} as {@linkcode openRecording}.
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
    const recording = await openRecording(ports, at, { ...options, ...kept, test });
    for (const name of recording.tooShort) tooShort.add(name);
    return recording;
  };
  const isSuite = options.isSuite === true ||
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
  { declared, flags }: OpenOptions,
): Promise<Partial<Pick<OpenOptions, "declared" | "flags">>> {
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
 * @throws {RepriseError} as {@linkcode openRecording}.
 */
export async function previewFolder(
  ports: ProgramPorts,
  path: string,
  { grows, writes }: {
    readonly grows: boolean;
    readonly writes: boolean;
  },
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
