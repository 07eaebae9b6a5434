/** Tests for the calls that read stdin, and the others. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, message } from "../support/responses_server.ts";
import { ending } from "../support/reprise.ts";
import { assertError, HELLO, Place, readsThenAnswers } from "./harness.ts";

/** The line after two seconds: what to do for this run, and what for all runs. */
const WAITING =
  /^waiting for stdin \(use --no-stdin or <\/dev\/null; .*REPRISE_NO_STDIN=1 or "reprise config set stdin off"\)$/m;
const FOR_ALL_RUNS = /--no-stdin.*REPRISE_NO_STDIN=1.*reprise config set stdin off/;
const RUN = ["run", "--json"];
const CUT = answer([message("Half")], { end: { kind: "cut" } });

/** The text of the newest user message that the server was sent. */
function asked(place: Place): unknown {
  return textIn(place.server.requests.at(-1)?.input.findLast(({ role }) => role === "user")?.content);
}

function textIn(content: unknown): unknown {
  return typeof content === "string" ? content : (content as readonly { readonly text: string }[])[0]?.text;
}

/** A command that runs the program with a new file of the workspace as its stdin. */
function redirected(name: string, place: Place, content = "notes"): readonly string[] {
  Deno.writeTextFileSync(`${place.sandbox.workspace}/${name}`, content);
  return ["sh", "-c", `exec "$@" <${name}`, "sh"];
}

test("stdin is the prompt where nothing else is: a run without PROMPT, -s and -c reads it", async () => {
  await using place = new Place([HELLO]);
  const called = await place.call(RUN, { stdin: "Why?\nBecause…\n" });
  assert.equal(called.code, 0, called.stdout);
  assert.equal(asked(place), "Why?\nBecause…\n");
});

test("stdin is the prompt where nothing else is: a dash reads it, also for a session that exists", async () => {
  await using place = new Place([HELLO, HELLO]);
  assert.equal((await place.call([...RUN, "-"], { stdin: "first" })).code, 0);
  assert.equal(asked(place), "first");
  assert.equal((await place.call([...RUN, "-c", "-"], { stdin: "second" })).code, 0);
  assert.equal(asked(place), "second");
});

test.process("stdin is the prompt where nothing else is: characters split over writes come together", async () => {
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

test("stdin without a prompt in it is exit 2: when it is empty, /dev/null or white space", async () => {
  await using place = new Place([]);
  for (const stdin of [undefined, "", " \n\t\n"]) {
    const called = await place.call(RUN, stdin === undefined ? {} : { stdin });
    assertError(called, { code: "no_prompt", exit: 2, hint: /reprise run/ });
  }
  assertError(await place.call([...RUN, "-c", "-"], { stdin: "" }), { code: "no_prompt", exit: 2 });
  assert.equal(place.server.requests.length, 0);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
});

test("stdin without a prompt in it is exit 2: when it is not UTF-8", async () => {
  await using place = new Place([]);
  for (const bytes of [[0x68, 0xff, 0x69], [0xc3], [0xed, 0xa0, 0x80]]) {
    const called = await place.call(RUN, { stdin: new Uint8Array(bytes) });
    assertError(called, { code: "usage", exit: 2, says: /UTF-8/ });
  }
});

test("stdin without a prompt in it is exit 2: when it is longer than the API takes", async () => {
  await using place = new Place([]);
  const called = await place.call(RUN, { stdin: "x".repeat(10_485_761) });
  assertError(called, { code: "usage", exit: 2, says: /10485760/, hint: /--attach/ });
});

test.process("a pipe that never closes cannot hang a run: --timeout ends the reading with exit 124", async () => {
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

test.process("a pipe that never closes cannot hang a run: beside a PROMPT, silence is exit 2 after --stdin-wait", async () => {
  await using place = new Place([]);
  const started = place.start([...RUN, "--stdin-wait", "2.5", "Hi"], { stdin: "piped" });
  const called = await started.ended();
  await started.process.stdin.close().catch(() => {});
  assertError(called, { code: "usage", exit: 2, says: /--stdin-wait/, hint: FOR_ALL_RUNS });
  assert.match(called.stderr, WAITING);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
});

test.process("a pipe that never closes cannot hang a run: --no-stdin does not read it", async () => {
  await using place = new Place([CUT, HELLO]);
  for (const [code, args] of [[10, ["-s", "s", "--new", "Hi"]], [0, ["-c"]]] as const) {
    const started = place.start([...RUN, "--no-stdin", ...args], { stdin: "piped" });
    const called = await started.ended();
    await started.process.stdin.close().catch(() => {});
    assert.equal(called.code, code, called.stdout);
    assert.equal(asked(place), "Hi");
    assert.doesNotMatch(called.stderr, /stdin/);
  }
});

/** Settings by which stdin is read or not: variables, the member of config.json, and flags. */
const SETTINGS: readonly (readonly [string, Record<string, string>, string | null, "read" | "left"])[] = [
  ["REPRISE_NO_STDIN=1", { REPRISE_NO_STDIN: "1" }, null, "left"],
  ["REPRISE_NO_STDIN=true before the configuration", { REPRISE_NO_STDIN: "TRUE" }, "on", "left"],
  ["config.json", {}, "off", "left"],
  ["an empty variable before the configuration", { REPRISE_NO_STDIN: "" }, "no", "left"],
  ["REPRISE_NO_STDIN=0 before the configuration", { REPRISE_NO_STDIN: "0" }, "off", "read"],
  ["config.json that turns it on", {}, "on", "read"],
];

for (const [name, env, member, expected] of SETTINGS) {
  test.process(`stdin is ${expected === "read" ? "" : "not "}read by ${name}`, async () => {
    await using place = new Place(() => HELLO);
    if (member !== null) assert.equal((await place.call(["config", "set", "stdin", member])).code, 0);
    const started = place.start([...RUN, "--stdin-wait", "1", "Hi"], { stdin: "piped", env });
    const called = await started.ended();
    await started.process.stdin.close().catch(() => {});
    assert.equal(called.code, expected === "read" ? 2 : 0, called.stdout);
    const given = await place.call([...RUN, "-"], { stdin: "From stdin", env });
    assert.equal(given.code, 0, "- names stdin, and no setting for all runs takes that back");
    assert.equal(asked(place), "From stdin");
  });
}

test("a setting that leaves stdin unread is named if there is no other prompt, or if it is no switch", async () => {
  await using place = new Place([]);
  const NO_STDIN = "REPRISE_NO_STDIN";
  const unread = await place.call(RUN, { stdin: "x", env: { [NO_STDIN]: "1" } });
  assertError(unread, { code: "no_prompt", exit: 2, says: /REPRISE_NO_STDIN leaves stdin unread/ });
  const wrong = await place.call([...RUN, "Hi"], { env: { [NO_STDIN]: "maybe" } });
  assertError(wrong, { code: "usage", exit: 2, says: /REPRISE_NO_STDIN="maybe"/ });
  const member = await place.call(["config", "set", "stdin", "maybe", "--json"]);
  assertError(member, { code: "usage", exit: 2, says: /stdin="maybe"/ });
});

test.process("text on stdin is added to the PROMPT after a blank line, and stderr says so", async () => {
  await using place = new Place([HELLO, HELLO, HELLO]);
  const diff = "--- a/x\n+++ b/x\n+é\n";
  const called = await place.call(["run", "Review this"], { stdin: diff });
  assert.equal(called.code, 0, called.stderr);
  assert.equal(asked(place), `Review this\n\n${diff}`);
  assert.match(called.stderr, /^stdin: 20 bytes added to the prompt$/m);
  assert.equal(called.stdout, "Hello.\n");
  assert.equal((await place.call([...RUN, "-c", "And this"], { stdin: "\ufeffone\r\n" })).code, 0);
  assert.equal(asked(place), "And this\n\n\ufeffone\r\n", "a mark and CR stay");
  assert.equal(
    (await place.call([...RUN, "From a file"], { through: redirected("notes.md", place) })).code,
    0,
  );
  assert.equal(asked(place), "From a file\n\nnotes");
});

test("text on stdin is added to the PROMPT: --dry-run counts it too", async () => {
  await using place = new Place([]);
  const bytes = async (stdin: string) => {
    const called = await place.call([...RUN, "--dry-run", "Review"], { stdin });
    return (JSON.parse(called.stdout) as { readonly body_bytes: number }).body_bytes;
  };
  assert.equal(await bytes("12345") - await bytes(""), "\\n\\n12345".length);
});

test.process("an empty stdin adds nothing to the PROMPT: /dev/null, an empty pipe and file, a closed stdin", async () => {
  await using place = new Place(readsThenAnswers);
  const closed = ["sh", "-c", 'exec "$@" <&-', "sh"];
  const options = [{}, { stdin: "" }, { through: redirected("empty", place, "") }, { through: closed }];
  for (const [index, option] of options.entries()) {
    const called = await place.call(["run", "Hi"], option);
    assert.equal(called.code, 0, `${index}: ${called.stderr}`);
    assert.equal(asked(place), "Hi");
    assert.doesNotMatch(called.stderr, /stdin/, String(index));
  }
});

test("-s and -c without PROMPT: text on stdin is the prompt, and stderr says so", async () => {
  await using place = new Place([CUT, HELLO, HELLO]);
  assert.equal((await place.call([...RUN, "--new", "-s", "s", "Hi"])).code, 10);
  for (const [flag, text] of [[["-c"], "Do something else"], [["-s", "s"], "And more"]] as const) {
    const called = await place.call([...RUN, ...flag], { stdin: text });
    assert.equal(called.code, 0, called.stdout);
    assert.equal(asked(place), text);
    assert.match(called.stderr, /^stdin: \d+ bytes used as the prompt$/m);
  }
});

test("-s and -c without PROMPT: an empty stdin continues the unfinished run", async () => {
  for (const options of [{}, { stdin: "" }]) {
    await using place = new Place([CUT, HELLO]);
    assert.equal((await place.call([...RUN, "--new", "-s", "s", "Hi"])).code, 10);
    const called = await place.call([...RUN, "-c"], options);
    assert.equal(called.code, 0, called.stdout);
    assert.equal(asked(place), "Hi", "no second user message");
    assert.equal(ending(called).run, 2);
  }
});

test.process("a slow producer loses nothing: bytes after pauses, and the end after the last of them", async () => {
  await using place = new Place([HELLO]);
  const through = ["sh", "-c", '{ sleep 3; printf one; sleep 1; printf two; } | "$@"', "sh"];
  const called = await place.call([...RUN, "Add them"], { through });
  assert.equal(called.code, 0, called.stdout);
  assert.equal(asked(place), "Add them\n\nonetwo");
  assert.match(called.stderr, /^waiting for stdin /m);
  assert.match(called.stderr, /^stdin: 6 bytes added to the prompt$/m);
});

test.process("a slow producer loses nothing: 10,485,760 bytes through a pipe, in pieces", async () => {
  await using place = new Place([HELLO]);
  const through = ["sh", "-c", 'head -c 10485760 /dev/zero | tr "\\0" x | "$@"', "sh"];
  const called = await place.call([...RUN, "Count"], { through });
  assert.equal(called.code, 0, called.stdout);
  assert.equal(asked(place), `Count\n\n${"x".repeat(10_485_760)}`);
});

/** A command that runs the program with a socket as its stdin, which `serve` writes to. */
async function throughSocket(
  place: Place,
  args: readonly string[],
  serve: (socket: Deno.Conn) => Promise<void>,
) {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const through = ["bash", "-c", `exec "$@" <>/dev/tcp/127.0.0.1/${port}`, "bash"];
  const started = place.start(args, { through });
  using socket = await listener.accept();
  await serve(socket);
  return await started.ended();
}

test.process("a socket as stdin is read to its end, like a pipe", async () => {
  await using place = new Place([HELLO]);
  const called = await throughSocket(place, [...RUN, "Hi"], async (socket) => {
    for (const part of ["over ", "a socket"]) await socket.write(new TextEncoder().encode(part));
    await socket.closeWrite();
  });
  assert.equal(called.code, 0, called.stdout);
  assert.equal(asked(place), "Hi\n\nover a socket");
});

test.process("a loop over lines keeps them with --no-stdin; without it, the first run reads and reports the rest", async () => {
  for (
    const [flag, prompts] of [["--no-stdin", ["a", "b", "c"]], ["--timeout=60", ["a\n\nb\nc\n"]]] as const
  ) {
    await using place = new Place([HELLO, HELLO, HELLO]);
    const loop = `printf 'a\\nb\\nc\\n' | while read -r each; do "$@" ${flag} "$each" || exit; done`;
    const called = await place.call(["run"], { through: ["sh", "-c", loop, "sh"] });
    assert.equal(called.code, 0, called.stderr);
    assert.deepEqual(place.server.requests.map(({ input }) => textIn(input.at(-1)?.content)), prompts);
    assert.equal(/^stdin: 4 bytes added/m.test(called.stderr), flag !== "--no-stdin", called.stderr);
  }
});

test.process("stdin beside a PROMPT is exit 2 when it cannot be text of the prompt, and the hint is --attach", async () => {
  await using place = new Place([]);
  const cases = [
    { stdin: new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff]), says: /UTF-8/ },
    { stdin: "x".repeat(10_485_761), says: /10485760/ },
  ];
  for (const { stdin, says } of cases) {
    const called = await place.call([...RUN, "Look"], { stdin });
    assertError(called, { code: "usage", exit: 2, says, hint: /--attach/ });
  }
  const directory = { through: ["sh", "-c", 'exec "$@" </', "sh"] };
  assertError(await place.call([...RUN, "Look"], directory), { code: "usage", exit: 2, hint: /--no-stdin/ });
  assert.equal(place.server.requests.length, 0);
});

test("a stdin that may not be read cannot be the prompt", async () => {
  await using place = new Place([]);
  for (const args of [["--no-stdin"], ["--no-stdin", "--new"]]) {
    assertError(await place.call([...RUN, ...args], { stdin: "x" }), { code: "no_prompt", exit: 2 });
  }
  const both = await place.call([...RUN, "--no-stdin", "-"], { stdin: "x" });
  assertError(both, { code: "usage", exit: 2, says: /--no-stdin/ });
});
