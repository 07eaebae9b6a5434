/** Programs from npm, unmodified: their exact versions and their installation. */
import { dirname } from "node:path";
import { type Lack } from "../support/needs.ts";
import { exists, installPackages } from "../../scripts/npm_packages.ts";
import { outputOf, run } from "../../scripts/process.ts";
import { sha256 } from "../support/files.ts";

/** Packages that are installed together, each with its exact version, such as `@openai/codex@0.169.0`. */
export type Packages = readonly string[];

/** Variable with which the newest versions are installed, once a day, in place of the pinned ones. */
const NEWEST = "REPRISE_NEWEST_CLIENTS";

/** The SDKs of `deno.json`, for Node. */
export const SDKS: Packages = [
  "openai@7.57.0",
  "@anthropic-ai/sdk@1.12.0",
  "ai@7.0.173",
  "@ai-sdk/openai@4.0.118",
  "@langchain/core@1.4.0",
  "@langchain/openai@1.5.8",
];
/** Codex CLI. */
export const CODEX: Packages = ["@openai/codex@0.171.0"];
/** Claude Code, as it sent the state of Git in its instructions. */
export const CLAUDE_CODE_EARLIER: Packages = ["@anthropic-ai/claude-code@2.1.197"];
/** Claude Code between these two. */
export const CLAUDE_CODE_LATER: Packages = ["@anthropic-ai/claude-code@2.1.269"];
/** Claude Code, as it sends the state of Git as a text of its own. */
export const CLAUDE_CODE: Packages = ["@anthropic-ai/claude-code@2.1.332"];

/** Claude Agent SDK; npm puts its peer beside it. */
export const CLAUDE_AGENT_SDK: Packages = ["@anthropic-ai/claude-agent-sdk@0.3.332", "zod@4.6.7"];
/** Cline. */
export const CLINE: Packages = ["cline@3.0.65"];
/** GitHub Copilot CLI. */
export const COPILOT: Packages = ["@github/copilot@1.0.102"];
/** Continue CLI. */
export const CONTINUE: Packages = ["@continuedev/cli@1.5.47"];
/** opencode. */
export const OPENCODE: Packages = ["opencode-ai@1.18.33"];
/** Gemini CLI. */
export const GEMINI: Packages = ["@google/gemini-cli@0.61.0"];
/** Qwen Code. */
export const QWEN: Packages = ["@qwen-code/qwen-code@0.24.4"];
/** Kilo. */
export const KILO: Packages = ["@kilocode/cli@7.7.7"];
/** pi. */
export const PI: Packages = ["@mariozechner/pi-coding-agent@0.73.1"];

/** Lack of a system for the packages: they are known to have programs for one system that run without more. */
export const LACKS_AGENTS: Lack = Deno.build.os === "linux" && Deno.build.arch === "x86_64"
  ? null
  : "only on Linux x64";

/**
 * Returns the `node_modules` of these packages: from the user's cache directory, or installed there.
 *
 * @throws {Error} with the output of npm if npm cannot install them.
 */
export async function installed(pinned: Packages): Promise<string> {
  const day = Deno.env.get(NEWEST) === undefined ? null : new Date().toISOString().slice(0, 10);
  const packages = day === null ? pinned : pinned.map((name) => name.replace(/@[^@]+$/, "@latest"));
  const cache = `${cacheDirectory()}/reprise-clients`;
  const directory = `${cache}/${sha256([...packages, day ?? ""].join(" ").trim()).slice(0, 16)}`;
  const modules = `${directory}/node_modules`;
  if (exists(modules)) return modules;
  Deno.mkdirSync(cache, { recursive: true });
  const finished = await installPackages(directory, packages, ["--save-exact", "--no-update-notifier"]);
  if (finished.code !== 0) {
    throw new Error(`Cannot install ${packages.join(" ")} from the npm registry: ${outputOf(finished)}`);
  }
  return modules;
}

/** Returns the `PATH` with the programs of {@linkcode installed} packages, Node, and the system's programs. */
export async function pathWith(packages: Packages): Promise<string> {
  if (packages.length === 0) return "/usr/bin:/bin";
  const node = await run("sh", ["-c", "command -v node"]);
  return `${await installed(packages)}/.bin:${dirname(outputOf(node))}:/usr/bin:/bin`;
}

function cacheDirectory(): string {
  const configured = Deno.env.get("XDG_CACHE_HOME") ?? "";
  return configured === "" ? `${Deno.env.get("HOME")}/.cache` : configured;
}
