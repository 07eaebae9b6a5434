/**
 * Writes an archive of one folder: `.tar.gz` or, for Windows, `.zip`. The same files and time give the same bytes.
 *
 * Usage: `archive.ts --out FILE --folder NAME --time SECONDS --executable NAME=PATH --file NAME=PATH…`
 *
 * @module
 */
import { gzipSync } from "node:zlib";
import { parseArgs } from "node:util";
import { type Zippable, zipSync } from "fflate";
import { createTar } from "nanotar";
import { RepriseError } from "../../src/domain/errors.ts";
import { runScript } from "../terminal.ts";

/** A file of an archive. */
interface Member {
  /** Its path in the archive. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

/** Bits of a Unix mode that mark a plain file. */
const PLAIN_FILE = 0o100000;
/** The code of Unix in a zip file: the external attributes of its entries hold a mode. */
const UNIX = 3;

/**
 * Packs `members` as a gzipped tar file in the ustar format.
 *
 * @param time Seconds since 1970, for each file.
 */
function tarOf(members: readonly Member[], time: number): Uint8Array {
  const files = members.map(({ path, bytes, isExecutable }) => ({
    name: path,
    data: bytes,
    attrs: {
      mode: isExecutable ? "755" : "644",
      mtime: time * 1000,
      uid: 0,
      gid: 0,
      user: "root",
      group: "root",
    },
  }));
  return gzipSync(createTar(files), { level: 9 });
}

/**
 * Packs `members` as a zip file.
 *
 * @param time Seconds since 1970, for each file.
 */
function zipOf(members: readonly Member[], time: number): Uint8Array {
  // A zip file has local times: the time zone of the machine must not count.
  const utc = new Date(time * 1000);
  const local = new Date(utc.getTime() + utc.getTimezoneOffset() * 60_000);
  const entries: Zippable = {};
  for (const { path, bytes, isExecutable } of members) {
    const mode = PLAIN_FILE | (isExecutable ? 0o755 : 0o644);
    entries[path] = [bytes, { mtime: local, os: UNIX, attrs: mode * 0x10000, level: 9 }];
  }
  return zipSync(entries);
}

function main(args: readonly string[]): number {
  const { values } = parseArgs({
    args: [...args],
    options: {
      out: { type: "string" },
      folder: { type: "string" },
      time: { type: "string" },
      executable: { type: "string", multiple: true },
      file: { type: "string", multiple: true },
    },
  });
  const { out, folder, executable = [], file = [] } = values;
  const time = Number(values.time);
  if (out === undefined || folder === undefined || !Number.isSafeInteger(time)) {
    throw new RepriseError("usage", "--out, --folder and --time are needed");
  }
  const member = (pair: string, isExecutable: boolean): Member => {
    const at = pair.indexOf("=");
    const bytes = Deno.readFileSync(pair.slice(at + 1));
    return { path: `${folder}/${pair.slice(0, at)}`, bytes, isExecutable };
  };
  const members = [
    ...executable.map((pair) => member(pair, true)),
    ...file.map((pair) => member(pair, false)),
  ];
  Deno.writeFileSync(out, out.endsWith(".zip") ? zipOf(members, time) : tarOf(members, time));
  return 0;
}

if (import.meta.main) await runScript(() => Promise.resolve(main(Deno.args)));
