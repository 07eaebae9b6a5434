import assert from "node:assert/strict";
import stringWidth from "string-width";
import { transcriptLines } from "../../../../../src/cli/inspection/transcript/lines.ts";
import { eventTable, turnTable } from "../../../../../src/cli/inspection/transcript/tables.ts";
import { PLAIN_SCREEN, screenOf } from "../../../../../src/cli/screen.ts";
import { Printer } from "../../../../../src/cli/terminal.ts";
import type { ShownSession } from "../../../../../src/store/read/show.ts";
import { call, History } from "../../../../support/history.ts";
import { shownSession, transcriptOf } from "./shown.ts";
import { hostileSession, hostileStrings, INTACT_WORDS } from "./hostile.ts";
import { test } from "../../../../support/test.ts";

const OPTIONS = { screen: PLAIN_SCREEN, full: false, fullFlag: "--full", wholeOutput: () => null } as const;

/** Characters that a terminal obeys or hides. */
const OBEYED = /(?![\u200c\u200d\n\p{Variation_Selector}])[\p{Cc}\p{DI}\p{Zl}\p{Zp}\ufff9-\ufffb\u2800]/u;
// deno-lint-ignore no-control-regex -- these are ours
const STYLE = /\x1b\[(?:0|1|2|3[126])m/g;

/** All views of a session on a terminal with colour, as its screen gets them. */
async function printed(session: ShownSession, columns: number): Promise<string> {
  const screen = await screenOf(columns);
  const terminal = { isTerminal: () => true, writeSync: (bytes: Uint8Array) => bytes.length };
  const printer = new Printer(terminal, { colour: true });
  const lines = [
    ...await transcriptLines(transcriptOf(session), { ...OPTIONS, screen }),
    ...turnTable(session.turns, screen),
    ...eventTable(session.turns, session.turns, screen),
  ];
  return printer.rendered(lines.flatMap((line) => [...line, "\n"]));
}

test.long("hostile strings in every field steer no terminal, and leave emoji and other scripts intact, at 48 columns", async () => {
  for (const text of [...hostileStrings(), "many words\n".repeat(50)]) {
    const unstyled = (await printed(hostileSession(text), 48)).replace(STYLE, "");
    assert.doesNotMatch(
      unstyled.replaceAll(/\p{RGI_Emoji_Tag_Sequence}/gv, ""),
      OBEYED,
      JSON.stringify(text),
    );
    for (const line of unstyled.split("\n")) {
      assert.ok(stringWidth(line) <= 48, `${stringWidth(line)} columns: ${line}`);
      // Only our own lines begin at the margin with a rule.
      if (line.startsWith("──")) assert.match(line, /^── [1-4] · run 1 · /);
    }
    // A long line may break inside a word.
    const solid = unstyled.replaceAll(/\s/g, "");
    for (const word of INTACT_WORDS) {
      if (text.includes(word)) assert.ok(solid.includes(word.replaceAll(/\s/g, "")), word);
    }
  }
});

Deno.test("a pipe gets the texts unaltered and without a style", async () => {
  const chunks: Uint8Array[] = [];
  const pipe = {
    isTerminal: () => false,
    writeSync: (bytes: Uint8Array) => chunks.push(bytes) && bytes.length,
  };
  const session = hostileSession("a\x1b[5mb \u202etxt.exe");
  const lines = await transcriptLines(transcriptOf(session), OPTIONS);
  new Printer(pipe, { colour: true }).text(lines.flatMap((line) => [...line, "\n"]));
  const text = new TextDecoder().decode(new Uint8Array(chunks.flatMap((chunk) => [...chunk])));
  assert.ok(text.includes("\n  a\x1b[5mb \u202etxt.exe\n"), text);
  assert.doesNotMatch(text, STYLE);
});

test.long("an output of a million lines is shown whole", async () => {
  const session = shownSession(new History().user("Read").model([call("c")]).results(), {
    output: "line\n".repeat(1_000_000),
  });
  const lines = await transcriptLines(transcriptOf(session), { ...OPTIONS, full: true });
  assert.ok(lines.length > 1_000_000);
});
