/**
 * A turn that is saved to a remote, against a bare conditional put and the local append. The store is Ceph's gateway.
 *
 * @module
 */
import { join } from "node:path";
import { Gateway, hasCeph } from "../scripts/remote/gateway.ts";
import { livePorts } from "../src/cli/live_ports.ts";
import { parseRemote } from "../src/remote/address.ts";
import { attachSession } from "../src/remote/attach.ts";
import { readS3Settings } from "../src/remote/credentials.ts";
import { S3Store } from "../src/remote/s3.ts";
import { openHome } from "../src/store/home.ts";
import { SessionWriter } from "../src/store/write/writer.ts";
import { type Bench, sized } from "./bench.ts";
import { openWriter } from "./publish.ts";
import { type Report, timeRow } from "./report.ts";
import { answerDraft, ID, makeSession, userDraft } from "./session.ts";
import { interleave, timedAsync } from "./timing.ts";

const NAME = "a turn saved to a remote";
const TURNS = 10;
/** Turns of one measurement. */
const BATCH = 10;

/** Measures `SessionWriter.save` with a remote. */
export const remoteBench: Bench = async (context) => {
  if (!hasCeph()) {
    return { rows: [{ name: NAME, skipped: "Debian's packages of Ceph are not installed" }], notes: [] };
  }
  const rounds = sized(context, { full: 21, quick: 3 });
  const directory = join(context.workDirectory, "remote");
  Deno.mkdirSync(directory);
  const gateway = await Gateway.start();
  const alone = await openWriter(join(directory, "alone"), TURNS);
  let writer: SessionWriter | null = null;
  try {
    await gateway.makeBucket("bench");
    const environment = new Map(Object.entries(gateway.environment));
    const ports = { ...livePorts(), env: (name: string) => environment.get(name) };
    const settings = readS3Settings(ports);
    const store = new S3Store(parseRemote("s3://bench/turns"), { ...ports, settings, timeoutMs: 30_000 });
    const homePath = join(directory, "shared");
    await makeSession(homePath, TURNS);
    const home = openHome(ports, homePath);
    const remote = await attachSession(ports, home, store, { id: ID, takeOver: true });
    const shared = writer = await SessionWriter.open(ports, home, { id: ID, remote });
    await shared.save(userDraft(shared.end.run + 1));
    let put = 0;
    const times = await interleave({
      saved: {
        measure: async () => {
          const { run, turn } = shared.end;
          const drafts = Array.from({ length: BATCH }, (_, index) => answerDraft(run, turn + index));
          return await timedAsync(async () => {
            for (const draft of drafts) await shared.save(draft);
          }) / BATCH;
        },
      },
      bare: {
        measure: async () => {
          const { run, turn } = alone.end;
          const drafts = Array.from({ length: BATCH }, (_, index) => answerDraft(run, turn + index));
          return await timedAsync(async () => {
            for (const draft of drafts) {
              const { turn } = alone.append(draft);
              const file = `${alone.path}/turns/${String(turn).padStart(6, "0")}.json`;
              await store.putNew(`bare/${++put}`, Deno.readFileSync(file));
            }
          }) / BATCH;
        },
      },
    }, { rounds, warmups: 2 });
    return {
      rows: [timeRow({
        name: NAME,
        against: "a conditional put and a local append",
        times: times.saved,
        againstTimes: times.bare,
        target: { bound: "at_most", value: 1.3 },
      })],
      notes: [`${rounds} rounds; each time is one turn of 2 KB, the mean of ${BATCH} in a row.`],
    } satisfies Report;
  } finally {
    writer?.close();
    alone.close();
    await gateway.stop();
  }
};
