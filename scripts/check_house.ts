/**
 * Checks what no linter knows: who may import whom, who may print, who may name an API, which folders are pure, how long
 * a file may be, that nothing of the machine it was written on got in, that cited sections and linked pages exist, that the
 * index of the docs is complete, and that the English is plain.
 *
 * Usage: `deno run -A scripts/check_house.ts [DIR]`; one line for each finding, exit code 1 when there are any.
 * With `--counts`, it prints how often each phrase to avoid occurs in each part of the checkout.
 *
 * @module
 */
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { counted } from "../src/domain/text.ts";
import type { Finding, SourceFile } from "./house/finding.ts";
import { formatFinding } from "./house/finding.ts";
import { checkApiNames } from "./house/api_names.ts";
import { checkCitations } from "./house/citations.ts";
import { checkEnglish, countPhrases, formatCounts } from "./house/english.ts";
import { checkImports } from "./house/imports.ts";
import { checkLeaks } from "./house/leaks.ts";
import { checkLinks } from "./house/links.ts";
import {
  checkEnvironment,
  checkForeignCode,
  checkLength,
  checkPrinting,
  checkProcess,
  checkPurity,
  checkTerminal,
} from "./house/shape.ts";
import { readTree } from "./house/tree.ts";
import { runScript, say } from "./terminal.ts";

/** All findings in `files`, in the order of path and line; `machine` as in {@linkcode checkLeaks}. */
export function checkHouse(files: readonly SourceFile[], machine: readonly string[]): Finding[] {
  return [
    ...checkImports(files),
    ...checkApiNames(files),
    ...checkTerminal(files),
    ...checkPrinting(files),
    ...checkProcess(files),
    ...checkEnvironment(files),
    ...checkForeignCode(files),
    ...checkPurity(files),
    ...checkLength(files),
    ...checkLeaks(files, machine),
    ...checkCitations(files),
    ...checkLinks(files),
    ...checkEnglish(files),
  ].sort((a, b) => a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1);
}

async function main(args: readonly string[]): Promise<number> {
  const root = resolve(args.find((arg) => arg !== "--counts") ?? ".");
  const files = await readTree(root);
  if (args.includes("--counts")) {
    say(formatCounts(countPhrases(files)));
    return 0;
  }
  const findings = checkHouse(files, namesOfThisMachine(root));
  for (const finding of findings) say(formatFinding(finding));
  say(`Checked ${counted(files.length, "file")}: ${counted(findings.length, "finding")}`);
  return findings.length === 0 ? 0 : 1;
}

/**
 * The checkout's directory and the configured registry's host. A directory of one level or below the temp
 * directory is left out: tests and docs hold such names for their own reasons.
 */
function namesOfThisMachine(root: string): string[] {
  const isSpecific = root.split("/").length > 2 && !root.startsWith(`${tmpdir()}/`);
  const registry = Deno.env.get("npm_config_registry") ?? Deno.env.get("NPM_CONFIG_REGISTRY") ?? "";
  return [...(isSpecific ? [root] : []), ...(URL.canParse(registry) ? [new URL(registry).host] : [])];
}

if (import.meta.main) await runScript(() => main(Deno.args));
