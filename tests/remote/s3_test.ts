/** What a real server with the API of S3 does: pages of lists, removal, conditional puts, and restarts. */
import assert from "node:assert/strict";
import { SessionHome } from "../doors/sessions/home.ts";
import { needing } from "../support/needs.ts";
import { said } from "../support/reprise.ts";
import { LACKS_CEPH, Objects, withGateway } from "./place.ts";

/** More than a page of a list. */
const MANY = 1200;

Deno.test({
  ...needing("a session on Ceph's gateway: bytes, pages, removal, restarts", LACKS_CEPH),
  fn: async (test) =>
    await withGateway(async (gateway) => {
      await using home = new SessionHome();
      const { id, path } = home.session();
      const objects = new Objects(gateway, "one/two");
      const env = { ...gateway.environment, REPRISE_REMOTE: "s3://tests/one/two" };
      const ok = async (...args: readonly string[]) => {
        const called = await home.call(args, { env });
        assert.equal(called.code, 0, said(called));
        return called;
      };
      const counted = async () => (await objects.keys()).length;

      await test.step("gets every byte of a session, and keeps no probe", async () => {
        await ok("sync", id);
        const keys = await objects.keys();
        const turns = keys.filter((key) => key.startsWith(`${id}/turns/`));
        assert.equal(turns.length, home.turnNames(id).length);
        assert.deepEqual(keys.filter((key) => !key.startsWith(`${id}/`)), []);
        for (const key of turns) {
          assert.deepEqual(await objects.bytes(key), Deno.readFileSync(path + key.slice(id.length)));
        }
      });

      await test.step("is asked again while it restarts", async () => {
        await gateway.killGateway();
        const waiting = ok("sync", id, "--timeout", "30");
        gateway.startGateway();
        await waiting;
        await gateway.ready();
      });

      await test.step(`removes ${MANY} objects more, over several pages`, async () => {
        const before = await counted();
        const names = Array.from({ length: MANY }, (_, index) => `${id}/more/${index}`);
        for (let from = 0; from < MANY; from += 50) {
          await Promise.all(
            names.slice(from, from + 50).map((name) => objects.put(name, new Uint8Array(1))),
          );
        }
        assert.equal(await counted(), before + MANY);
        await ok("rm", id, "--remote", "--yes");
        assert.deepEqual(await objects.keys(), [`${id}/removed.json`]);
      });
    }),
});
