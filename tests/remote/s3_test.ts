/** The object store on a real server with the API of S3. */
import assert from "node:assert/strict";
import { needing } from "../support/needs.ts";
import { probe } from "../../src/remote/open.ts";
import { LACKS_CEPH, storeOn, withGateway } from "./place.ts";

const WRITERS = 8;
const NUMBERS = 50;
const MANY = 1200;

Deno.test({
  ...needing("the store on Ceph's gateway: races, pages, bytes, errors, outages", LACKS_CEPH),
  fn: async (test) =>
    await withGateway(async (gateway) => {
      const store = storeOn(gateway, "s3://tests/one/two");
      await test.step("decides conditional puts", async () => {
        await probe(store, Math.random);
        const keys: string[] = [];
        for await (const { key } of store.list("")) keys.push(key);
        assert.deepEqual(keys, [], "the probe leaves nothing");
      });

      await test.step(`gives each of ${NUMBERS} keys to one of ${WRITERS} writers`, async () => {
        for (let number = 1; number <= NUMBERS; number++) {
          const puts = Array.from({ length: WRITERS }, (_, writer) =>
            store.putNew(`race/${number}`, new TextEncoder().encode(`writer ${writer}`)));
          const answers = await Promise.all(puts);
          const winners = answers.flatMap((answer, writer) =>
            answer === "stored" ? [writer] : []
          );
          assert.equal(winners.length, 1, `number ${number}: ${answers.join()}`);
          const kept = await store.get(`race/${number}`);
          assert.equal(new TextDecoder().decode(kept?.bytes), `writer ${winners[0]}`);
        }
      });

      await test.step("returns the bytes that were put, and their age", async () => {
        const bytes = crypto.getRandomValues(new Uint8Array(60_000));
        assert.equal(await store.putNew("bytes", bytes), "stored");
        const read = await store.get("bytes");
        assert.deepEqual(read?.bytes, bytes);
        assert.deepEqual([await store.size("bytes"), await store.size("nothing")], [bytes.length, null]);
        assert.ok((read?.ageMs ?? -1) >= 0 && (read?.ageMs ?? Infinity) < 60_000);
        assert.equal(await store.get("nothing"), null);
        await store.put("bytes", new Uint8Array());
        assert.equal((await store.get("bytes"))?.bytes.length, 0);
        await store.remove("bytes");
        await store.remove("bytes");
        assert.equal(await store.get("bytes"), null);
      });

      await test.step(`lists ${MANY} objects over several pages, in order`, async () => {
        const names = Array.from({ length: MANY }, (_, index) => `many/${String(index).padStart(6, "0")}`);
        for (let from = 0; from < MANY; from += 50) {
          await Promise.all(
            names.slice(from, from + 50).map((name) => store.putNew(name, new Uint8Array(1))),
          );
        }
        const listed: string[] = [];
        for await (const { key } of store.list("many/")) listed.push(key);
        assert.deepEqual(listed, names);
        const later: string[] = [];
        for await (const { key } of store.list("many/", { after: names[1195] as string })) later.push(key);
        assert.deepEqual(later, names.slice(1196));
      });

      await test.step("names wrong keys and missing buckets", async () => {
        const denied = { code: "remote_denied", exitCode: 8 };
        const wrong = storeOn(gateway, "s3://tests", { secret: "another-secret" });
        await assert.rejects(wrong.get("x"), denied);
        await assert.rejects(wrong.putNew("x", new Uint8Array()), (error: Error) => {
          assert.ok(!error.message.includes("another-secret"));
          return true;
        });
        const missing = { code: "no_such_bucket", exitCode: 2 };
        await assert.rejects(storeOn(gateway, "s3://not-there").get("x"), missing);
        await assert.rejects(storeOn(gateway, "s3://not-there").putNew("x", new Uint8Array()), missing);
      });

      await test.step("names a clock that is an hour off", async () => {
        const RealDate = Date;
        class LateDate extends RealDate {
          constructor(...given: readonly number[]) {
            super(given[0] ?? RealDate.now() - 3_600_000);
          }
        }
        globalThis.Date = LateDate as DateConstructor;
        const skewed = {
          code: "remote_denied",
          message: /the clock here says .*, that of the remote .* GMT/,
        };
        try {
          await assert.rejects(store.get("bytes"), skewed);
          await assert.rejects(store.putNew("late", new Uint8Array()), skewed);
        } finally {
          globalThis.Date = RealDate;
        }
      });

      await test.step("waits for a server that is restarted, and gives up in time without one", async () => {
        await gateway.killGateway();
        assert.equal(
          await storeOn(gateway, "s3://tests", { timeoutMs: 1000 }).putNew("x", new Uint8Array()),
          "unknown",
        );
        const unreachable = { code: "remote_unreachable", exitCode: 10 };
        await assert.rejects(storeOn(gateway, "s3://tests", { timeoutMs: 1000 }).get("x"), unreachable);
        const reading = storeOn(gateway, "s3://tests", { timeoutMs: 30_000 }).get("not-there");
        gateway.startGateway();
        assert.equal(await reading, null);
      });
    }),
});
