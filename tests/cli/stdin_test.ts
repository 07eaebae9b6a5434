/** When stdin is read, and when it is not. */
import assert from "node:assert/strict";
import { answer, message } from "../support/responses_server.ts";
import { ending } from "../support/reprise.ts";
import { assertError, HELLO, Place, readsThenAnswers } from "./harness.ts";

const RUN = ["run", "--json"];
const CUT = answer([message("Half")], { end: { kind: "cut" } });

/** The text of the newest user message that the server was sent. */
function asked(place: Place): unknown {
  const last = place.server.requests.at(-1)?.input.findLast(({ role }) => role === "user");
  const content = last?.content;
  return typeof content === "string" ? content : (content as readonly { readonly text: string }[])[0]?.text;
}

Deno.test("stdin is the prompt where nothing else is: a run without PROMPT, -s and -c reads it", async () => {
  await using place = new Place([HELLO]);
  const called = await place.call(RUN, { stdin: "Why?\nBecause…\n" });
  assert.equal(called.code, 0, called.stdout);
  assert.equal(asked(place), "Why?\nBecause…\n");
});

Deno.test("stdin is the prompt where nothing else is: a dash reads it, also for a session that exists", async () => {
  await using place = new Place([HELLO, HELLO]);
  assert.equal((await place.call([...RUN, "-"], { stdin: "first" })).code, 0);
  assert.equal(asked(place), "first");
  assert.equal((await place.call([...RUN, "-c", "-"], { stdin: "second" })).code, 0);
  assert.equal(asked(place), "second");
});

Deno.test("stdin is the prompt where nothing else is: --new reads it, with and without -s", async () => {
  await using place = new Place([HELLO, HELLO]);
  assert.equal((await place.call([...RUN, "--new"], { stdin: "first" })).code, 0);
  assert.equal((await place.call([...RUN, "--new", "-s", "named"], { stdin: "second" })).code, 0);
  assert.equal(asked(place), "second");
  assert.ok(place.sandbox.turnNames("named").length > 0);
});

Deno.test("stdin is the prompt where nothing else is: a file serves as well as a pipe", async () => {
  await using place = new Place([HELLO]);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/prompt.md`, "from a file");
  const through = ["sh", "-c", 'exec "$@" <prompt.md', "sh"];
  assert.equal((await place.call(RUN, { through })).code, 0);
  assert.equal(asked(place), "from a file");
});

Deno.test("stdin is the prompt where nothing else is: characters split over writes come together", async () => {
  await using place = new Place([HELLO]);
  const started = place.start(RUN, { stdin: "piped" });
  const writer = started.process.stdin.getWriter();
  for (const byte of new TextEncoder().encode("é€😀")) {
    await writer.write(new Uint8Array([byte]));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await writer.close();
  assert.equal((await started.ended()).code, 0);
  assert.equal(asked(place), "é€😀");
});

Deno.test("stdin without a prompt in it is exit 2: when it is empty, /dev/null or white space", async () => {
  await using place = new Place([]);
  for (const stdin of [undefined, "", " \n\t\n"]) {
    const called = await place.call(RUN, stdin === undefined ? {} : { stdin });
    assertError(called, { code: "no_prompt", exit: 2, hint: /reprise run/ });
  }
  assertError(await place.call([...RUN, "-c", "-"], { stdin: "" }), { code: "no_prompt", exit: 2 });
  assert.equal(place.server.requests.length, 0);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
});

Deno.test("stdin without a prompt in it is exit 2: when it is not UTF-8", async () => {
  await using place = new Place([]);
  for (const bytes of [[0x68, 0xff, 0x69], [0xc3], [0xed, 0xa0, 0x80]]) {
    const called = await place.call(RUN, { stdin: new Uint8Array(bytes) });
    assertError(called, { code: "usage", exit: 2, says: /UTF-8/ });
  }
});

Deno.test("stdin without a prompt in it is exit 2: when it is longer than the API takes", async () => {
  await using place = new Place([]);
  const called = await place.call(RUN, { stdin: "x".repeat(10_485_761) });
  assertError(called, { code: "usage", exit: 2, says: /10485760/ });
});

Deno.test("a pipe that never closes cannot hang a run: --timeout ends the reading with exit 124", async () => {
  await using place = new Place([]);
  for (const args of [[], ["-"]]) {
    const started = place.start([...RUN, ...args, "--timeout", "0.5"], { stdin: "piped" });
    const writer = started.process.stdin.getWriter();
    await writer.write(new TextEncoder().encode("Half a prom"));
    const called = await started.ended();
    await writer.close().catch(() => {});
    assertError(called, { code: "timed_out", exit: 124, says: /--timeout/, hint: /argument/ });
  }
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
});

Deno.test("a pipe that never closes cannot hang a run: --timeout counts the time of reading too", async () => {
  await using place = new Place([answer([message("Hello.")], { end: { kind: "stall" } })]);
  const started = place.start([...RUN, "--timeout", "3"], { stdin: "piped" });
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const before = performance.now();
  const writer = started.process.stdin.getWriter();
  await writer.write(new TextEncoder().encode("Hi"));
  await writer.close();
  const called = await started.ended();
  assertError(called, { code: "timed_out", exit: 124 });
  assert.ok(
    performance.now() - before < 2800,
    "of three seconds, two were gone, less what the start took",
  );
});

Deno.test("a pipe that never closes cannot hang a run: a PROMPT argument leaves it unread", async () => {
  await using place = new Place([HELLO]);
  const started = place.start([...RUN, "--timeout", "30", "Hi"], { stdin: "piped" });
  const called = await started.ended();
  await started.process.stdin.close().catch(() => {});
  assert.equal(called.code, 0, called.stdout);
});

Deno.test("a pipe that never closes cannot hang a run: -s and -c without PROMPT go on with the unfinished run and leave it unread", async () => {
  for (const flags of [["-c"], ["-s", "s"], ["-s", "@last"]]) {
    await using place = new Place([CUT, HELLO]);
    assert.equal((await place.call([...RUN, "--new", "-s", "s", "Hi"])).code, 10);
    const started = place.start([...RUN, "--timeout", "30", ...flags], { stdin: "piped" });
    const called = await started.ended();
    await started.process.stdin.close().catch(() => {});
    assert.equal(called.code, 0, called.stdout);
    assert.equal(asked(place), "Hi", "no second user message");
    assert.equal(ending(called).run, 2);
  }
});

Deno.test("a pipe that never closes cannot hang a run: what stands in the pipe then is not taken for a prompt", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const called = await place.call([...RUN, "-s", "s"], { stdin: "Do something else" });
  assert.equal(called.code, 2, called.stdout);
  assert.equal(place.server.requests.length, 2);
});
