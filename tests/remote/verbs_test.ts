/** A session on the gateway, as the page about the remote describes it: two homes, the verbs, a store that is away. */
import assert from "node:assert/strict";
import { needing } from "../support/needs.ts";
import { events, Sandbox } from "../support/reprise.ts";
import { answer, message, startResponsesServer } from "../support/scripted_api/responses.ts";
import { environmentOf, LACKS_CEPH, Objects, withGateway } from "./place.ts";

const SECRETS = /reprise-test-secret|REPRISETEST/;

Deno.test({
  ...needing("two homes share a session: runs, renames, forks, syncs, outages", LACKS_CEPH),
  fn: async (test) =>
    await withGateway(async (gateway) => {
      await using sandbox = new Sandbox();
      const model = startResponsesServer({ script: () => answer([message("Done.")]) });
      const env = environmentOf(gateway, model, "s3://tests/verbs");
      const call = async (home: string, ...args: readonly string[]) => {
        const called = await sandbox.call([...args, "--home", `${sandbox.directory}/${home}`], { env });
        assert.doesNotMatch(called.stdout + called.stderr, SECRETS);
        return called;
      };
      const ok = async (home: string, ...args: readonly string[]) => {
        const called = await call(home, ...args);
        assert.equal(called.code, 0, called.stdout + called.stderr);
        return called;
      };
      const saved = (text: Awaited<ReturnType<typeof call>>) =>
        events(text).flatMap((event) => event.type === "turn.saved" ? [event.remote] : []);
      try {
        await test.step("a run on one machine is continued on another", async () => {
          const first = await ok("a", "run", "--json", "--new", "-s", "shared", "One");
          assert.deepEqual(saved(first), ["stored", "stored", "stored"]);
          const second = await ok("b", "run", "--json", "-s", "shared", "Two");
          assert.deepEqual(events(second)[1]?.type, "run.started");
          const { input } = model.requests.at(-1) as { readonly input: readonly unknown[] };
          assert.equal(input.length, 3);
        });
        await test.step("a prefix names a session that is here, as without a remote", async () => {
          const { stdout } = await ok("b", "run", "--json", "-s", "shar", "Again");
          assert.match(stdout, /"type":"session","id":"shared"/);
          assert.equal((await call("c", "run", "-s", "shar", "Go")).code, 2);
        });
        await test.step("an id is used once", async () => {
          assert.equal((await call("c", "run", "--new", "-s", "shared", "One")).code, 2);
        });
        await test.step("a title and a fork are on the other machine too", async () => {
          await ok("a", "rename", "shared", "From A");
          const fork = (await ok("a", "fork", "shared")).stdout.trim();
          await ok("b", "run", "-s", "shared", "Three");
          const { stdout } = await ok("b", "ls", "--json");
          assert.match(stdout, /From A/);
          await ok("b", "run", "-s", fork, "On the fork");
          await ok("b", "fsck", "--all");
        });
        await test.step("a fixture has no remote", async () => {
          const fixture = new URL("../../fixtures/demo/first", import.meta.url).pathname;
          const { code, stderr } = await call(
            "a",
            "run",
            "--remote",
            "s3://tests/x",
            "--fixture",
            fixture,
            "Go",
          );
          assert.equal(code, 2);
          assert.match(stderr, /Cannot use --remote with a fixture/);
        });
        await test.step("sync goes in either direction", async () => {
          const alone = { ...env, REPRISE_REMOTE: "" };
          const home = ["--home", `${sandbox.directory}/b`];
          assert.equal(
            (await sandbox.call(["run", "-s", "shared", "Four", ...home], { env: alone })).code,
            0,
          );
          assert.match((await ok("b", "sync", "shared")).stdout, /^shared: \d+ turns put\n$/);
          assert.match((await ok("a", "sync", "shared")).stdout, /^shared: \d+ turns fetched\n$/);
        });
        await test.step("a session that was continued without the remote is not mixed", async () => {
          await ok("a", "run", "-s", "shared", "Six");
          const alone = { ...env, REPRISE_REMOTE: "" };
          const home = ["--home", `${sandbox.directory}/b`];
          const own = await sandbox.call(["run", "-s", "shared", "Other six", ...home], { env: alone });
          assert.equal(own.code, 0, own.stderr);
          const { code, stderr } = await call("b", "run", "-s", "shared", "Seven");
          assert.deepEqual([code, /other turns/.test(stderr)], [5, true]);
        });
        await test.step("without the store a turn waits, and the next run decides", async () => {
          await gateway.killGateway();
          const away = await call("a", "run", "-s", "shared", "--timeout", "2", "Away");
          assert.equal(away.code, 10, away.stderr);
          gateway.startGateway();
          await gateway.ready();
          await ok("a", "run", "-s", "shared", "Back");
          await ok("a", "fsck", "shared");
        });
        await test.step("sessions are listed over several pages", async () => {
          const objects = new Objects(gateway, "many");
          const names = Array.from({ length: 1200 }, (_, index) => `s-${String(index).padStart(4, "0")}`);
          for (let from = 0; from < names.length; from += 50) {
            const page = names.slice(from, from + 50);
            await Promise.all(
              page.map((name) => objects.put(`${name}/turns/000001.json`, new Uint8Array(1))),
            );
          }
          assert.deepEqual((await objects.keys()).length, names.length);
          const { stdout } = await ok("a", "ls", "--json", "--remote", "s3://tests/many");
          const listed: string[] = JSON.parse(stdout).sessions.map(({ id }: { readonly id: string }) => id);
          assert.deepEqual(listed.sort(), names);
        });
        await test.step("wrong keys and a missing bucket", async () => {
          const wrong = await sandbox.call(["run", "Go", "--home", `${sandbox.directory}/d`], {
            env: { ...env, AWS_SECRET_ACCESS_KEY: "another" },
          });
          assert.equal(wrong.code, 8, wrong.stderr);
          const missing = await call("d", "run", "--remote", "s3://not-there", "Go");
          assert.equal(missing.code, 2, missing.stderr);
        });
      } finally {
        await model.stop();
      }
    }),
});
