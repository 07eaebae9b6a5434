/** Memory of a replay server after garbage collection. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { Sandbox } from "../support/reprise.ts";

const SERVER = fileURLToPath(new URL("./collected_server.ts", import.meta.url));
/** Compiled code and tables have their size after these answers; after 400, they still grow by 200 KB. */
const WARMUP = 1400;
const MEASURED = 1000;
const AT_A_TIME = 20;
/** Far less than a request, an answer or a signal that stays with each answer would come to. */
const HELD_PER_ANSWER = 200;

const body = (index: number) => ({ model: "gpt-5.6", input: [{ role: "user", content: `Go ${index}` }] });
const answer = `event: ping\ndata: ${JSON.stringify({ type: "ping", text: "word ".repeat(400) })}\n\n`;

for (const pace of ["fast", "1000"]) {
  Deno.test(`at pace ${pace} a replay server holds nothing more after hundreds of answers`, async () => {
    await using sandbox = new Sandbox();
    const chunks: [number, number][] = [[0, 0], [700, 400], [1400, 900]];
    const exchanges = Array.from({ length: WARMUP + MEASURED }, (_, index) => ({
      request: { body: body(index) },
      response: { chunks },
      body: answer,
    }));
    const fixture = writeFixture(`${sandbox.directory}/fixture`, exchanges);
    const flags = ["--quiet", "--no-check", "--unstable-no-legacy-abort", "--v8-flags=--expose-gc"];
    const server = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", ...flags, SERVER, fixture, pace],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const printed = server.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const asking = server.stdin.getWriter();
    const number = async () => Number((await printed.read()).value);
    const held = async () => {
      await asking.write(new TextEncoder().encode("?"));
      return await number();
    };
    const url = `http://127.0.0.1:${await number()}/v1/responses`;
    const ask = async (index: number) => {
      const response = await fetch(url, { method: "POST", body: JSON.stringify(body(index)) });
      assert.equal(await response.text(), answer);
    };
    const askAll = async (from: number, to: number) => {
      for (let at = from; at < to; at += AT_A_TIME) {
        await Promise.all(Array.from({ length: AT_A_TIME }, (_, index) => ask(at + index)));
      }
    };

    await askAll(0, WARMUP);
    const before = await held();
    await askAll(WARMUP, WARMUP + MEASURED);
    const grown = await held() - before;
    await asking.close();
    assert.equal((await server.status).code, 0);
    assert.equal((await printed.read()).done, true);
    assert.ok(grown < HELD_PER_ANSWER * MEASURED, `${grown} bytes more are held after ${MEASURED} answers`);
  });
}
