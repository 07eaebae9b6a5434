/**
 * Conditions that must hold on a disk after a power cut.
 *
 * @module
 */
import { sha256Hex } from "../../../src/domain/hash.ts";
import type { Told } from "./simulate.ts";
import { type Bench, exportPath, isDamaged, namesIn, runArgs, sessionsIn, verbArgs } from "./workload.ts";

/**
 * Findings on a mounted disk: acknowledged turns and files that are lost or changed, sessions that came back, damage that
 * `fsck` finds, a next run or a `gc` that fails.
 */
export async function wrongAfterCut(bench: Bench, told: Told): Promise<string[]> {
  const wrong = [...lost(bench, told), ...lostTurns(bench, told), ...unexpected(bench, told)];
  const mustPass = async (args: readonly string[]) => {
    const { success, stdout, stderr } = await new Deno.Command(bench.binary, {
      args: [...args],
      stdin: "null",
    })
      .output();
    const decoder = new TextDecoder();
    if (!success) wrong.push(`${args[0]} failed: ${decoder.decode(stdout)}${decoder.decode(stderr)}`.trim());
  };
  if (told.current?.damages === true || told.done.at(-1)?.step.name === "damage") {
    await mustPass(verbArgs(bench, "repair", "crash"));
  }
  const fsck = verbArgs(bench, "fsck", "--all");
  if (sessionsIn(bench.disk).length > 0) await mustPass(fsck);
  const exported = told.done.some(({ step }) => step.name === "export");
  let isBegun = hasTurn(bench);
  if (exported && !isBegun) {
    await mustPass(verbArgs(bench, "import", exportPath(bench)));
    isBegun = true;
  }
  await mustPass(runArgs(bench, { session: "crash", isNew: !isBegun }));
  await mustPass(verbArgs(bench, "gc"));
  await mustPass(fsck);
  const hidden = namesIn(`${bench.disk}/home/sessions`).filter((name) => name.startsWith("."));
  return hidden.length === 0 ? wrong : [...wrong, `gc left ${hidden.join(", ")}`];
}

function hasTurn({ disk }: Bench): boolean {
  return namesIn(`${disk}/home/sessions/crash/turns`).includes("000001.json");
}

/** Files that were in view when the last step was done, and that the next one leaves alone. */
function lost({ disk }: Bench, { done, current }: Told): string[] {
  const inView = new Set(sessionsIn(disk));
  return [...done.at(-1)?.snapshot ?? []].flatMap(([path, sha256]) => {
    if (current?.damages === true && isDamaged(path)) return [];
    if (current?.whole !== undefined && !inView.has(current.whole) && path.includes(`/${current.whole}/`)) {
      return [];
    }
    const found = contentOf(`${disk}/${path}`);
    if (found === null) return [`${path} is lost`];
    return sha256Hex(found) === sha256 ? [] : [`${path} has another content (${found.length} bytes)`];
  });
}

function lostTurns({ disk }: Bench, { saved }: Told): string[] {
  return saved.flatMap(({ session, turn, sum }) => {
    const found = contentOf(`${disk}/home/sessions/${session}/turns/${String(turn).padStart(6, "0")}.json`);
    const isThere = found !== null && new TextDecoder().decode(found).endsWith(`"sum":"${sum}"}\n`);
    return isThere ? [] : [`turn ${turn} of ${session}, which was acknowledged, is not there`];
  });
}

/** Sessions in view that were not there, or were removed. */
function unexpected({ disk }: Bench, { done, current }: Told): string[] {
  const known = [...done.at(-1)?.snapshot.keys() ?? []].map((path) => path.split("/")[2]);
  return sessionsIn(disk).flatMap((id) => {
    const isMade = current?.creates === true || current?.whole === id || current?.name === "run with tools";
    return isMade || known.includes(id) ? [] : [`session ${id} is in view`];
  });
}

function contentOf(path: string): Uint8Array | null {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
