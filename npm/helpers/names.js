/**
 * Names of the recordings of tests.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { relative } from "node:path";

/** Longest name that reprise accepts. */
const MAX_NAME = 80;
const ID_DIGITS = 8;

/**
 * Returns the name of a test's recording: its name in lower case with hyphens, and 8 hexadecimal digits of its id.
 *
 * @param {string} test Name of the test.
 * @param {string} id Text that no other test of the folder has.
 * @returns {string}
 */
export function recordingName(test, id) {
  const sum = createHash("sha256").update(id).digest("hex").slice(0, ID_DIGITS);
  const slug = test.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-/, "")
    .slice(0, MAX_NAME - ID_DIGITS - 1).replace(/-$/, "");
  return `${slug === "" ? "test" : slug}-${sum}`;
}

/**
 * Returns the id of a test: its file, seen from the folder of recordings, and the names of its groups and its own.
 *
 * @param {string} folder Absolute path of the folder with the recordings.
 * @param {string | undefined} file Absolute path of the test's file, if the runner knows it.
 * @param {readonly string[]} names
 * @returns {string}
 */
export function testId(folder, file, names) {
  const place = file === undefined ? [] : [relative(folder, file).replaceAll("\\", "/")];
  return [...place, ...names].join(" > ");
}

/** True for a name as {@link recordingName} returns it. */
export function isRecordingName(name) {
  return /-[0-9a-f]{8}$/.test(name);
}
