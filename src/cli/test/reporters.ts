/** Formats of results: lines for people, TAP, JUnit's XML, and JSON Lines. */
import { divergenceLines } from "./compare.ts";
import type { TestResult } from "./runner.ts";

export type ReporterName = "text" | "tap" | "junit" | "json";

interface Summary {
  readonly passed: number;
  readonly failed: number;
  /** Number of failed tests that could not be played at all. */
  readonly broken: number;
  readonly skipped: readonly string[];
  /** The reason for `skipped`. */
  readonly why: string;
}

interface Reporter {
  begin(count: number): string;
  result(result: TestResult, number: number): string;
  end(summary: Summary): string;
}

export function isPassed({ divergences, error }: TestResult): boolean {
  return divergences.length === 0 && error === null;
}

/** The error and the divergences of a test as lines; empty if it passed. */
export function failureLines({ divergences, error }: TestResult): string[] {
  const broken = error === null
    ? []
    : [error.message, ...(error.hint === undefined ? [] : [`hint: ${error.hint}`])];
  return [...broken, ...divergences.flatMap(divergenceLines)];
}

export function reporterOf(name: ReporterName): Reporter {
  return { text: textReporter, tap: tapReporter, junit: junitReporter, json: jsonReporter }[name]();
}

/** Lines for people: the failures of a test are below its line. */
function textReporter(): Reporter {
  return {
    begin: () => "",
    result(result) {
      const { name, note, seconds } = result;
      const title = note === null ? name : `${name}: ${note}`;
      const head = `${isPassed(result) ? "passed" : "FAILED"}  ${oneLine(title)} (${seconds.toFixed(2)} s)\n`;
      return head + failureLines(result).map((line) => `          ${oneLine(line)}\n`).join("");
    },
    end: () => "",
  };
}

function tapReporter(): Reporter {
  return {
    begin: (count) => `TAP version 14\n1..${count}\n`,
    result(result, number) {
      const title = result.note === null ? result.name : `${result.name}: ${result.note}`;
      const point = `${isPassed(result) ? "ok" : "not ok"} ${number} - ${tapText(title)}\n`;
      const lines = failureLines(result);
      if (lines.length === 0) return point;
      // A YAML block: each line of text becomes a separate line, with any content.
      const message = lines.map((line) => `    ${oneLine(line)}\n`).join("");
      return `${point}  ---\n  message: |2\n${message}  ...\n`;
    },
    end: ({ skipped, why }) => skipped.length === 0 ? "" : `Bail out! ${why}\n`,
  };
}

/** Escapes characters that have a meaning in the line of a test point. */
function tapText(text: string): string {
  return oneLine(text).replace(/[\\#]/g, "\\$&");
}

function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ");
}

/** The XML that CI systems read; whole at the end, because it begins with the counts. */
function junitReporter(): Reporter {
  const cases: string[] = [];
  let seconds = 0;
  return {
    begin: () => "",
    result(result) {
      seconds += result.seconds;
      const name = `name="${xml(result.note ?? result.name)}" classname="${xml(result.name)}"`;
      const head = `    <testcase ${name} time="${result.seconds.toFixed(3)}"`;
      const lines = failureLines(result);
      if (lines.length === 0) cases.push(`${head}/>`);
      else {
        const tag = result.error === null ? "failure" : "error";
        const type = result.error?.code ?? result.divergences[0]?.kind ?? "";
        const message = `message="${xml(lines[0] ?? "")}" type="${xml(type)}"`;
        cases.push(`${head}>\n      <${tag} ${message}>${xml(lines.join("\n"))}</${tag}>\n    </testcase>`);
      }
      return "";
    },
    end({ passed, failed, broken, skipped }) {
      for (const name of skipped) {
        const names = `name="${xml(name)}" classname="${xml(name)}"`;
        cases.push(`    <testcase ${names} time="0">\n      <skipped/>\n    </testcase>`);
      }
      const counts = `tests="${passed + failed + skipped.length}" ` +
        `failures="${failed - broken}" errors="${broken}" ` +
        `skipped="${skipped.length}" time="${seconds.toFixed(3)}"`;
      return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n` +
        `  <testsuite name="reprise test" ${counts}>\n${cases.join("\n")}\n  </testsuite>\n</testsuites>\n`;
    },
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

/** Text for XML 1.0, which does not allow most control characters. */
function xml(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"\n]/g, (character) => ENTITIES[character] as string);
}

function jsonReporter(): Reporter {
  const line = (value: unknown) => `${JSON.stringify(value)}\n`;
  return {
    begin: (count) => line({ type: "test.started", tests: count }),
    result: (result) => {
      const { name, note, divergences, error, updated, removed, seconds } = result;
      const facts = { dir: name, note, passed: isPassed(result), seconds, divergences, updated, removed };
      return line({ type: "test", ...facts, error: error?.toJSON() ?? null });
    },
    end: ({ passed, failed, skipped }) => line({ type: "test.ended", passed, failed, skipped }),
  };
}
