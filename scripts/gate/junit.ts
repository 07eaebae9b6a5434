import type { Tally } from "./tally.ts";

const CASE = /<testcase name="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g;

/** Counts the test cases, steps included, of the JUnit report that `deno test --junit-path` writes. */
export function tallyOfReport(xml: string): Tally {
  let passed = 0;
  const failed: string[] = [];
  const skipped: string[] = [];
  for (const [, name = "", file = "", body = ""] of xml.matchAll(CASE)) {
    const test = `${unescape(file)}: ${unescape(name)}`;
    if (/<(failure|error)\b/.test(body)) failed.push(test);
    else if (/<skipped\b/.test(body)) skipped.push(test);
    else passed++;
  }
  return { passed, failed, skipped };
}

function unescape(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll(
    "&apos;",
    "'",
  )
    .replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}
