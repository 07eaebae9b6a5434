/** Text from models, servers, files and names on a terminal: it is shown there, and obeyed never. */
import assert from "node:assert/strict";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { answer, message, reasoning, type Script } from "../../support/scripted_api/responses.ts";
import { functionCall, httpError } from "../../support/scripted_api/responses_script.ts";
import type { Called } from "../../support/reprise.ts";
import { shellLine } from "../changes.ts";
import { begun, Place } from "../harness.ts";

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

for (
  const args of [
    ["ls"],
    ["ls", "--json"],
    ["ls", "--tree"],
    ["show", "s"],
    ["show", "s", "--events"],
    ["show", "s", "--json"],
    ["show", "s", "--raw", "1"],
    ["show", "s", "--raw", "2"],
    ["run", "-s", "s", "--dry-run", "--body"],
    ["run", "-s", "s", "--dry-run", "--body", EVIL],
    ["explain", "s"],
    ["explain", "s", "--json"],
    ["explain", "s", "--model", `other-${EVIL}`],
    ["export", "s"],
    ["run", "-s", "s", "--dry-run", EVIL],
  ]
) {
  Deno.test(`content of a session is shown on a terminal, and controls it in no verb: ${args.join(" ")}`, async () => {
    await using place = await evilSession();
    await assertShown(place, args);
  });
}

Deno.test("content of a session is shown on a terminal, and controls it in no verb: the next run of it", async () => {
  await using place = new Place(EVIL_MODEL);
  await makeEvil(place);
  for (const more of ["--verbose", "--json"]) await assertShown(place, ["run", "-s", "s", more, EVIL]);
});

Deno.test("content of a session is shown on a terminal, and controls it in no verb: a turn file as bytes is unaltered in a pipe", async () => {
  await using place = await evilSession();
  for (
    const args of [["show", "s", "--raw", "1"], ["run", "-s", "s", "--dry-run", "--body"], ["export", "s"]]
  ) {
    const { stdout } = await place.call(args);
    assert.ok(stdout.includes("\u009b31m\u202etxt.exe\u200b"), stdout);
  }
  const raw = await place.call(["show", "s", "--raw", "1"]);
  assert.equal(raw.stdout, Deno.readTextFileSync(place.turnPath("s", 1)));
});

Deno.test("content of a session is shown on a terminal, and controls it in no verb: JSON on a terminal is still JSON, with the same values", async () => {
  await using place = await evilSession();
  const { stdout } = await screenOf(place, ["ls", "--json"]);
  assert.equal(JSON.parse(stdout).sessions[0].model, EVIL);
});

Deno.test("content of a session is shown on a terminal, and controls it in no verb: an imported session, with its pins", async () => {
  await using place = await evilSession();
  const file = `${place.sandbox.directory}/export.jsonl`;
  await place.call(["export", "s", file]);
  await using other = new Place(EVIL_MODEL);
  await other.call(["import", file]);
  for (const args of [["ls"], ["show", "s"], ["explain", "s", "--model", EVIL]]) {
    await assertShown(other, args);
  }
  await assertShown(other, ["run", "-s", "s", "Go on"]);
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

Deno.test("an answer of a server is shown on a terminal, and does not control it: the message of an error", async () => {
  await using place = new Place(() => httpError(400, { message: EVIL, code: EVIL }));
  await assertShown(place, ["run", "Go"]);
  await assertShown(place, ["run", "--json", "Go"]);
  await assertShown(place, ["doctor", "--live"]);
});

Deno.test("an answer of a server is shown on a terminal, and does not control it: the message of a stream that failed", async () => {
  const end = { kind: "failed", error: { code: "server_error", message: EVIL } } as const;
  await using place = new Place(() => answer([message("Half.")], { end }));
  await assertShown(place, ["run", "Go"]);
});

Deno.test("an answer of a server is shown on a terminal, and does not control it: a question about a call", async () => {
  await using place = new Place(({ input }) =>
    input.at(-1)?.type === "message" ? answer([shellLine(`echo ${EVIL}`)]) : answer([message("Done.")])
  );
  // Nothing is typed: the question stays there until the time is over.
  await assertShown(place, ["run", "--ask", "--timeout", "4", "Go"]);
});

/** A fixture whose header and answers hold evil. */
function evilFixture(place: Place, name = "fixture"): string {
  return writeFixture(`${place.sandbox.directory}/${name}`, [{
    request: { path: "/v1/responses" },
    body: `event: error\ndata: ${JSON.stringify({ type: "error", code: EVIL, message: EVIL })}\n\n`,
  }], { models: [EVIL], note: EVIL });
}

for (
  const args of [
    ["fixture", "ls", "DIR"],
    ["fixture", "ls", "DIR", "--json"],
    ["fixture", "show", "DIR"],
    ["fixture", "show", "DIR", "--json"],
    ["run", "--fixture", "DIR", "Go"],
    ["run", "--fixture", "DIR", "--match", "sequence", "Go"],
  ]
) {
  Deno.test(`content of a fixture is shown on a terminal, and controls it in no verb: ${args.join(" ")}`, async () => {
    await using place = new Place(EVIL_MODEL);
    const fixture = evilFixture(place);
    await assertShown(place, args.map((word) => word === "DIR" ? fixture : word));
  });
}

Deno.test("content of a fixture is shown on a terminal, and controls it in no verb: a fixture's own name", async () => {
  await using place = new Place(EVIL_MODEL);
  const fixture = evilFixture(place, EVIL_NAME);
  for (const verb of ["ls", "show", "lint", "seal", "redact"]) {
    await assertShown(place, ["fixture", verb, fixture]);
  }
  await assertShown(place, ["test", fixture]);
  await assertShown(place, ["test", fixture, "--reporter", "json"]);
  await assertShown(place, ["fixture", "diff", fixture, fixture]);
});

Deno.test("content of a fixture is shown on a terminal, and controls it in no verb: the events and notes of serve", async () => {
  await using place = new Place(EVIL_MODEL);
  const fixture = evilFixture(place, EVIL_NAME);
  for (const events of [[], ["--events", "/dev/stderr"], ["--events", "/dev/tty"], ["--json"]]) {
    const ask = "curl -s -d '{}' $OPENAI_BASE_URL/responses >/dev/null";
    await assertShown(place, ["serve", fixture, "--match", "exact", ...events, "--", "sh", "-c", ask]);
  }
});

Deno.test("names of files and words of the call are shown on a terminal, and steer it in no message: a file in a session's directory, for fsck and gc", async () => {
  await using place = await evilSession();
  Deno.writeTextFileSync(`${place.path("s")}/turns/${EVIL_NAME}`, "x");
  await assertShown(place, ["fsck", "s"]);
  Deno.removeSync(`${place.path("s")}/turns/${EVIL_NAME}`);
  for (const name of ["blobs", "quarantine"]) {
    Deno.mkdirSync(`${place.path("s")}/${name}`, { mode: 0o700, recursive: true });
  }
  Deno.symlinkSync("/dev/null", `${place.path("s")}/quarantine/${EVIL_NAME}`);
  for (const json of [[], ["--json"]]) await assertShown(place, ["rm", "--unused", ...json]);
});

Deno.test("names of files and words of the call are shown on a terminal, and steer it in no message: the home, in what gc and ls say of it", async () => {
  await using place = new Place(EVIL_MODEL);
  const home = `${place.sandbox.directory}/${EVIL_NAME}`;
  await assertShown(place, ["ls", "--home", home]);
  Deno.writeTextFileSync(home, "no directory");
  for (const verb of [["ls"], ["rm", "--unused"]]) await assertShown(place, [...verb, "--home", home]);
});

Deno.test("names of files and words of the call are shown on a terminal, and steer it in no message: the words of a wrong call, and a hint", async () => {
  await using place = new Place(EVIL_MODEL);
  for (const args of [[EVIL], ["help", EVIL]]) await assertShown(place, args);
  for (
    const args of [
      ["show", EVIL],
      ["ls", "--since", EVIL],
      ["ls", "--limit", EVIL],
      ["import", EVIL_NAME],
      ["run", "-p", EVIL, "Go"],
      ["run", "--allow", EVIL, "Go"],
      ["run", "--fixture", EVIL, "Go"],
      ["run", "--base-url", EVIL, "Go"],
      ["serve", EVIL],
      ["record", "--upstream", "http://127.0.0.1:1", "--out", "x", "--", EVIL],
      ["fixture", "lint", EVIL],
      ["ls", "--debug", "--since", EVIL],
    ]
  ) {
    await assertShown(place, args);
    const end = args.includes("--") ? args.indexOf("--") : args.length;
    await assertShown(place, args.toSpliced(end, 0, "--json"));
  }
});

Deno.test("names of files and words of the call are shown on a terminal, and steer it in no message: the name of a setting in the configuration", async () => {
  await using place = new Place(EVIL_MODEL);
  const directory = `${place.sandbox.directory}/.config/reprise`;
  Deno.mkdirSync(directory, { recursive: true });
  Deno.writeTextFileSync(`${directory}/config.json`, JSON.stringify({ [EVIL]: EVIL }));
  await assertShown(place, ["doctor"]);
});
