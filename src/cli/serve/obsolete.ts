/**
 * Recorded exchanges that a passed test does not use: marked by `record --missing --suite`, reported by both verbs, and
 * removed by `serve --suite` if a line asks for it.
 */
import { readFixture, readHeader } from "../../fixture/read.ts";
import { promptOf } from "../../fixture/inspect/timeline.ts";
import { planFixture } from "../../fixture/prune/plan.ts";
import { replaceByPruned } from "../../fixture/prune/pruned_fixture.ts";
import type { FixtureUse } from "../../fixture/serve/usage.ts";
import { sealAs } from "../../fixture/seal.ts";
import { changeFixture } from "../fixture_lock.ts";
import type { ProgramPorts } from "../live_ports.ts";

/** Marks exactly these exchanges of a recording as obsolete. */
export async function markObsolete(
  ports: ProgramPorts,
  path: string,
  numbers: readonly number[],
): Promise<void> {
  const { files } = ports;
  if (files.facts(`${path}/fixture.json`) === null) return;
  await changeFixture(ports, path, {
    tried: "mark obsolete exchanges",
    act() {
      const { files: sums, obsolete = [], ...header } = readHeader(files, path);
      if (obsolete.join() === numbers.join()) return;
      sealAs(files, path, { ...header, ...(numbers.length === 0 ? {} : { obsolete: [...numbers] }) }, sums);
    },
  });
}

/** Returns a note for each obsolete exchange of a recording. */
export function obsoleteNotes(
  { files }: Pick<ProgramPorts, "files">,
  path: string,
  numbers: readonly number[],
): string[] {
  if (numbers.length === 0) return [];
  const { exchanges } = readFixture(files, path);
  return exchanges.filter(({ number }) => numbers.includes(number)).map((exchange) =>
    `${JSON.stringify(promptOf(exchange))}, exchange ${exchange.number} of "${path}", is obsolete: ` +
    "the test does not use it. REPRISE_RECORD=prune removes it"
  );
}

/** Removes the exchanges of a recording that a passed test did not use. @returns a note for each. */
export async function pruneUnused(
  ports: ProgramPorts,
  { path, seal, used }: FixtureUse,
): Promise<string[]> {
  const { files } = ports;
  const plan = planFixture(files, { path, seal, used: new Set(used) });
  if (plan.removed.length > 0) {
    await changeFixture(ports, path, {
      tried: "remove unused exchanges",
      act: () => replaceByPruned(files, path, plan.after),
    });
  }
  return plan.removed.map(({ number, prompt }) =>
    `${JSON.stringify(prompt)}, exchange ${number} of "${path}", was removed`
  );
}
