import assert from "node:assert/strict";
import { peakMemory } from "../../bench/servers.ts";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { answerText, responseStream } from "../doors/wire/streams_answers.ts";
import { lacksBinary, lacksLinux, needing } from "../support/needs.ts";
import { Sandbox } from "../support/reprise.ts";
import { scaled } from "../support/scale.ts";
import { ID, writeRuns } from "./sessions.ts";
import { withDirectory } from "./trace.ts";

const TURNS = scaled(2000, 10_000);
const MEBIBYTES = scaled(64, 1024);
const BLOB_MEBIBYTES = 4;
/** Memory of an idle process, and some ten kilobytes a turn: a blob is never whole in memory. */
const MOST_MIB = 130 + Math.ceil(TURNS / 100);
/** Base64 makes strings of every byte, which are collected only now and then. */
const MOST_MIB_EXPORTING = 400;
/** Many times what it takes, for a busy machine with a slow disk: what grew faster than the session would not end. */
const MOST_MS = 10_000 + TURNS * 20 + MEBIBYTES * 100;

/** TMPDIR may be in memory, which is too small for a soak. */
const DISK = "/var/tmp";

/** Output of the call of a run, as long as there is room in the session. */
function largeOutput(run: number): string | null {
  return run * BLOB_MEBIBYTES > MEBIBYTES ? null : String(run).padEnd(BLOB_MEBIBYTES * 1024 * 1024, "a");
}

Deno.test({
  ...needing(
    `a session of ${TURNS} turns and ${MEBIBYTES} MiB of tool output opens, folds, runs, checks and exports in little memory`,
    lacksLinux(),
    lacksBinary(),
  ),
  fn: () =>
    withDirectory(async (home) => {
      await using sandbox = new Sandbox();
      writeRuns(home, TURNS / 5, [], largeOutput);
      /** Calls the binary, which must succeed; returns what it printed. */
      const call = async (...args: string[]): Promise<string> => {
        const env = { OPENAI_API_KEY: "sk-test-1" };
        const since = performance.now();
        const started = sandbox.start([...args, "--home", home], { env });
        let peak = 0;
        const timer = setInterval(() => peak = peakMemory(started.process.pid) ?? peak, 2);
        const { code, stdout, stderr } = await started.ended();
        clearInterval(timer);
        assert.equal(code, 0, stdout + stderr);
        const most = args[0] === "export" ? MOST_MIB_EXPORTING : MOST_MIB;
        assert.ok(peak > 0 && peak < most * 2 ** 20, `${args[0]} took ${peak} bytes of memory`);
        assert.ok(performance.now() - since < MOST_MS, `${args[0]} took ${performance.now() - since} ms`);
        return stdout;
      };
      const fixture = writeFixture(`${sandbox.directory}/fixture`, [{
        body: responseStream([answerText("Done.")]),
      }]);
      const run = ["run", "-s", ID, "-m", "gpt-5.6", "Go on"];
      const { input } = JSON.parse(await call(...run, "--dry-run", "--body"));
      assert.equal(input.length, TURNS / 5 * 6 + 1, "prompt, reasoning, call, result, reasoning, answer");
      assert.equal((await call(...run, "--fixture", fixture, "--match", "sequence")).trim(), "Done.");
      assert.equal([...Deno.readDirSync(`${home}/sessions/${ID}/turns`)].length, TURNS + 3);
      const { sessions: [{ findings }] } = JSON.parse(await call("fsck", ID, "--json"));
      assert.deepEqual(findings, []);
      await call("export", ID, `${home}/export.jsonl`);
      assert.ok(Deno.statSync(`${home}/export.jsonl`).size > MEBIBYTES * 1024 * 1024);
    }, { dir: DISK }),
});
