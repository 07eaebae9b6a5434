/** Tests for the process that may get a signal, by the owner line of a session's lock. */
import assert from "node:assert/strict";
import type { ProcessIdentity } from "../../../src/domain/ports.ts";
import type { LockOwner } from "../../../src/store/write/file_lock.ts";
import { signalledPid } from "../../../src/store/write/lock.ts";
import { ID, testPorts, testProcess, withHome } from "./support.ts";

const HERE = { pid_namespace: "pid:[4026532198]", boot_id: "5f4a" };
const OWNER: ProcessIdentity = { ...HERE, start_time: 17 };

/** Asks as process 42 of a container, in which each other number runs since start time 17. */
function signalled(owner: Partial<LockOwner>, asking = 42): Promise<number> {
  return withHome((home) => {
    const process = testProcess({
      pid: asking,
      identityOf: (pid) => ({ ...HERE, start_time: pid === asking ? 99 : 17 }),
      hasOpen: () => true,
    });
    const line = { pid: 1, host: process.host, since: "2026-11-21T20:18:00.000Z", ...owner };
    return Promise.resolve(signalledPid(testPorts({ process }), { home, id: ID, owner: line }));
  });
}

Deno.test("a writer that is process 1 of its container is signalled if its identity fits", async () => {
  assert.equal(await signalled({ identity: OWNER }), 1);
});

const REFUSED: Readonly<Record<string, readonly [owner: Partial<LockOwner>, says: RegExp]>> = {
  "process 1 without an identity": [{}, /process 1 is no writer/],
  "process 1 of another namespace": [
    { identity: { ...OWNER, pid_namespace: "pid:[1]" } },
    /another PID namespace/,
  ],
  "a process 1 that started at another time": [{ identity: { ...OWNER, start_time: 3 } }, /another time/],
  "process 0": [{ pid: 0, identity: OWNER }, /process 0 is no writer/],
  "a process group": [{ pid: -1, identity: OWNER }, /process -1 is no writer/],
  "part of a number": [{ pid: 1.5, identity: OWNER }, /process 1.5 is no writer/],
  "the asking process": [{ pid: 42, identity: OWNER }, /process 42 is no writer/],
};

for (const [who, [owner, says]] of Object.entries(REFUSED)) {
  Deno.test(`no signal goes to ${who}`, async () => {
    await assert.rejects(() => signalled(owner), { code: "session_locked", message: says });
  });
}
