/** The fixtures that `serve` plays: the folders that are fixtures, and all fixtures below the others. */
import { RepriseError } from "../../domain/errors.ts";
import { DAY_MS, type Files, type Ports } from "../../domain/ports.ts";
import { withoutSlash } from "../../domain/text.ts";
import { recordedOn } from "../../fixture/format.ts";
import { exchangeFolders } from "../../fixture/folders.ts";
import type { FixtureFile } from "../../fixture/file_schemas.ts";
import { oldestRecording } from "../../fixture/recordings.ts";
import { fixtureFolders } from "../../fixture/inspect/catalog.ts";
import { readFixture, readHeader } from "../../fixture/read.ts";
import type { SuiteFixture } from "../../fixture/serve/suite.ts";
import { orFileError } from "../../store/fs_errors.ts";

export interface ServedFixture extends SuiteFixture {
  /** Content of `fixture.json`; `null` if it cannot be read. */
  readonly header: FixtureFile | null;
  /** Reason why `fixture.json` cannot be read; `null` if it can. */
  readonly problem: string | null;
}

/** Fixtures to serve, and the folders above some of them. */
export interface ServedFixtures {
  /** In the order of the folders given, then by name. */
  readonly fixtures: readonly ServedFixture[];
  /** Folders given that are no fixtures. */
  readonly folders: readonly string[];
}

/**
 * Finds the fixtures at and below folders. A folder that is a fixture is read whole, and only itself is served. Of the
 * fixtures below other folders only `fixture.json` is read: damage in one of them must not stop the others.
 *
 * @throws {RepriseError} `bad_fixture` for a damaged fixture that was given, and for a folder without fixtures; `usage`
 * for a missing folder, and for a fixture that is found twice; `storage_…`.
 */
export function findServed(
  { files }: Pick<Ports, "files">,
  directories: readonly string[],
  /** Also takes a folder without fixtures, or without anything: its tests are not recorded yet. */
  { mayBeEmpty = false }: { readonly mayBeEmpty?: boolean } = {},
): ServedFixtures {
  const roots = directories.map(withoutSlash);
  const folders: string[] = [];
  const fixtures = roots.flatMap((root) =>
    orFileError("look for fixtures", root, (): readonly ServedFixture[] => {
      const below = fixtureFolders(files, root, { mayBeEmpty });
      if (!below.includes(root)) {
        folders.push(root);
        return below.map((path) => ({ path, folder: root, fixture: null, ...readListed(files, path) }));
      }
      const fixture = readFixture(files, root);
      const { header, exchanges: { length: exchanges } } = fixture;
      return [{ path: root, folder: null, fixture, exchanges, header, problem: null }];
    })
  );
  requireDistinct(files, [...folders, ...fixtures.map(({ path }) => path)]);
  return { fixtures, folders };
}

/** Reads `fixture.json` only, which lists the exchanges. */
export function readListed(
  files: Files,
  path: string,
): Pick<ServedFixture, "exchanges" | "header" | "problem"> {
  try {
    const header = readHeader(files, path);
    return { exchanges: exchangeFolders(header).length, header, problem: null };
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    return { exchanges: 0, header: null, problem: error.message };
  }
}

/** Refuses a fixture that is found twice: its exchanges would be played twice. */
function requireDistinct(files: Files, paths: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const path of paths) {
    // A folder may be named by a link to it.
    const facts = files.facts(`${path}/.`);
    if (facts === null || facts.inode === null) continue;
    const folder = `${facts.device} ${facts.inode}`;
    const before = seen.get(folder);
    seen.set(folder, path);
    if (before === undefined) continue;
    throw new RepriseError(
      "usage",
      before === path
        ? `Cannot serve "${path}" twice: it is the same folder`
        : `Cannot serve "${path}": "${before}" is the same folder`,
      { hint: "Name each folder once, and no folder inside another: each exchange is played once" },
    );
  }
}

/** Refuses recordings older than `--max-age`. That is a finding of a test (exit code 7), not a mistake in the command. */
export function requireYoung(
  fixtures: readonly ServedFixture[],
  maxAge: number | undefined,
  { clock }: Pick<Ports, "clock">,
): void {
  if (maxAge === undefined) return;
  for (const { path, header } of fixtures) {
    if (header === null) continue;
    const created = oldestRecording(header);
    const days = (clock.now() - Date.parse(created)) / DAY_MS;
    if (days <= maxAge) continue;
    const which = header.recordings === undefined ? "it" : "its oldest recording";
    const age = recordedOn({ created }) === null
      ? "its recording date is unknown"
      : `${which} was recorded ${days.toFixed(1)} days ago`;
    throw new RepriseError(
      "fixture_too_old",
      `Cannot serve "${path}": ${age}, and --max-age allows ${maxAge}`,
      {
        hint: "Record it again, or allow more days",
        details: { path, created, max_age: maxAge },
      },
    );
  }
}
