/** Text from models, servers, files and names on a terminal: it is shown there, and obeyed never. */
import assert from "node:assert/strict";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { answer, message, reasoning, type Script } from "../../support/scripted_api/responses.ts";
import { functionCall, httpError } from "../../support/scripted_api/responses_script.ts";
import type { Called } from "../../support/reprise.ts";
import { shellLine } from "../changes.ts";
import { begun, configure, Place } from "../harness.ts";

/** Found wherever a field is shown. */
const MARK = "field";
/** Sets the clipboard, starts a colour by one C1 character, reverses what follows, and hides a letter. */
const EVIL = `${MARK}\x1b]52;c;ZXZpbA==\x07\u009b31m\u202etxt.exe\u200b\u{e0041}\u3164\x7f\rend`;
/** As a file may be named. */
const EVIL_NAME = `evil-${EVIL}`;
/** Characters that a terminal obeys or hides; its own line ends are removed before. */
const OBEYED = /(?![\u200c\u200d\n\t\p{Variation_Selector}])[\p{Cc}\p{DI}\p{Zl}\p{Zp}\ufff9-\ufffb\u2800]/u;

/** A model whose every text is evil: its reasoning, calls and words. */
const EVIL_MODEL: Script = ({ input }) =>
  input.at(-1)?.type === "message"
    ? answer([
      reasoning(EVIL),
      message(EVIL, { phase: "commentary" }),
      functionCall(EVIL, { [EVIL]: EVIL }),
      functionCall("read_file", { path: EVIL, offset: null, limit: null }),
    ], { model: EVIL })
    : answer([message(EVIL)], { model: EVIL });

/** Runs the program on a terminal of its own, with stdout and stderr both there; returns the screen. */
async function screenOf(
  place: Place,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Called> {
  const file = `${place.sandbox.directory}/called`;
  const make = `{ printf " '%s'" "$@"; } >${file}`;
  const called = await place.call(args, {
    through: ["sh", "-c", `${make}; exec script -qefc 'sh ${file}' /dev/null`, "sh"],
    env: { SHELL: "/bin/sh", NO_COLOR: "1", ...env },
  });
  // Our lines begin on a fresh line: spaces to the last column, then its start.
  return { ...called, stdout: called.stdout.replaceAll("\r\n", "\n").replaceAll(/^ {20,}\r/gm, "") };
}

/** Fails when a field is missing on the screen, or steers the terminal. */
async function assertShown(
  place: Place,
  args: readonly string[],
  env?: Record<string, string>,
): Promise<void> {
  const { stdout, stderr } = await screenOf(place, args, env);
  const what = `${args.join(" ")}: ${JSON.stringify(stdout)} ${stderr}`;
  assert.ok(stdout.includes(MARK), `the field is shown: ${what}`);
  assert.doesNotMatch(stdout, OBEYED, what);
}

/** Makes the session `s`, all of whose texts are evil. */
async function makeEvil(place: Place): Promise<void> {
  const called = await place.call(["run", "--json", "--new", "-s", "s", "-m", EVIL, EVIL]);
  assert.equal(called.code, 0, called.stdout + called.stderr);
}

/** A place with this session; its server does not know the session's reasoning. */
const evilSession = begun(EVIL_MODEL, makeEvil);

/** Calls about a session all of whose texts are evil. */
const OF_SESSION: readonly (readonly string[])[] = [
  ["ls"],
  ["show", "s"],
  ["show", "s", "--raw", "1"],
  ["run", "-s", "s", "--dry-run", "--body"],
  ["explain", "s"],
  ["export", "s"],
];

for (const args of OF_SESSION) {
  Deno.test(`content of a session is shown on a terminal, and controls it in no verb: ${args.join(" ")}`, async () => {
    await using place = await evilSession();
    await assertShown(place, args);
  });
}

Deno.test("content of a session is shown on a terminal, and controls it in no verb: the next run, and an imported session", async () => {
  await using place = new Place(EVIL_MODEL);
  await makeEvil(place);
  for (const more of ["--verbose", "--json"]) await assertShown(place, ["run", "-s", "s", more, EVIL]);
  const file = `${place.sandbox.directory}/export.jsonl`;
  await place.call(["export", "s", file]);
  await using other = new Place(EVIL_MODEL);
  await other.call(["import", file]);
  for (const args of [["show", "s"], ["explain", "s", "--model", EVIL], ["run", "-s", "s", "Go on"]]) {
    await assertShown(other, args);
  }
});

Deno.test("content of a session is unaltered in a pipe, and JSON on a terminal is still JSON", async () => {
  await using place = await evilSession();
  for (const args of [["run", "-s", "s", "--dry-run", "--body"], ["export", "s"]]) {
    assert.ok((await place.call(args)).stdout.includes("\u009b31m\u202etxt.exe\u200b"), args[0]);
  }
  const raw = await place.call(["show", "s", "--raw", "1"]);
  assert.equal(raw.stdout, Deno.readTextFileSync(place.turnPath("s", 1)));
  const { stdout } = await screenOf(place, ["ls", "--json"]);
  assert.equal(JSON.parse(stdout).sessions[0].model, EVIL);
});

Deno.test("an answer of a server is shown on a terminal, and does not control it: the answer, as it streams, with colour", async () => {
  await using place = new Place(EVIL_MODEL);
  const { stdout } = await screenOf(place, ["run", "-m", EVIL, EVIL], { NO_COLOR: "" });
  assert.ok(stdout.includes("\x1b[2m"), "our own styles are there");
  // deno-lint-ignore no-control-regex
  const unstyled = stdout.replaceAll(/\x1b\[(?:0|2|31)m/g, "");
  assert.ok(unstyled.includes(MARK));
  assert.doesNotMatch(unstyled, OBEYED);
});

const FAILED = { kind: "failed", error: { code: "server_error", message: EVIL } } as const;
/** Answers of a server, and calls that show them. Nothing is typed at a question: it stays until the time is over. */
const ANSWERS: Readonly<Record<string, readonly [script: Script, ...calls: (readonly string[])[]]>> = {
  "the message of an error": [
    () => httpError(400, { message: EVIL, code: EVIL }),
    ...[["run", "Go"], ["run", "--json", "Go"], ["doctor", "--live"]],
  ],
  "the message of a stream that failed": [() => answer([message("Half.")], { end: FAILED }), ["run", "Go"]],
  "a question about a call": [() => answer([shellLine(`echo ${EVIL}`)]), [
    "run",
    "--ask",
    "--timeout",
    "4",
    "Go",
  ]],
};

for (const [what, [script, ...calls]] of Object.entries(ANSWERS)) {
  Deno.test(`an answer of a server is shown on a terminal, and does not control it: ${what}`, async () => {
    await using place = new Place(script);
    for (const args of calls) await assertShown(place, args);
  });
}

/** Calls about a fixture whose header and answers hold evil, and about one whose name does. */
const OF_FIXTURE: readonly (readonly string[])[] = [
  ["fixture", "ls", "DIR"],
  ["fixture", "show", "DIR"],
  ["fixture", "show", "DIR", "--json"],
  ["run", "--fixture", "DIR", "--match", "sequence", "Go"],
  ...["ls", "lint", "seal", "redact"].map((verb) => ["fixture", verb, "NAMED"]),
  ["fixture", "diff", "NAMED", "NAMED"],
  ["test", "NAMED"],
  ...[[], ["--events", "/dev/stderr"], ["--events", "/dev/tty"], ["--json"]].map((events) => [
    ...["serve", "NAMED", "--match", "exact", ...events, "--"],
    ...["sh", "-c", "curl -s -d {} $OPENAI_BASE_URL/responses >/dev/null"],
  ]),
];

Deno.test("content and name of a fixture are shown on a terminal, and control it in no verb", async () => {
  await using place = new Place(EVIL_MODEL);
  const [plain, named] = ["fixture", EVIL_NAME].map((name) =>
    writeFixture(`${place.sandbox.directory}/${name}`, [{
      request: { path: "/v1/responses" },
      body: `event: error\ndata: ${JSON.stringify({ type: "error", code: EVIL, message: EVIL })}\n\n`,
    }], { models: [EVIL], note: EVIL })
  ) as [string, string];
  for (const args of OF_FIXTURE) {
    await assertShown(place, args.map((word) => word === "DIR" ? plain : word === "NAMED" ? named : word));
  }
});

Deno.test("names of files are shown on a terminal, and steer it in no message", async () => {
  await using place = await evilSession();
  const session = place.path("s");
  Deno.writeTextFileSync(`${session}/turns/${EVIL_NAME}`, "x");
  await assertShown(place, ["fsck", "s"]);
  Deno.removeSync(`${session}/turns/${EVIL_NAME}`);
  for (const name of ["blobs", "quarantine"]) {
    Deno.mkdirSync(`${session}/${name}`, { mode: 0o700, recursive: true });
  }
  Deno.symlinkSync("/dev/null", `${session}/quarantine/${EVIL_NAME}`);
  for (const json of [[], ["--json"]]) await assertShown(place, ["rm", "--unused", ...json]);
  const home = `${place.sandbox.directory}/${EVIL_NAME}`;
  await assertShown(place, ["ls", "--home", home]);
  Deno.writeTextFileSync(home, "no directory");
  await assertShown(place, ["rm", "--unused", "--home", home]);
  configure(place.sandbox, { [EVIL]: EVIL });
  await assertShown(place, ["doctor"]);
});

Deno.test("words of a wrong call are shown on a terminal, and steer it in no message", async () => {
  await using place = new Place(EVIL_MODEL);
  for (const args of [[EVIL], ["help", EVIL]]) await assertShown(place, args);
  for (
    const args of [
      ["show", EVIL],
      ["ls", "--debug", "--since", EVIL],
      ["import", EVIL_NAME],
      ["run", "--allow", EVIL, "Go"],
      ["run", "--base-url", EVIL, "Go"],
      ["serve", EVIL],
      ["record", "--upstream", "http://127.0.0.1:1", "--out", "x", "--", EVIL],
    ]
  ) {
    await assertShown(place, args);
    const end = args.includes("--") ? args.indexOf("--") : args.length;
    await assertShown(place, args.toSpliced(end, 0, "--json"));
  }
});
