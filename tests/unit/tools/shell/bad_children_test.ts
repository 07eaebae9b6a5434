import assert from "node:assert/strict";
import { DEFAULT_OUTPUT_CHARS } from "../../../../src/tools/output.ts";
import { assertGroupsGone, pidsIn, run } from "./children.ts";
import { Workspace } from "../workspace.ts";
import { test } from "../../../support/test.ts";

const SHELL = { ignore: Deno.build.os === "windows" } as const;
const MIB = 1024 * 1024;

/** Milliseconds that `work` takes. */
async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

test.long({
  ...SHELL,
  name: "a child that forks is ended with all that it started",
  async fn() {
    using workspace = new Workspace();
    const command =
      "echo $$ > leader; (sleep 60 & sleep 60 & sleep 60) & (setsid true; sleep 60 | sleep 60) & sleep 60";
    const took = await timed(async () => {
      const { status, output } = await run(workspace, command, { seconds: 1 });
      assert.deepEqual([status, output], ["error", "[Timed out after 1 s and was ended; no output]"]);
    });
    assert(took < 20_000, `${took} ms`);
    assertGroupsGone(pidsIn(workspace, "leader"));
  },
});

test.long({
  ...SHELL,
  name: "a child that ignores SIGTERM is killed, with its children that ignore it too",
  async fn() {
    using workspace = new Workspace();
    const stubborn =
      "trap '' TERM INT HUP; echo $$ > leader; (trap '' TERM; sleep 60; sleep 60) & sleep 60; sleep 60";
    const took = await timed(async () => {
      assert.match(
        (await run(workspace, stubborn, { seconds: 1 })).output,
        /^\[Timed out after 1 s and was ended/,
      );
    });
    assert(took < 20_000, `${took} ms`);
    assertGroupsGone(pidsIn(workspace, "leader"));
  },
});

test.long({
  ...SHELL,
  name: "a child that leaves processes with its pipes open is not waited for, and they are ended",
  async fn() {
    using workspace = new Workspace();
    const rows: [string, string][] = [
      ["echo $$ > leader; sleep 60 & echo hi", "hi\n"],
      ["echo $$ > leader; (trap '' TERM; sleep 60; sleep 60) & echo hi", "hi\n"],
      ["echo $$ > leader; sleep 60 > /dev/null 2>&1 & echo hi", "hi\n"],
      // Their output within the grace is not lost.
      [
        "echo $$ > leader; (while kill -0 $$; do :; done 2> /dev/null; echo late; sleep 60) & echo hi",
        "hi\nlate\n",
      ],
    ];
    for (const [command, expected] of rows) {
      const took = await timed(async () => {
        const { status, output } = await run(workspace, command);
        assert.equal(status, "ok");
        const length = expected.length;
        assert.equal(
          output,
          `[Exit code 0; processes that it left behind were ended; ${length} bytes of output follow]\n${expected}`,
        );
      });
      assert(took < 20_000, `${took} ms: ${command}`);
      assertGroupsGone(pidsIn(workspace, "leader"));
    }
  },
});

test.long({
  ...SHELL,
  name: "a process that left the group cannot hold the result back through its pipe",
  async fn() {
    using workspace = new Workspace();
    const took = await timed(async () => {
      const { output } = await run(
        workspace,
        "setsid sh -c 'echo $$ > stray; sleep 60' & sleep 0.2; echo hi",
      );
      assert.match(output, /^\[Exit code 0;.*\]\nhi\n$/);
    });
    for (const pid of pidsIn(workspace, "stray")) Deno.kill(-pid, "SIGKILL");
    assert(took < 20_000, `${took} ms`);
  },
});

test.long({
  ...SHELL,
  name: "a child that floods its output is read at full speed, cut, and ended; memory stays flat",
  async fn() {
    using workspace = new Workspace();
    await run(workspace, "head -c 40000000 /dev/zero");
    const before = Deno.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => peak = Math.max(peak, Deno.memoryUsage().rss), 10);
    try {
      for (
        const command of ["echo $$ > leader; exec yes", "echo $$ > leader; yes >&2 & exec cat /dev/zero"]
      ) {
        const took = await timed(async () => {
          const { status, output, full } = await run(workspace, command, { seconds: 30 });
          assert.equal(status, "error");
          assert.match(
            output,
            /^\[Ended because it wrote more than 256 MiB; .*dropped; 1677\d+ bytes of output follow\]/,
          );
          assert(output.length <= DEFAULT_OUTPUT_CHARS && output.length > DEFAULT_OUTPUT_CHARS - 600);
          assert.match(output, /\n\[… \d+ bytes left out here; the session keeps them …\]\n/);
          assert(full !== undefined && full.bytes.length <= 16 * MIB + 200);
        });
        assert(took < 20_000, `${took} ms`);
        assertGroupsGone(pidsIn(workspace, "leader"));
      }
    } finally {
      clearInterval(watch);
    }
    const grown = (peak - before) / MIB;
    assert(grown < 150, `${grown} MiB for 512 MiB of output`);
  },
});

test.long({
  ...SHELL,
  name: "a child that writes single bytes without end costs no more memory than its kept bytes",
  async fn() {
    using workspace = new Workspace();
    const before = Deno.memoryUsage().rss;
    // Each line is one write of two bytes.
    const { output } = await run(workspace, "while :; do echo x; done", { seconds: 2 });
    assert.match(output, /^\[Timed out after 2 s and was ended; \d+ bytes of output follow\]\nx\nx\n/);
    assert((Deno.memoryUsage().rss - before) / MIB < 100);
  },
});

test.long({
  ...SHELL,
  name: "a child that writes invalid UTF-8 is shown with U+FFFD, said so, and kept byte for byte",
  async fn() {
    using workspace = new Workspace();
    const { status, output, full } = await run(workspace, "printf 'a\\377\\000b\\303'");
    assert.equal(status, "ok");
    assert.match(output, /^\[Exit code 0; not UTF-8: .*; 5 bytes of output follow\]\na\ufffd\0b\ufffd$/);
    assert.deepEqual([...full?.bytes ?? []], [97, 0xff, 0, 98, 0xc3]);
    assert.equal(full?.lossy, true);
    // A character that arrives in two pieces is no loss.
    const split = await run(workspace, "printf '\\303'; sleep 0.1; printf '\\251'");
    assert.equal(split.output, "[Exit code 0; 2 bytes of output follow]\né");
  },
});

test.long({
  ...SHELL,
  name: "a child that closes its pipes is waited for until its end, or until its time is over",
  async fn() {
    using workspace = new Workspace();
    const { output } = await run(workspace, "exec >&- 2>&-; sleep 0.3; exit 7");
    assert.equal(output, "[Exit code 7; no output]");
    const slow = await run(workspace, "echo $$ > leader; exec >&- 2>&-; sleep 60", { seconds: 1 });
    assert.equal(slow.output, "[Timed out after 1 s and was ended; no output]");
    assertGroupsGone(pidsIn(workspace, "leader"));
  },
});

test.long({
  ...SHELL,
  name: "a child that is stopped or waits on stdin does not hang the run",
  async fn() {
    using workspace = new Workspace();
    assert.match((await run(workspace, "read line; echo got:$line")).output, /\ngot:\n$/);
    const stopped = await run(workspace, "echo $$ > leader; kill -STOP $$", { seconds: 1 });
    assert.match(stopped.output, /^\[Timed out after 1 s/);
    assertGroupsGone(pidsIn(workspace, "leader"));
  },
});

test.long({
  ...SHELL,
  name: "an abort ends the whole group first, and then rejects with its reason",
  async fn() {
    using workspace = new Workspace();
    const commands = [
      "echo $$ > leader; sleep 60 & sleep 60",
      "trap '' TERM; echo $$ > leader; sleep 60; sleep 60",
      "echo $$ > leader; sleep 60 & true",
    ];
    for (const command of commands) {
      const controller = new AbortController();
      const reason = new Error("stopped by the test");
      const running = run(workspace, command, { signal: controller.signal });
      setTimeout(() => controller.abort(reason), 250);
      await assert.rejects(running, reason);
      assertGroupsGone(pidsIn(workspace, "leader"));
    }
  },
});

test.long({
  ...SHELL,
  name: "an abort at any moment of a short command leaves no process",
  async fn() {
    using workspace = new Workspace();
    const groups: number[] = [];
    for (let delay = 0; delay < 30; delay++) {
      const controller = new AbortController();
      const running = run(workspace, "echo $$ > leader; sleep 0.01; (sleep 60 &) ; echo x", {
        signal: controller.signal,
      });
      setTimeout(() => controller.abort(new Error("stop")), delay);
      await running.catch(() => {});
      try {
        groups.push(...pidsIn(workspace, "leader"));
      } catch {
        // It was ended before it could write its number.
      }
    }
    assertGroupsGone(groups);
  },
});
