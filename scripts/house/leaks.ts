import type { Finding, SourceFile } from "./finding.ts";
import { lineAt } from "./source_text.ts";

/** Made-up names, for examples in docs and tests. */
const EXAMPLE_NAMES = "user|you|me|alice|bob";

/** Absolute paths below somebody's home directory. */
const HOME_PATH = new RegExp(
  `(?<![\\w.$}~])(?:/home/(?!(?:${EXAMPLE_NAMES})\\b)[a-z_][\\w.-]*|/Users/(?!(?:${EXAMPLE_NAMES})\\b)[A-Za-z_][\\w.-]*|/root(?=/)` +
    `|[A-Z]:\\\\Users\\\\(?!(?:${EXAMPLE_NAMES})\\b)\\w+)`,
  "g",
);

/** Hosts of package registries and their mirrors: a lockfile or doc that names one binds everybody to it. */
const REGISTRY_HOST =
  /\b(?:registry|npm|artifactory|nexus|verdaccio)[\w-]*(?:\.[a-z0-9-]+)+\.(?:org|com|io|net|dev|cloud|internal|local|lan)\b|\bjsr\.io\b/gi;

/**
 * Checks that no file names a path or host of the machine it was written on. `machine` are such strings that are
 * known at run time: the checkout's own directory, the configured registry.
 */
export function checkLeaks(files: readonly SourceFile[], machine: readonly string[]): Finding[] {
  return files.flatMap((file) => [
    ...matches(file, HOME_PATH, "Names a path in somebody's home"),
    ...matches(file, REGISTRY_HOST, "Names a registry host"),
    ...machine.flatMap((text) => occurrences(file, text)),
  ]);
}

function matches(file: SourceFile, pattern: RegExp, message: string): Finding[] {
  return [...file.text.matchAll(pattern)].map((match) => ({
    path: file.path,
    line: lineAt(file.text, match.index),
    message: `${message}: "${match[0]}"`,
  }));
}

function occurrences(file: SourceFile, text: string): Finding[] {
  const whole = new RegExp(`(?<![\\w.-])${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`, "g");
  return matches(file, whole, "Names a path or host of this machine");
}
