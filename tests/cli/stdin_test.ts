/** Tests for the calls that read stdin, and the others. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, message } from "../support/scripted_api/responses.ts";
import { type Called, type CallOptions, ending } from "../support/reprise.ts";
import { assertError, type ExpectedError, HELLO, Place } from "./harness.ts";

/** The line after two seconds: what to do for this run, and what for all runs. */
const WAITING =
  /^waiting for stdin \(use --no-stdin or <\/dev\/null; .*REPRISE_NO_STDIN=1 or "reprise config set stdin off"\)$/m;
const FOR_ALL_RUNS = /--no-stdin.*REPRISE_NO_STDIN=1.*reprise config set stdin off/;
const RUN = ["run", "--json"];
const CUT = answer([message("Half")], { end: { kind: "cut" } });
const MOST = 10_485_760;

/** The texts of the newest user messages that the server was sent, one of each request. */
function asked(place: Place): readonly unknown[] {
  return place.server.requests.map(({ input }) => {
    const content = input.findLast(({ role }) => role === "user")?.content;
    return typeof content === "string" ? content : (content as readonly { readonly text: string }[])[0]?.text;
  });
}

/** A shell command line that runs the program as `"$@"`. */
const sh = (line: string) => ({ through: ["sh", "-c", line, "sh"] });

/** Runs the program with a pipe as stdin that stays open after these texts. */
async function withOpenPipe(place: Place, args: readonly string[], texts: readonly string[] = [], env = {}) {
  const started = place.start([...RUN, ...args], { stdin: "piped", env });
  const writer = started.process.stdin.getWriter();
  for (const text of texts) await writer.write(new TextEncoder().encode(text));
  const called = await started.ended();
  await writer.close().catch(() => {});
  return called;
}

interface Row extends CallOptions {
  readonly args: readonly string[];
  /** The prompt that the API is sent. */
  readonly asks: string;
  /** The note on stderr; `null` for none. */
  readonly says: string | null;
  /** Registers a row that needs a process. */
  readonly process?: true;
}

const DIFF = "--- a/x\n+++ b/x\n+é\n";

const PROMPTS: Readonly<Record<string, Row>> = {
  "is the prompt if there is no other": {
    args: [],
    stdin: "Why?\nBecause…\n",
    asks: "Why?\nBecause…\n",
    says: null,
  },
  "is the prompt of a dash": { args: ["-"], stdin: "first", asks: "first", says: null },
  "is the prompt of -s alone": {
    args: ["-s", "s"],
    stdin: "More",
    asks: "More",
    says: "4 bytes used as the prompt",
  },
  "continues the unfinished run if it is empty": { args: ["-c"], stdin: "", asks: "Hi", says: null },
  "is added to the PROMPT after a blank line": {
    args: ["Review this"],
    stdin: DIFF,
    asks: `Review this\n\n${DIFF}`,
    says: "20 bytes added to the prompt",
  },
  "adds nothing if it is empty": { args: ["Hey"], stdin: "", asks: "Hey", says: null },
  "adds nothing if it is closed": {
    args: ["Hey"],
    ...sh('exec "$@" <&-'),
    asks: "Hey",
    says: null,
    process: true,
  },
  "may be slow, and cut a character": {
    args: ["Add them"],
    ...sh(`{ sleep 6; printf 'caf\\303'; sleep 1; printf '\\251'; } | "$@"`),
    asks: "Add them\n\ncafé",
    says: "5 bytes added to the prompt",
    process: true,
  },
  "may be 10,485,760 bytes": {
    args: ["Count"],
    ...sh(`head -c ${MOST} /dev/zero | tr "\\0" x | "$@"`),
    asks: `Count\n\n${"x".repeat(MOST)}`,
    says: `${MOST} bytes added to the prompt`,
    process: true,
  },
};

for (const [name, { args, asks, says, process, ...options }] of Object.entries(PROMPTS)) {
  (process ? test.process : test)(`stdin ${name}`, async () => {
    await using place = new Place([CUT, HELLO]);
    assert.equal((await place.call([...RUN, "--new", "-s", "s", "Hi"])).code, 10);
    const called = await place.call([...RUN, ...args], options);
    assert.equal(called.code, 0, called.stdout);
    assert.equal(asked(place).at(-1), asks);
    assert.deepEqual(called.stderr.match(/^stdin: .*$/gm), says === null ? null : [`stdin: ${says}`]);
    assert.equal(/^waiting for stdin/m.test(called.stderr), name.includes("slow"));
    if (asks === "Hi") assert.equal(ending(called).run, 2);
  });
}

const NO_PROMPT = { code: "no_prompt", exit: 2 };
const USAGE = { code: "usage", exit: 2 };
const binary = new Uint8Array([0x68, 0xff, 0x69]);

const REFUSED: Readonly<Record<string, readonly [readonly string[], CallOptions, ExpectedError]>> = {
  "is empty": [[], { stdin: "" }, { ...NO_PROMPT, hint: /reprise run/ }],
  "is not UTF-8": [[], { stdin: binary }, { ...USAGE, says: /UTF-8/ }],
  "is too long": [[], { stdin: "x".repeat(MOST + 1) }, { ...USAGE, says: /10485760/, hint: /--attach/ }],
  "is a directory": [["Look"], sh('exec "$@" </'), { ...USAGE, hint: /--no-stdin/ }],
  "may not be read": [["--no-stdin"], { stdin: "x" }, NO_PROMPT],
  "is left unread by a variable": [[], { stdin: "x", env: { REPRISE_NO_STDIN: "1" } }, {
    ...NO_PROMPT,
    says: /REPRISE_NO_STDIN leaves stdin unread/,
  }],
  "is left by a variable that is no switch": [["Hi"], { env: { REPRISE_NO_STDIN: "maybe" } }, {
    ...USAGE,
    says: /REPRISE_NO_STDIN="maybe"/,
  }],
};

for (const [name, [args, options, error]] of Object.entries(REFUSED)) {
  (name === "is a directory" ? test.process : test)(
    `a stdin that ${name} is exit 2 before anything is sent`,
    async () => {
      await using place = new Place([]);
      assertError(await place.call([...RUN, ...args], options), error);
      assert.equal(place.server.requests.length, 0);
      assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
    },
  );
}

test.process("a pipe that never closes cannot hang a run", async () => {
  await using place = new Place([CUT, HELLO]);
  for (const args of [[], ["-"]]) {
    const late = await withOpenPipe(place, [...args, "--timeout", "0.5"], ["Half a prom"]);
    assertError(late, { code: "timed_out", exit: 124, says: /--timeout/, hint: /argument/ });
  }
  const silent = await withOpenPipe(place, ["--stdin-wait", "2.5", "Hi"]);
  assertError(silent, { code: "usage", exit: 2, says: /--stdin-wait/, hint: FOR_ALL_RUNS });
  assert.match(silent.stderr, WAITING);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
  const unread: Called[] = [];
  for (const args of [["-s", "s", "--new", "Hi"], ["-c"]]) {
    unread.push(await withOpenPipe(place, ["--no-stdin", ...args]));
  }
  assert.deepEqual(unread.map(({ code }) => code), [10, 0]);
  assert.doesNotMatch(unread.map(({ stderr }) => stderr).join(), /stdin/);
  assert.deepEqual(asked(place), ["Hi", "Hi"]);
});

/** Settings by which stdin is read or not: the variable, and the member of config.json. */
const SETTINGS:
  readonly (readonly [variable: string | null, member: string | null, expected: "read" | "left"])[] = [
    ["TRUE", "on", "left"],
    [null, "off", "left"],
    ["0", "off", "read"],
  ];

for (const [variable, member, expected] of SETTINGS) {
  test.process(`stdin is ${expected} with REPRISE_NO_STDIN=${variable} and ${member} in config.json`, async () => {
    await using place = new Place(() => HELLO);
    assert.equal((await place.call(["config", "set", "stdin", String(member)])).code, 0);
    const env: Record<string, string> = variable === null ? {} : { REPRISE_NO_STDIN: variable };
    const called = await withOpenPipe(place, ["--stdin-wait", "1", "Hi"], [], env);
    assert.equal(called.code, expected === "read" ? 2 : 0, called.stdout);
    const given = await place.call([...RUN, "-"], { stdin: "From stdin", env });
    assert.equal(given.code, 0, "- names stdin, and no setting for all runs takes that back");
    assert.equal(asked(place).at(-1), "From stdin");
  });
}

test.process("a socket as stdin is read to its end, like a pipe", async () => {
  await using place = new Place([HELLO]);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const through = ["bash", "-c", `exec "$@" <>/dev/tcp/127.0.0.1/${port}`, "bash"];
  const started = place.start([...RUN, "Hi"], { through });
  using socket = await listener.accept();
  for (const part of ["over ", "a socket"]) await socket.write(new TextEncoder().encode(part));
  await socket.closeWrite();
  const called = await started.ended();
  assert.equal(called.code, 0, called.stdout);
  assert.deepEqual(asked(place), ["Hi\n\nover a socket"]);
});

test.process("a loop over lines keeps them with --no-stdin; without it, the first run reads and reports the rest", async () => {
  for (
    const [flag, prompts] of [["--no-stdin", ["a", "b", "c"]], ["--timeout=60", ["a\n\nb\nc\n"]]] as const
  ) {
    await using place = new Place([HELLO, HELLO, HELLO]);
    const loop = `printf 'a\\nb\\nc\\n' | while read -r each; do "$@" ${flag} "$each" || exit; done`;
    const called = await place.call(["run"], sh(loop));
    assert.equal(called.code, 0, called.stderr);
    assert.deepEqual(asked(place), prompts);
    assert.equal(/^stdin: 4 bytes added/m.test(called.stderr), flag !== "--no-stdin", called.stderr);
  }
});
