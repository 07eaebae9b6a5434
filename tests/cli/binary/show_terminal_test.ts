/** `show` on a terminal: its width, its colours, and the pager. */
import assert from "node:assert/strict";
import stringWidth from "string-width";
import { answer, message, reasoning, type Script } from "../../support/scripted_api/responses.ts";
import { functionCall } from "../../support/scripted_api/responses_script.ts";
import { Place } from "../harness.ts";

const PERSIAN = "می‌خواهم این متن را بخوانم";
const EMOJI = "👩‍👩‍👧‍👦 👍🏽 🇩🇪";
const LONG = `The answer is long: ${"some words ".repeat(20)}${PERSIAN} ${EMOJI}`;

/** A model that edits a file, then answers at length. */
const SCRIPT: Script = ({ input }) =>
  input.at(-1)?.type === "message"
    ? answer([
      reasoning("Looking"),
      functionCall("edit_file", { path: "a.txt", old_text: "alpha\n", new_text: "omega\n" }),
    ])
    : answer([message(LONG)]);

/** A place with the session `s`, which edited a file. */
async function edited(): Promise<Place> {
  const place = new Place(SCRIPT);
  const called = await place.call(["run", "--json", "--new", "-s", "s", "--allow", "write", "Edit a.txt"]);
  assert.equal(called.code, 0, called.stdout);
  return place;
}

/** Size and environment of a terminal. */
interface Terminal {
  /** @default {show s} */
  readonly verb?: readonly string[];
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Text on a terminal after a call, and its exit code. */
async function screenOf(
  place: Place,
  flags: readonly string[],
  { verb = ["show", "s"], columns = 80, rows = 200, env = {} }: Terminal = {},
): Promise<{ readonly code: number; readonly text: string }> {
  const file = `${place.sandbox.directory}/called`;
  const write = `{ printf " '%s'" "$@"; } >${file}`;
  const sized = `stty cols ${columns} rows ${rows}; sh ${file}`;
  const { code, stdout } = await place.call([...verb, ...flags], {
    through: ["sh", "-c", `${write}; exec script -qefc '${sized}' /dev/null`, "sh"],
    env: { SHELL: "/bin/sh", TERM: "xterm", ...env },
  });
  return { code, text: stdout.replaceAll("\r\n", "\n") };
}

// deno-lint-ignore no-control-regex
const STYLE = /\x1b\[\d+m/g;

Deno.test("no line of show and ls is wider than its terminal, and texts of show are whole", async () => {
  await using place = await edited();
  for (const columns of [48, 120]) {
    const { text } = await screenOf(place, [], { verb: ["ls"], columns });
    assert.ok(text.split("\n").every((line) => stringWidth(line) <= columns), text);
    for (const view of [[], ["--turns"], ["--events"]]) {
      const { text } = await screenOf(place, view, { columns });
      const lines = text.replaceAll(STYLE, "").split("\n");
      for (const line of lines) assert.ok(stringWidth(line) <= columns, `${stringWidth(line)}: ${line}`);
      if (view.length > 0) continue;
      assert.ok(lines.map((line) => line.trim()).join(" ").includes(LONG.trim()), text);
    }
  }
});

Deno.test("show has colours on a terminal: removed and added lines; none with NO_COLOR, with --no-color, and in a pipe", async () => {
  await using place = await edited();
  const { text } = await screenOf(place, []);
  assert.ok(text.includes("\x1b[31m- alpha\x1b[0m") && text.includes("\x1b[32m+ omega\x1b[0m"), text);
  const plain = [
    (await screenOf(place, [], { env: { NO_COLOR: "1" } })).text,
    (await screenOf(place, ["--no-color"])).text,
    (await place.call(["show", "s"])).stdout,
  ];
  for (const text of plain) {
    assert.ok(text.includes("- alpha\n") && text.replaceAll(STYLE, "") === text, text);
  }
});

Deno.test("a transcript longer than the terminal goes through $PAGER, with its colours; a shorter one does not", async () => {
  await using place = await edited();
  const env = { PAGER: "sed 's/^/P:/'" };
  const paged = await screenOf(place, [], { rows: 10, env });
  assert.equal(paged.code, 0);
  assert.ok(paged.text.split("\n").slice(0, -1).every((line) => line.startsWith("P:")), paged.text);
  assert.ok(paged.text.includes("\x1b[31m- alpha"), paged.text);
  for (
    const [flags, rows] of [[[], 200], [["--no-pager"], 10], [["--json"], 1], [["--raw", "1"], 1]] as const
  ) {
    assert.doesNotMatch((await screenOf(place, flags, { rows, env })).text, /^P:/m, flags.join(" "));
  }
  const turns = await screenOf(place, ["--turns"], { rows: 3, env });
  assert.match(turns.text, /^P:.*turn +run/);
});

Deno.test("without a pager that starts, show prints to the terminal; leaving it early is 0, and Ctrl-C in it leaves show alone", async () => {
  await using place = await edited();
  const { text } = await screenOf(place, [], { rows: 200 });
  const show = (PAGER: string) => screenOf(place, [], { rows: 10, env: { PAGER } });
  for (const pager of ["", "cat", "no-such-pager"]) {
    const called = await show(pager);
    assert.equal(called.code, 0);
    assert.ok(called.text.endsWith(text), `${pager}: ${called.text}`);
  }
  const left = await show("head -n 1");
  assert.deepEqual([left.code, left.text.split("\n").length], [0, 2], left.text);
  const stopped = await show("kill -INT $PPID; sleep 0.2; cat");
  assert.deepEqual([stopped.code, stopped.text.includes("run 1 ended: completed")], [0, true], stopped.text);
  Deno.truncateSync(place.turnPath("s", 2), 50);
  const damaged = await show("sed 's/^/P:/'");
  assert.equal(damaged.code, 12);
  assert.match(damaged.text, /P:.*run 1 ended[^\n]*\ndamaged: turns\/000002\.json/);
});
