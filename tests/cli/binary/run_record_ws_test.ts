/** `run --record` over a WebSocket: the fixture has the messages, and plays again. */
import assert from "node:assert/strict";
import { ending, events, Sandbox } from "../../support/reprise.ts";
import { KEY, loop, SESSION, TransportPlace } from "../../support/transport_place.ts";

/** Text of all files below a folder. */
function textBelow(path: string): string {
  return [...Deno.readDirSync(path)].map(({ name, isDirectory }) =>
    isDirectory ? textBelow(`${path}/${name}`) : Deno.readTextFileSync(`${path}/${name}`)
  ).join("\n");
}

Deno.test("a run over a WebSocket is recorded message by message, and plays again", async () => {
  await using place = await TransportPlace.open({ script: loop });
  const out = `${place.sandbox.directory}/recorded`;
  const called = await place.first("--transport", "ws", "--record", out);
  assert.equal(called.code, 0, called.stdout + called.stderr);
  const notice = events(called).find((event) => event.type === "notice" && event.kind === "recorded");
  assert(notice?.type === "notice" && notice.kind === "recorded", called.stdout);
  assert.deepEqual([notice.exchanges, notice.tested], [3, true], JSON.stringify(notice));
  const requests = ["0001", "0002", "0003"].map((number) =>
    JSON.parse(Deno.readTextFileSync(`${out}/exchanges/${number}/request.json`))
  );
  assert.deepEqual(requests.map(({ transport, connection }) => [transport, connection]), [
    ["ws", 1],
    ["ws", 1],
    ["ws", 1],
  ]);
  assert.deepEqual(requests.map(({ body }) => body), place.server.requests.map(({ message }) => message));
  assert.ok(!textBelow(out).includes(KEY));

  const tested = await place.call(["test", out]);
  assert.equal(tested.code, 0, tested.stdout + tested.stderr);
  const linted = await place.call(["fixture", "lint", out]);
  assert.equal(linted.code, 0, linted.stdout + linted.stderr);
  await using elsewhere = new Sandbox();
  const played = await elsewhere.call(
    ["run", "--json", "--new", "-s", SESSION, "--fixture", out, "Look at the files"],
    { env: { REPRISE_MODEL: "gpt-5.6" } },
  );
  assert.equal(played.code, 0, played.stdout + played.stderr);
  assert.equal(ending(played).text, "Three files.");
});
