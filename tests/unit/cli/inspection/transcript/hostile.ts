/** Sessions whose every text is hostile or hard to print. */
import type { Item } from "../../../../../src/domain/event.ts";
import type { ShownSession } from "../../../../../src/store/read/show.ts";
import { call, History, message } from "../../../../support/history.ts";
import { shownSession } from "./shown.ts";
import { IS_SOAK } from "../../../../support/scale.ts";

/** Characters that a terminal obeys or hides, and markup that a page or a Markdown reader obeys. */
const ATTACKS: readonly string[] = [
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 33 }, (_, code) => String.fromCharCode(0x7f + code)),
  ..."\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2028\u2029\u2060\u2066\u2067\u2068\u2069\ufeff\u3164\u2800",
  "\u{e0041}\u{e0042}",
  "\x1b[2J\x1b[H",
  "\x1b[8m",
  "\x1b]52;c;ZXZpbA==\x07",
  "\x1b]0;title\x07",
  "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
  "\x1bP+q544e\x1b\\",
  "\x1b[6n",
  "\x1b[?1049h",
  "\x9b31m",
  "\x1b#8",
  "over\rwritten",
  "back\b\b\b\bspace",
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "</details></blockquote><h1>out</h1>",
  "![x](https://evil.example/pixel.png)",
  "![x][y]\n\n[y]: https://evil.example/pixel.png",
  "[bank](https://evil.example)",
  "```\n</details>\n<b>out</b>",
  "````` `` ``` `",
  `${"`".repeat(150)} <b> ${"`".repeat(100)}`,
  "`a <b>\n`c` <i>d</i>",
  "| a ` | <u>b</u> ` |\n| --- | --- |",
  "@everyone closes #1, fixes GH-2 and https://example.com/o/r/issues/3",
  "&lt;b&gt; &#64;user &#x3c;i>",
  "── 99 · run 99 · user",
  "$(reboot) `reboot` ;reboot",
];

/** Texts that must not change. */
const INTACT: readonly string[] = [
  "👩‍👩‍👧‍👦 👍🏽 🇩🇪 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "می‌خواهم این را بخوانم",
  "नमस्ते क्‍ष",
  "漢字かな交じり文",
  "é ö ñ",
];

/** Emoji and words that a printed text must hold unaltered. */
export const INTACT_WORDS: readonly string[] = INTACT.flatMap((text) => text.split(" "));

/**
 * Hostile strings: each attack by itself, between words, in a long line, and repeated, beside texts that must stay. Each
 * attack is tried in one of the forms; a soak tries each in all.
 */
export function hostileStrings(): string[] {
  const all = 500;
  const strings = Array.from({ length: all }, (_, index) => {
    const attack = ATTACKS[index % ATTACKS.length] as string;
    const intact = INTACT[index % INTACT.length] as string;
    const forms = [
      attack,
      `${intact} ${attack} ${intact}`,
      `${"word ".repeat(30)}${attack}${intact}`,
      attack.repeat(40),
    ];
    const form = Math.floor(index / ATTACKS.length) % forms.length;
    return { text: forms[form] as string, inGate: form === index % ATTACKS.length % forms.length };
  });
  return strings.filter(({ inGate }) => inGate || IS_SOAK).map(({ text }) => text);
}

/** A session with a string in each of its fields that a transcript shows. */
export function hostileSession(text: string): ShownSession {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const history = new History()
    .user(text)
    .model([
      reasoningOf(text),
      message(text, text),
      call(text, text, JSON.stringify({ path: text, [text]: text })),
      call("e", "edit_file", JSON.stringify({ path: text, old_text: text, new_text: `${text}\n${text}` })),
      call("w", "write_file", JSON.stringify({ path: text, content: text })),
      { type: text, id: text },
    ], { asked: text, answered: text })
    .results()
    .add({
      kind: "harness",
      run: 1,
      events: [
        {
          type: "permission_decision",
          call_id: text,
          call_seq: 4,
          tool: text,
          decision: "denied",
          reason: text,
          rule: text,
        },
        {
          type: "replay_notice",
          reason: text as never,
          items: [{ seq: 2, action: text as never }],
          error: { code: "refused", message: text },
        },
        { type: "endpoint_notice", endpoint: text, model: text, without: text as never },
        { type: "blob_lost", sha256: text },
        { type: text } as never,
        {
          type: "run_ended",
          run: 1,
          state: text as never,
          exit_code: 1,
          usage: { ...usage, cached_tokens: 0, reasoning_tokens: 0 },
          error: { code: "unexpected", message: text },
        },
      ],
    });
  const session = shownSession(history, { output: text });
  const { manifest } = session;
  if (manifest === null) throw new Error("A session with turns has a manifest");
  const pins = { ...manifest.pins, model: text, workspace: text };
  return { ...session, manifest: { ...manifest, title: text.replace(/\s+/g, " "), pins } };
}

function reasoningOf(text: string): Item {
  return { id: text, type: "reasoning", summary: [{ type: "summary_text", text }], encrypted_content: text };
}
