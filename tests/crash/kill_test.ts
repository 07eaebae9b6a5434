import assert from "node:assert/strict";
import { parseSessionId } from "../../src/domain/ids.ts";
import { turnFileName } from "../../src/domain/turn.ts";
import { fsckSession } from "../../src/store/fsck.ts";
import { openHome } from "../../src/store/home.ts";
import { readSession } from "../../src/store/read.ts";
import { SessionWriter } from "../../src/store/writer.ts";
import { endDraft, putPinned, testPorts, userDraft } from "../store/support.ts";
import { type Call, hasStrace, mustRun, traceDriver, variantsOf, withDirectory } from "./trace.ts";

const ignore = !hasStrace();
const ID = parseSessionId("crash");

/** The calls that change the disk, and the acknowledgements. */
function isMutating({ name, creates }: Call): boolean {
  return name === "open" ? creates : !name.startsWith("close");
}

/** What is wrong after a crash: torn or missing turns, lost acknowledged ones, a session that does not go on. */
async function wrongAfterCrash(homePath: string, saved: ReadonlyMap<number, string>): Promise<string[]> {
  const ports = testPorts();
  const home = openHome(ports, homePath, { create: true });
  const turn1 = `${home.sessions}/${ID}/turns/${turnFileName(1)}`;
  const wrong: string[] = [];
  try {
    const exists = ports.files.facts(turn1) !== null;
    if (exists) {
      const errors = (await fsckSession(ports, home, ID)).findings.filter(({ severity }) =>
        severity === "error"
      );
      wrong.push(...errors.map(({ code, path }) => `${code} ${path}`));
      const { turns } = readSession(ports, home, ID);
      for (const [turn, sum] of saved) {
        if (turns[turn - 1]?.sum !== sum) wrong.push(`lost acknowledged turn ${turn}`);
      }
    } else if (saved.size > 0) wrong.push("lost every acknowledged turn");
    const writer = exists
      ? await SessionWriter.open(ports, home, { id: ID })
      : await SessionWriter.create(ports, home, { id: ID });
    putPinned(writer);
    if (!writer.end.runEnded) writer.append(endDraft(writer.end.run));
    writer.append(userDraft("after the crash", writer.end.run + 1));
    writer.close();
    const leftovers = ports.files.list(writer.path).filter((name) => name.startsWith(".tmp-"));
    wrong.push(...leftovers.map((name) => `left ${name}`));
  } catch (error) {
    wrong.push(`does not go on: ${error}`);
  }
  return wrong;
}

/**
 * Kills the driver on entry to each changing call of `mode` in turn, each time from the same start. Returns how
 * many points there were, and what was wrong at which.
 */
async function killEverywhere(
  root: string,
  mode: string,
  prepare: (home: string) => Promise<unknown>,
): Promise<{ points: number; wrong: string[] }> {
  await prepare(`${root}/whole`);
  const whole = await traceDriver([mode, `${root}/whole`]);
  assert.ok(whole.success, whole.stderr);
  const targets = whole.calls.filter((call) =>
    isMutating(call) && call.path.startsWith(root) || isAcknowledgement(call)
  );
  const wrong: string[] = [];
  const hit = new Set<number>();
  for (const [position, target] of targets.entries()) {
    const home = `${root}/${position}`;
    // The runtime's own start may differ by a call or two: then another point was hit, and this one is tried again.
    for (let attempt = 0, shift = 0; attempt < 4 && !hit.has(position); attempt++) {
      await Deno.remove(home, { recursive: true }).catch(() => {});
      await prepare(home);
      const when = target.ordinal + shift;
      const run = await traceDriver([mode, home], `${variantsOf(target.name)}:signal=KILL:when=${when}`);
      const reached = run.calls.filter((call) =>
        isMutating(call) && call.path.startsWith(root) || isAcknowledgement(call)
      );
      for (const each of await wrongAfterCrash(home, run.saved)) {
        wrong.push(`killed at ${target.name} ${target.path.slice(root.length)}: ${each}`);
      }
      if (run.killed) hit.add(reached.length - 1);
      shift += position - (reached.length - 1);
    }
    await Deno.remove(home, { recursive: true });
  }
  assert.equal(hit.size, targets.length, "some point was not hit");
  return { points: targets.length, wrong };
}

function isAcknowledgement({ name, data }: Call): boolean {
  return name === "write" && data.startsWith("saved ");
}

Deno.test({
  name: "a first run that is killed at any changing call loses nothing that was acknowledged and goes on",
  ignore,
  fn: () =>
    withDirectory(async (root) => {
      const { points, wrong } = await killEverywhere(root, "first", () => Promise.resolve());
      assert.deepEqual(wrong, []);
      assert.ok(points >= 60, `only ${points} points`);
    }),
});

Deno.test({
  name: "a later run that is killed at any changing call loses nothing that was acknowledged and goes on",
  ignore,
  fn: () =>
    withDirectory(async (root) => {
      const { points, wrong } = await killEverywhere(root, "next", (home) => mustRun("prepare", home));
      assert.deepEqual(wrong, []);
      assert.ok(points >= 35, `only ${points} points`);
    }),
});

Deno.test({
  name: "the same harness fails a writer that writes the final file in place",
  ignore,
  fn: () =>
    withDirectory(async (root) => {
      const { wrong } = await killEverywhere(root, "naive", (home) => mustRun("prepare", home));
      assert.ok(wrong.some((each) => each.includes("bad_sum turns/000006.json")), JSON.stringify(wrong));
    }),
});
