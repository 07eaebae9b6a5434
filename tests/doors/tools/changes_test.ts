/** Files that another program changes during a call or between a decision and its call. */
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import type { Intrusion } from "./intruder.ts";
import { type Call, Workplace } from "./workplace.ts";

/** Content that takes long enough to write that the other program comes in between. */
const LARGE = "€".repeat(900_000);

/** Runs `body` while a worker waits for a temporary file, to change the file `a.txt`. */
async function intruded(place: Workplace, content: string | null, body: () => Promise<void>): Promise<void> {
  const worker = new Worker(new URL("./intruder.ts", import.meta.url), { type: "module" });
  const said = () => new Promise<void>((resolve) => worker.onmessage = () => resolve());
  const stop = new SharedArrayBuffer(4);
  const watching = said();
  worker.postMessage({ directory: place.workspace, name: "a.txt", content, stop } satisfies Intrusion);
  await watching;
  const done = said();
  try {
    await body();
  } finally {
    Atomics.store(new Int32Array(stop), 0, 1);
    await done;
    worker.terminate();
  }
}

const CHANGES = [
  ["was changed without another size", "before", "theirs"],
  ["was created", null, "theirs"],
  ["was removed", "before", null],
] as const;

for (const [change, before, after] of CHANGES) {
  test.long(`a file that ${change} while it is replaced is left alone, and the call fails`, async () => {
    // In some attempts the other program comes too late; then nothing is tested.
    for (let attempt = 0;; attempt++) {
      await using place = new Workplace(before === null ? {} : { "a.txt": before });
      // An old time: even a clock that ticks slowly shows the change.
      if (before !== null) Deno.utimeSync(`${place.workspace}/a.txt`, 1, 1);
      let output = "";
      await intruded(place, after, async () => {
        const call: Call = ["write_file", { path: "a.txt", content: LARGE }];
        output = (await place.run([call], ["--allow", "write"]))[0]?.output ?? "";
      });
      if (output.startsWith("Wrote") && attempt < 20) continue;
      assert.match(output, /"a\.txt": it changed while it was written/);
      assert.deepEqual(place.names(), after === null ? [] : ["a.txt"]);
      if (after !== null) assert.equal(place.read("a.txt"), after);
      return;
    }
  });
}

// CVE-2026-88968, PYSEC-2026-2115.
test.long("a call whose path leads elsewhere since its decision is refused", async () => {
  await using place = new Workplace({
    "open/a.txt": "harmless",
    "secret/a.txt": "canary",
    "way": { link: "open" },
  });
  const path = "way/a.txt";
  const calls: Call[] = [
    ["shell", { command: "rm way; ln -s secret way", argv: null, timeout_seconds: null }],
    ["read_file", { path }],
    ["search_text", { path, pattern: "canary" }],
    ["write_file", { path, content: "x" }],
    ["edit_file", { path, old_text: "canary", new_text: "x" }],
  ];
  const [, ...outcomes] = await place.run(calls, ["--allow", "write,shell", "--deny", "read:secret/**"]);
  for (const { status, output } of outcomes) {
    assert.deepEqual([status, output], [
      "error",
      "Cannot run the call: its path leads elsewhere since it was permitted",
    ]);
  }
  assert.equal(place.read("secret/a.txt"), "canary");
});
