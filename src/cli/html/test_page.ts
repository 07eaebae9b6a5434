/**
 * The page of a run of `test`: failed tests first, with both sides of each divergence.
 *
 * @module
 */
import { counted } from "../../domain/text.ts";
import type { Context } from "../context.ts";
import type { TestFlags } from "../serve/command.ts";
import type { Divergence } from "../test/compare.ts";
import { isPassed, type Reporter, type Summary } from "../test/reporters.ts";
import type { TestResult } from "../test/runner.ts";
import { diffText } from "./edits.ts";
import { pageHtml } from "./document.ts";
import type { Block, Entry, Group, Page } from "./page.ts";
import { pageFile } from "./page_file.ts";
import { pageRedactor } from "./redaction.ts";

/** UTF-16 units of both documents that are compared line by line. */
const MAX_COMPARED = 8_000_000;

/**
 * Returns the reporter for a call with a page: the page itself if `reporter` is `null`, otherwise `reporter`, which also
 * writes the page to `flags.html` at its end.
 *
 * @throws {RepriseError} `usage` if the page cannot be written there.
 */
export async function pageReporter(
  context: Pick<Context, "ports" | "output">,
  flags: TestFlags,
  reporter: Reporter | null,
): Promise<Reporter> {
  const file = flags.html === undefined ? null : pageFile(context, flags.html, flags.force === true);
  const redactor = flags.redact === true ? await pageRedactor() : null;
  const results: TestResult[] = [];
  return {
    begin: (count) => reporter?.begin(count) ?? "",
    result(result, number) {
      results.push(result);
      return reporter?.result(result, number) ?? "";
    },
    end(summary) {
      const html = pageHtml(testPage(results, summary, (value) => redactor?.value(value) ?? value));
      file?.write(html);
      for (const line of redactor?.lines() ?? []) context.output.note(line);
      return reporter?.end(summary) ?? html;
    },
  };
}

/** Creates the page of played tests. `clean` replaces secrets in a value. */
export function testPage(results: readonly TestResult[], summary: Summary, clean: <T>(value: T) => T): Page {
  const numbered = results.map((result, index) => ({ result, number: index + 1 }));
  const failed = numbered.filter(({ result }) => !isPassed(result));
  const passed = numbered.filter(({ result }) => isPassed(result));
  const lists = [failed, passed].filter((list) => list.length > 0);
  const groups = lists.map((list, index): Group => ({
    name: list === failed ? "Failed" : "Passed",
    state: counted(list.length, "test"),
    tone: list === failed ? "bad" : "good",
    first: lists.slice(0, index).flat().length,
    about: "",
  }));
  const entries = lists.flatMap((list, group) =>
    list.map(({ result, number }) => entryOf(result, { number, group, clean }))
  );
  const { skipped, why } = summary;
  return {
    kind: "tests",
    title: `${summary.passed} passed, ${summary.failed} failed`,
    facts: [
      { name: "tests", text: String(results.length + skipped.length) },
      { name: "passed", text: String(summary.passed) },
      { name: "failed", text: String(summary.failed) },
    ],
    warnings: skipped.length === 0
      ? []
      : [`${counted(skipped.length, "test")} not played: ${why}. ${clean(skipped.join(", "))}`],
    groups,
    entries,
    requests: [],
  };
}

interface Place {
  readonly number: number;
  readonly group: number;
  readonly clean: <T>(value: T) => T;
}

function entryOf(result: TestResult, { number, group, clean }: Place): Entry {
  const { name, note, divergences, error, updated, removed, seconds } = result;
  const files = [...updated.map((path) => `updated ${path}`), ...removed.map((path) => `removed ${path}`)];
  const isGood = isPassed(result);
  return {
    id: `test-${number}`,
    name: clean(name),
    kind: isGood ? "passed" : "failed",
    about: clean(note ?? ""),
    at: null,
    took: seconds * 1000,
    group,
    tone: isGood ? "plain" : "bad",
    seq: null,
    blocks: [
      ...(error === null ? [] : [sidesOf(clean({ where: error.message, said: error.hint ?? "" }))]),
      ...divergences.map((divergence) => divergenceBlock(divergence, clean)),
      ...files.map((text): Block => ({ type: "note", text: clean(text), tone: "plain" })),
    ],
  };
}

function divergenceBlock({ documents, ...divergence }: Divergence, clean: Place["clean"]): Block {
  const { where, message, path, expected, received, said } = clean(divergence);
  const whole = documents === undefined ? null : clean(documents());
  const isShort = whole !== null && whole.expected.length + whole.received.length <= MAX_COMPARED;
  return sidesOf({
    where: `${where}: ${message}${path === undefined ? "" : ` at ${path}`}`,
    expected: expected ?? null,
    received: received ?? null,
    diff: isShort ? diffText(whole.expected, whole.received) : null,
    said: said ?? "",
  });
}

function sidesOf(
  { where, expected = null, received = null, diff = null, said }: {
    readonly where: string;
    readonly expected?: string | null;
    readonly received?: string | null;
    readonly diff?: string | null;
    readonly said: string;
  },
): Block {
  return { type: "sides", where, expected, received, diff, said };
}
