import { RepriseError } from "../../src/domain/errors.ts";

/** The platforms that the binary is built for, as Rust target triples; Windows compiles but is untested. */
export const TARGETS = {
  "linux-x64": "x86_64-unknown-linux-gnu",
  "linux-arm64": "aarch64-unknown-linux-gnu",
  "macos-x64": "x86_64-apple-darwin",
  "macos-arm64": "aarch64-apple-darwin",
  "windows-x64": "x86_64-pc-windows-msvc",
} as const;

/** The short name of a platform. */
export type Target = keyof typeof TARGETS;

/**
 * Parses `--target`: a short name or the triple that `deno compile` uses.
 *
 * @throws {RepriseError} `usage` for anything else.
 */
export function parseTarget(text: string): Target {
  for (const name of Object.keys(TARGETS) as Target[]) {
    if (text === name || text === TARGETS[name]) return name;
  }
  throw new RepriseError("usage", `Cannot compile for target "${text}": not a known platform`, {
    hint: `Use one of ${Object.keys(TARGETS).join(", ")}`,
  });
}

/** Name of a platform's executable in a folder with those of other platforms. */
export function binaryName(target: Target): string {
  return `reprise-${target}${target.startsWith("windows-") ? ".exe" : ""}`;
}

/** Name of a platform's executable in its npm package and in its archive. */
export function executableName(target: Target): string {
  return target.startsWith("windows-") ? "reprise.exe" : "reprise";
}

/** The platform that we run on, or `null` where it is none of the {@linkcode TARGETS}. */
export function hostTarget(triple: string = Deno.build.target): Target | null {
  const known = Object.keys(TARGETS) as Target[];
  return known.find((name) => TARGETS[name] === triple) ?? null;
}
