/**
 * Folder of `record --out`: a fixture, or a folder with the fixtures of tests.
 *
 * @module
 */
import type { Files } from "../../domain/ports.ts";
import { STAGING_FOLDER } from "../../fixture/format.ts";
import { readVerified, requireRecordable } from "../../fixture/record/target.ts";
import { TestRecordings } from "../../fixture/record/test_recordings.ts";
import type { ExchangeEvent } from "../../fixture/record/writer.ts";
import { isTestName } from "../../fixture/test_path.ts";
import { fileError } from "../../store/fs_errors.ts";
import { requireUnlocked } from "../fixture_lock.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { type OpenOptions, openRecording } from "./open_recording.ts";

/** Event of an exchange, with the test that its request names. */
export type RecordedEvent = ExchangeEvent & { readonly test?: string };

/** Options of {@linkcode openFolder}. */
export interface FolderOptions extends Omit<OpenOptions, "onExchange"> {
  readonly onExchange: (event: RecordedEvent) => void;
}

/** Folder that is being recorded into. */
export interface RecordingFolder {
  readonly recordings: TestRecordings;
  /** Number of exchanges that the folder itself has as a fixture. */
  readonly before: number;
  /** Variables with values that are too short to look for. */
  readonly tooShort: ReadonlySet<string>;
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
  const opened = async (at: string, onExchange: OpenOptions["onExchange"]) => {
    const recording = await openRecording(ports, at, { ...options, onExchange });
    for (const name of recording.tooShort) tooShort.add(name);
    return recording;
  };
  const own = holdsTests(files, path) ? null : await opened(path, options.onExchange);
  const recordings = new TestRecordings({
    files,
    path,
    own,
    isFixture: (own?.before ?? null) !== null,
    open: (at, test) => opened(at, ({ type, ...event }) => options.onExchange({ type, test, ...event })),
  });
  return { recordings, before: own?.before?.exchanges.length ?? 0, tooShort };
}

/**
 * Does what {@linkcode openFolder} does before it writes anything. The recordings of tests are not read.
 *
 * @returns the number of exchanges that the folder itself has as a fixture.
 * @throws {RepriseError} as {@linkcode openRecording}.
 */
export async function previewFolder(
  ports: ProgramPorts,
  path: string,
  { grows }: { readonly grows: boolean },
): Promise<number> {
  const { files } = ports;
  try {
    if (holdsTests(files, path)) return 0;
    await requireUnlocked(ports, path);
    requireRecordable(files, path, { grows, lock: null });
    if (files.facts(path) === null) return 0;
    return readVerified(files, path, { isSettled: false })?.exchanges.length ?? 0;
  } catch (error) {
    throw fileError(error, "begin the recording", path);
  }
}

/** True for a folder that is no fixture itself, and has the recording of a test in it, finished or not. */
function holdsTests(files: Files, path: string): boolean {
  const exists = (name: string) => files.facts(`${path}/${name}`) !== null;
  if (files.facts(path)?.kind !== "directory" || exists("fixture.json") || exists("session.json")) {
    return false;
  }
  return files.list(path).some((name) =>
    isTestName(name) && files.facts(`${path}/${name}`)?.kind === "directory" &&
    (exists(`${name}/fixture.json`) || exists(`${name}/${STAGING_FOLDER}`))
  );
}
