import assert from "node:assert/strict";
import { readFixture } from "../../../src/fixture/read.ts";
import { createReplayer } from "../../../src/fixture/serve/replayer.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { assertReplays } from "../../unit/fixture/record/large_bodies.ts";
import { answer, finished, place, request } from "../../unit/fixture/record/written.ts";

Deno.test("a request with a string of 64 MiB is kept as JSON and replays", () =>
  assertReplays(64 * 1024 ** 2));

Deno.test("a request whose readable form would be too long keeps its raw bytes, and is found by what it means", async () => {
  await using at = place();
  // 500 levels of indentation for each number.
  const input = `${"[".repeat(500)}${"1,".repeat(270_000)}1${"]".repeat(500)}`;
  const body = (more: string) => new TextEncoder().encode(`{"model":"gpt-5.6",${more}"input":${input}}`);
  answer(at.writer, request("/v1/responses", { body: body("") })).finish("complete", 1);
  await finished(at.writer, 1, at.events);
  const fixture = readFixture(denoFiles, at.out);
  assert.deepEqual(fixture.exchanges[0]?.request.body, body(""));
  assert.deepEqual(fixture.header.models, ["gpt-5.6"]);
  const replayer = createReplayer([fixture], { match: "semantic", rules: "none" });
  const asked = {
    number: 1,
    method: "POST",
    path: "/v1/responses",
    headers: {},
    route: null,
    body: body('"user":"a",'),
  };
  assert.equal(replayer.answer(asked).kind, "play");
});
