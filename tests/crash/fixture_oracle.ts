/**
 * Reads a fixture by docs/fixtures.md alone, without any code of the program: the harness must not believe the reader
 * that it tests.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";

/** Exchange as its files show it. */
export interface SeenExchange {
  /** `input` of the request. */
  readonly input: string;
  /** Recorded answer, byte for byte. */
  readonly answer: string;
}

/** Fixture as its files show it. */
export interface SeenFixture {
  readonly exchanges: readonly SeenExchange[];
  /** True if a killed process left its staging folder. */
  readonly isLeft: boolean;
}

const STAGING = ".recording";

/**
 * Returns the fixture in a folder; `null` if there is none.
 *
 * @throws {Error} if anything in it is torn, missing or unlisted.
 */
export function seenFixture(path: string): SeenFixture | null {
  const isLeft = existsSync(`${path}/${STAGING}`);
  if (!existsSync(`${path}/fixture.json`)) {
    if (!isLeft && existsSync(`${path}/exchanges`)) {
      throw new Error(`${path}: exchanges without fixture.json`);
    }
    return null;
  }
  const { format, files, recordings } = JSON.parse(readFileSync(`${path}/fixture.json`, "utf8"));
  if (format !== "reprise.fixture/1") throw new Error(`${path}: format ${format}`);
  for (const [name, sum] of Object.entries(files)) {
    if (sha256(`${path}/${name}`) !== sum) throw new Error(`${path}: ${name} has another sum`);
  }
  const numbers = [...new Set(Object.keys(files).flatMap((name) => numberOf(name) ?? []))].sort((a, b) =>
    a - b
  );
  const unlisted = filesBelow(path).filter((name) =>
    !Object.hasOwn(files, name) && name !== "fixture.json" && name !== ".gitattributes" &&
    !(isLeft && (name === "fixture.json.new" || numberOf(name) !== null))
  );
  if (unlisted.length > 0) throw new Error(`${path}: unlisted ${unlisted.join(", ")}`);
  requireRecordings(path, recordings, numbers.length);
  return { exchanges: numbers.map((number) => exchangeAt(path, number)), isLeft };
}

function exchangeAt(path: string, number: number): SeenExchange {
  const folder = `${path}/exchanges/${String(number).padStart(4, "0")}`;
  const { body } = JSON.parse(readFileSync(`${folder}/request.json`, "utf8"));
  JSON.parse(readFileSync(`${folder}/response.json`, "utf8"));
  return { input: body.input, answer: readFileSync(`${folder}/body`, "utf8") };
}

/** Requires the recordings of a fixture that has grown to cover its exchanges in order. */
function requireRecordings(path: string, recordings: unknown, exchanges: number): void {
  if (recordings === undefined) return;
  let next = 1;
  for (const { exchanges: [first, last] } of recordings as { exchanges: [number, number] }[]) {
    if (first !== next || last < first) {
      throw new Error(`${path}: a recording of ${first} to ${last} at ${next}`);
    }
    next = last + 1;
  }
  if (next !== exchanges + 1) {
    throw new Error(`${path}: recordings end before exchange ${next} of ${exchanges}`);
  }
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function numberOf(name: string): number | null {
  const digits = /^exchanges\/(\d{4,})\//.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Paths of the files in a folder, except those of the staging folder. */
function filesBelow(path: string, prefix = ""): string[] {
  return readdirSync(`${path}/${prefix}`).flatMap((name) => {
    const inner = `${prefix}${name}`;
    if (inner === STAGING) return [];
    return statSync(`${path}/${inner}`).isDirectory() ? filesBelow(path, `${inner}/`) : [inner];
  });
}
