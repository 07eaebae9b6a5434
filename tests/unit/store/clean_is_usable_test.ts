/** fsck and the verbs apply the same rules: they accept each session that it finds sound, and it names each that they refuse. */
import assert from "node:assert/strict";
import { RepriseError } from "../../../src/domain/errors.ts";
import { parseSessionId, type SessionId } from "../../../src/domain/ids.ts";
import type { Ports } from "../../../src/domain/ports.ts";
import { sessionInstructions } from "../../../src/cli/run/resolve_run.ts";
import { closeKilledRun, usageOfRun } from "../../../src/run/recover.ts";
import { exportSession } from "../../../src/store/transfer/export.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { type FsckFinding, type FsckReport, fsckSession } from "../../../src/store/check/fsck.ts";
import { systemCode } from "../../../src/store/fs_errors.ts";
import { type Home, openHome } from "../../../src/store/home.ts";
import { importSession } from "../../../src/store/transfer/import.ts";
import { repairSession } from "../../../src/store/repair/repair.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { Dice } from "../fold/dice.ts";
import { nextBody } from "./repaired.ts";
import { copySession, ODDITIES } from "./odd_sessions.ts";
import { makeKinds } from "./session_kinds.ts";
import { spyFiles } from "./spy_files.ts";
import { endDraft, portsOn, putPinned, testPorts, userDraft } from "./support.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const FORK = parseSessionId("fork-of-it");

interface Place {
  readonly ports: Ports;
  readonly home: Home;
  readonly id: SessionId;
}

/** Each verb on a session, up to its end. All but `run` leave the session unchanged. */
const VERBS: Readonly<Record<string, (place: Place, clean: boolean) => unknown>> = {
  export: ({ ports, home, id }) => {
    const source = [...exportSession(ports, home, { id, redact: false }).chunks].map((chunk) =>
      chunk.slice()
    );
    const elsewhere = openHome(ports, `${home.path}/elsewhere`);
    return importSession(ports, elsewhere, { source, name: "export", dryRun: true });
  },
  fork: async ({ ports, home, id }, clean) => {
    const plan = planFork(ports, home, { parent: id });
    const usage = plan.closes === null ? undefined : usageOfRun(plan.kept, plan.closes);
    const none = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };
    const { path } = await forkSession(ports, home, plan, {
      id: FORK,
      summary: "It continued.",
      usage: usage ?? none,
    });
    try {
      // Blobs are linked without reading them.
      const { findings } = await fsckSession(ports, home, FORK);
      assert.deepEqual(clean ? errorsIn(findings) : [], [], "fsck refuses the fork");
    } finally {
      Deno.removeSync(path, { recursive: true });
    }
  },
  run: async ({ ports, home, id }) => {
    const writer = await SessionWriter.open(ports, home, { id });
    try {
      const { manifest } = writer;
      if (manifest === null) throw new TypeError("An opened session has a manifest");
      sessionInstructions(ports, home, manifest);
      await closeKilledRun(writer);
      putPinned(writer);
      writer.append(userDraft("go on", manifest.run + 1));
      nextBody(writer.turns);
      writer.append(endDraft(manifest.run + 1));
    } finally {
      writer.close();
    }
  },
};

function errorsIn(findings: readonly FsckFinding[]): FsckFinding[] {
  return findings.filter(({ severity }) => severity === "error");
}

/** Warnings about sessions that fsck cannot judge or that have no turn: verbs refuse them with exit code 2. */
const UNJUDGED: ReadonlySet<string> = new Set(["newer_format", "newer_kind", "no_turns"]);

/** Asserts that the verbs and fsck agree. Returns whether fsck found the session sound. */
async function assertAgree(place: Place, report: FsckReport, where: string): Promise<boolean> {
  const errors = errorsIn(report.findings);
  const clean = errors.length === 0 && !report.findings.some(({ code }) => UNJUDGED.has(code));
  for (const [verb, use] of Object.entries(VERBS)) {
    let refusal: unknown = null;
    try {
      await use(place, clean);
    } catch (error) {
      refusal = error;
    }
    if (refusal === null) {
      // Damage before a checkpoint stays, and the run does not look there.
      const { findings } = await fsckSession(place.ports, place.home, place.id);
      assert.ok(
        !clean || errorsIn(findings).length === 0,
        `${where}: after ${verb}, ${JSON.stringify(findings)}`,
      );
      continue;
    }
    const message = `${where}: ${verb} refuses with ${refusal}`;
    assert.ok(!clean, `${message}, and fsck finds ${JSON.stringify(report.findings)}`);
    assert.ok(refusal instanceof RepriseError, message);
    if (refusal.code === "session_damaged") {
      assert.ok(errors.length > 0, `${message}, and fsck finds no error`);
    }
  }
  return clean;
}

/** Runs `body` on each of many odd sessions, without any fsync: no test here is about power failures. */
async function forOddSessions(
  count: number,
  seed: number,
  body: (place: Place, where: string) => Promise<void>,
): Promise<void> {
  const ports = portsOn(spyFiles(() => {}, { syncs: false }));
  const memory = "/dev/shm";
  const dir = ports.files.facts(memory) === null ? {} : { dir: memory };
  const root = await Deno.makeTempDir({ prefix: "reprise-odd-", ...dir });
  try {
    const origin = openHome(testPorts(), `${root}/origin`, { create: true });
    const ids = await makeKinds(ports, origin);
    for (let sample = 0; sample < count; sample++) {
      const dice = new Dice(seed + sample);
      const home = openHome(ports, `${root}/home`, { create: true });
      const id = dice.pick(ids);
      const path = `${home.sessions}/${id}`;
      copySession(`${origin.sessions}/${id}`, path);
      const names = Array.from({ length: dice.count(1, 3) }, () => dice.pick(Object.keys(ODDITIES)));
      for (const name of names) {
        try {
          ODDITIES[name]?.(path, dice);
        } catch (error) {
          // The one before may have left nothing to do this to.
          if (systemCode(error) === null && !(error instanceof Deno.errors.NotADirectory)) throw error;
        }
      }
      await body({ ports, home, id }, `sample ${sample} (${id}: ${names.join("; ")})`);
      await Deno.remove(home.path, { recursive: true });
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

test.long(`of ${samples(6_000)} odd sessions, run, export and fork accept each in which fsck finds no error, and fsck names an error in each that they refuse as damaged`, async () => {
  let clean = 0;
  await forOddSessions(samples(6_000), 23, async (place, where) => {
    const report = await fsckSession(place.ports, place.home, place.id);
    if (await assertAgree(place, report, where)) clean++;
  });
  assert.ok(clean > samples(6_000) / 10, `only ${clean} were sound: the property says little`);
});

test.long(`of ${samples(2_000)} odd sessions, run, export and fork accept each that repair accepts`, async () => {
  let repaired = 0;
  await forOddSessions(samples(2_000), 977, async (place, where) => {
    const { ports, home, id } = place;
    try {
      const { lostBlobs } = await repairSession(ports, home, { id, waitMs: 0 });
      await record(place, lostBlobs.map(({ sha256 }) => sha256));
    } catch (error) {
      assert.ok(error instanceof RepriseError, `${where}: ${error}`);
      assert.match(error.code, /^(?:session_damaged|format_too_new|no_such_session)$/, `${where}: ${error}`);
      return;
    }
    const report = await fsckSession(ports, home, id);
    assert.deepEqual(errorsIn(report.findings), [], where);
    assert.ok(await assertAgree(place, report, where));
    repaired++;
  });
  assert.ok(repaired > samples(2_000) / 2, `only ${repaired} could be repaired`);
});

/** Records what the verb `repair` records after it repaired the files. */
async function record({ ports, home, id }: Place, lost: readonly string[]): Promise<void> {
  const writer = await SessionWriter.open(ports, home, { id });
  try {
    await closeKilledRun(writer);
    if (lost.length === 0) return;
    writer.append({
      kind: "harness",
      run: writer.end.run,
      events: lost.map((sha256) => ({ type: "blob_lost", sha256 })),
    });
  } finally {
    writer.close();
  }
}
