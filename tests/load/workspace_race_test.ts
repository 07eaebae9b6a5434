/** A whole run writes while another program exchanges its directory for a link to a directory outside. */
import assert from "node:assert/strict";
import { calling, content, NEW_RUN, statuses } from "../cli/changes.ts";
import { Place } from "../cli/harness.ts";
import { write } from "../support/calls.ts";
import { ending } from "../support/reprise.ts";
import { whileSwapping } from "../support/swapping.ts";
import { scaled } from "../support/scale.ts";

const RUNS = scaled(4, 200);
/** Calls of one run. With 480, every run of a binary with fewer permissions wrote outside. */
const WRITES = 480;
const CANARY = "outside";

Deno.test(`no write of ${RUNS} runs leaves the workspace while its directory and a link are exchanged`, {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const writes = Array.from({ length: WRITES }, (_, number) => write("dir/name.txt", `inside ${number}`));
  await using place = new Place(calling(...writes));
  const { workspace, directory } = place.sandbox;
  const outside = `${directory}/outside`;
  fill(outside);
  Deno.mkdirSync(`${workspace}/dir`);
  const broken: string[] = [];
  const count = { ok: 0, error: 0 };
  await whileSwapping({ root: workspace, outside }, "dir", async () => {
    for (let run = 1; run <= RUNS; run++) {
      const called = await place.call([...NEW_RUN, "--allow", "write", "Go"]);
      assert.equal(ending(called).state, "completed", called.stdout.slice(-2000) + called.stderr);
      for (const status of statuses(place)) count[status as keyof typeof count]++;
      Deno.removeSync(place.path("s"), { recursive: true });
      const found = contents(outside);
      if (found !== `name.txt: ${CANARY}`) broken.push(`run ${run}: ${found}`);
      fill(outside);
    }
  }, { exchange: true });
  assert.deepEqual(broken, []);
  // Otherwise no swap met a write, or no write succeeded, and nothing was tested.
  assert(count.ok > RUNS && count.error > RUNS * WRITES / 10, JSON.stringify(count));
  assert.match(content(place, "dir/name.txt"), /^inside \d+$/);
});

/** Empties the directory down to the one file that no run may change. */
function fill(directory: string): void {
  Deno.mkdirSync(directory, { recursive: true });
  for (const { name } of Deno.readDirSync(directory)) Deno.removeSync(`${directory}/${name}`);
  Deno.writeTextFileSync(`${directory}/name.txt`, CANARY);
}

function contents(directory: string): string {
  return [...Deno.readDirSync(directory)].map(({ name }) =>
    `${name}: ${Deno.readTextFileSync(`${directory}/${name}`)}`
  ).sort().join(", ");
}
