/** Tests with recorded traffic that is not in the repository: it passes the tests of tests/recordings, which has its shapes. */
import { useRecordings } from "../support/recordings.ts";

/** Folder of the recorded traffic, from the project's root. */
const SOURCE = "../shared/recordings";

/** Test files that read recordings, below tests/. */
const ALSO_HERE = [
  "doors/recordings/import_recordings_test.ts",
  "doors/wire/recorded_histories_test.ts",
  "doors/wire/streams_test.ts",
];

if (isDirectory(SOURCE)) {
  useRecordings(SOURCE);
  for (const file of ALSO_HERE) await import(`../${file}`);
} else {
  Deno.test.ignore(`recorded traffic: ${SOURCE} is absent`, () => {});
}

function isDirectory(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
