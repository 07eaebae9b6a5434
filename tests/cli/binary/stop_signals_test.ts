import assert from "node:assert/strict";
import { onStopSignals } from "../../../src/cli/signals.ts";

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

Deno.test("a signal that comes again at once is the same one, later it is another, and other signals are others", async () => {
  const came: (string | number)[] = [];
  const ignore = onStopSignals((signal, exitCode) => came.push(signal, exitCode));
  try {
    for (const after of [0, 30, 30, 300]) {
      await pause(after);
      Deno.kill(Deno.pid, "SIGTERM");
    }
    Deno.kill(Deno.pid, "SIGHUP");
    await pause(50);
  } finally {
    ignore();
  }
  assert.deepEqual(came.filter((word) => word === "SIGTERM").length, 2);
  assert.deepEqual(came.slice(0, 2), ["SIGTERM", 143]);
  assert.deepEqual(came.slice(-4).toSorted(), [129, 143, "SIGHUP", "SIGTERM"]);
});
