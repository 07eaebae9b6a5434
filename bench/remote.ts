/** A turn that is saved to a remote, against a conditional put and a local append. The store is Ceph's gateway. */
import { Gateway, hasCeph } from "../scripts/remote/gateway.ts";
import { livePorts } from "../src/cli/live_ports.ts";
import { turnFileName } from "../src/domain/turn.ts";
import { parseRemote } from "../src/remote/address.ts";
import { attachSession } from "../src/remote/attach.ts";
import { readS3Settings } from "../src/remote/credentials.ts";
import { S3Store } from "../src/remote/s3.ts";
import { openHome } from "../src/store/home.ts";
import { SessionWriter } from "../src/store/write/writer.ts";
import { bench, interleave, sized, timed } from "./report.ts";
import { ID, makeSession, nextAnswers, openWriter, promptDraft } from "./session.ts";

/** Turns of one measurement. */
const BATCH = 10;

export const remote = bench({
  turn: { what: "a turn saved to a remote", against: "conditional put and local append", target: 1.3 },
}, async (context) => {
  if (!hasCeph()) return { turn: "Debian's packages of Ceph are not installed" };
  const { work } = context;
  const gateway = await Gateway.start();
  const writers: SessionWriter[] = [];
  try {
    await gateway.makeBucket("bench");
    const environment = new Map(Object.entries(gateway.environment));
    const ports = { ...livePorts(), env: (name: string) => environment.get(name) };
    const settings = readS3Settings(ports);
    const store = new S3Store(parseRemote("s3://bench/turns"), { ...ports, settings, timeoutMs: 30_000 });
    await makeSession(`${work}/shared`, 10);
    const home = openHome(ports, `${work}/shared`);
    const remote = await attachSession(ports, home, store, { id: ID, takeOver: true });
    const shared = await SessionWriter.open(ports, home, { id: ID, remote });
    writers.push(shared);
    await shared.save(promptDraft(shared.end.run + 1));
    const alone = await openWriter(`${work}/alone`, 10);
    writers.push(alone);
    const own = async () => {
      for (const draft of nextAnswers(shared, BATCH)) await shared.save(draft);
    };
    const other = async () => {
      for (const draft of nextAnswers(alone, BATCH)) {
        const name = turnFileName(alone.append(draft).turn);
        await store.putNew(`bare/${name}`, Deno.readFileSync(`${alone.path}/turns/${name}`));
      }
    };
    const rounds = { rounds: sized(context, 21, 2), warmups: 2 };
    return { turn: await interleave({ own: () => timed(own), other: () => timed(other) }, rounds) };
  } finally {
    for (const writer of writers) writer.close();
    await gateway.stop();
  }
});
