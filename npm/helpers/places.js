/**
 * Places of the recordings of tests. None depends on the working directory, so that a test finds its recording wherever
 * its runner was started.
 *
 * @module
 */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { recordingName, testId } from "./names.js";

/** Files that the root of a package has. */
const MANIFESTS = ["package.json", "deno.json", "deno.jsonc"];

/**
 * Returns the folder of recordings and the name of a test's recording. One that an earlier version wrote below the working
 * directory of that time is moved there.
 *
 * @param {string | URL} folder Folder of recordings, from the root of the test's package.
 * @param {import("./index.js").ReplayOptions & { root?: string | undefined }} options
 * @returns {{ directory: string, name: string }} The absolute path of the folder.
 */
export function placeOf(folder, { test, file, groups = [], id, root }) {
  const placeIn = (directory) => {
    const name = recordingName(test, id ?? testId(directory, file, [...groups, test]));
    return { directory, name, recording: join(directory, name) };
  };
  if (folder instanceof URL || isAbsolute(folder)) {
    return placeIn(folder instanceof URL ? fileURLToPath(folder) : resolve(folder));
  }
  const base = root ?? packageRoot(file === undefined ? process.cwd() : dirname(file));
  const place = placeIn(resolve(base, folder));
  // Only a name with the place of the file belongs to this test alone.
  if (file !== undefined && id === undefined && !isThere(place)) {
    const earlier = [process.cwd(), ...foldersAbove(file)].map((above) => placeIn(resolve(above, folder)))
      .find((found) => isThere(found));
    if (earlier !== undefined) move(earlier.recording, place);
  }
  return place;
}

/**
 * Returns the nearest folder with a `package.json` or `deno.json`, from a folder upwards; the working directory if there is
 * none.
 */
export function packageRoot(folder) {
  const isRoot = (above) => MANIFESTS.some((name) => existsSync(join(above, name)));
  return [folder, ...foldersAbove(folder)].find(isRoot) ?? process.cwd();
}

/** True for a path in a folder, and for the folder itself. */
export function isWithin(folder, path) {
  const way = relative(folder, path);
  return way === "" || !isAbsolute(way) && !/^\.\.([/\\]|$)/.test(way);
}

/** Folders above a path, the nearest first. */
function foldersAbove(path) {
  const above = dirname(path);
  return above === path ? [] : [above, ...foldersAbove(above)];
}

function isThere({ recording }) {
  return existsSync(join(recording, "fixture.json"));
}

function move(earlier, { directory, recording }) {
  try {
    mkdirSync(directory, { recursive: true });
    renameSync(earlier, recording);
  } catch (error) {
    throw new Error(
      `Cannot move the recording "${earlier}" to "${recording}": ${error.message}\n` +
        "hint: its place no longer depends on the working directory; move it there yourself",
      { cause: error },
    );
  }
  process.stderr.write(`moved ${earlier} to ${recording}: a folder begins at the root of its package\n`);
}
