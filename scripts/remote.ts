/** `deno task gateway`: an S3-compatible store on loopback, until Ctrl-C. Prints the variables for reprise. */
import { Gateway, hasCeph } from "./remote/gateway.ts";
import { runScript, say } from "./terminal.ts";

const BUCKET = "reprise";

/** Runs the gateway until the process is interrupted. */
async function main(): Promise<number> {
  if (!hasCeph()) {
    say("This needs Debian's packages ceph-mon, ceph-osd, radosgw and ceph-common");
    return 2;
  }
  const gateway = await Gateway.start();
  await gateway.makeBucket(BUCKET);
  for (const [name, value] of Object.entries(gateway.environment)) say(`export ${name}=${value}`);
  say(`export REPRISE_REMOTE=s3://${BUCKET}/sessions`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, resolve);
  });
  await gateway.stop();
  return 0;
}

if (import.meta.main) await runScript(() => main());
