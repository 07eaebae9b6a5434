import { RepriseError } from "../../src/domain/errors.ts";

/** A version as the release names it, such as 1.2.3 or 1.2.3-rc.1. */
const VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z]+(?:\.[0-9A-Za-z]+)*)?$/;

/** Heading of a version in keepachangelog's form, such as `## [1.2.3] - 2026-01-31`. */
const HEADING = /^## \[([^\]]+)\](?: - (\S+))?[ \t]*$/gm;

/**
 * Returns the version in the text of a `deno.json`.
 *
 * @throws {RepriseError} `usage` if it has none, or one that is not a semantic version.
 */
export function versionIn(denoJson: string): string {
  const { version } = JSON.parse(denoJson) as { readonly version?: unknown };
  if (typeof version === "string" && VERSION.test(version)) return version;
  throw new RepriseError("usage", `Cannot release: the version in deno.json is ${JSON.stringify(version)}`, {
    hint: "Write it as 1.2.3 or 1.2.3-rc.1",
  });
}

/**
 * Returns the text of a version's section in a changelog, without its heading.
 *
 * @throws {RepriseError} `usage` if there is no such section, more than one, one without a date or an empty one.
 */
export function changelogSection(changelog: string, version: string): string {
  const headings = [...changelog.matchAll(HEADING)];
  const found = headings.filter(([, name]) => name === version);
  const [heading] = found;
  if (heading === undefined || found.length > 1) {
    throw unfit(`${heading === undefined ? "no section" : "more than one section"} for ${version}`, version);
  }
  const date = heading[2] ?? "";
  if (!isDate(date)) throw unfit(`no date in the heading of ${version}`, version);
  const next = headings[headings.indexOf(heading) + 1];
  const text = changelog.slice(heading.index + heading[0].length, next?.index)
    // Links of the headings, which follow the oldest section.
    .replace(/^\[[^\]]+\]: \S+$/gm, "").trim();
  if (text === "") throw unfit(`an empty section for ${version}`, version);
  return text;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function unfit(problem: string, version: string): RepriseError {
  return new RepriseError("usage", `Cannot release: CHANGELOG.md has ${problem}`, {
    hint: `Write the section as "## [${version}] - YYYY-MM-DD", with at least one line of text`,
  });
}
