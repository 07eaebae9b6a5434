/** Pages in headless Chromium, driven by playwright-core. */
import { exists } from "../../scripts/npm_packages.ts";
import { outputOf, run } from "../../scripts/process.ts";
import type { Lack } from "../support/needs.ts";
import { installed } from "./npm_packages.ts";

const PLAYWRIGHT = ["playwright-core@1.65.1"];
const DRIVER = new URL("page_driver.mjs", import.meta.url).pathname;

/** The browser: that of `CHROMIUM`, or Debian's; `null` if there is none. */
const CHROMIUM = [Deno.env.get("CHROMIUM"), "/usr/bin/chromium"].find((path) => path && exists(path)) ?? null;
/** Lack of a browser. */
export const LACKS_CHROMIUM: Lack = CHROMIUM === null ? "no chromium; apt-get install chromium" : null;

/** One act on a page: a key, a text to type, a fragment, a value to see, a condition to wait for, or a picture. */
export interface PageStep {
  readonly press?: string;
  readonly type?: string;
  readonly hash?: string;
  /** An expression, evaluated in the page. */
  readonly see?: string;
  /** An expression that must become true. */
  readonly wait?: string;
  /** The path of a PNG. */
  readonly picture?: string;
  /** The picture has the whole page. @default {false} */
  readonly whole?: boolean;
}

/** A page to open. */
export interface PagePlan {
  readonly file: string;
  readonly hash?: string;
  readonly dark?: boolean;
  readonly width?: number;
  readonly height?: number;
  readonly steps?: readonly PageStep[];
}

/** Observations of a browser. */
export interface SeenPage {
  /** Values of the steps with `see`, in order. */
  // deno-lint-ignore no-explicit-any
  readonly seen: readonly any[];
  /** Messages of the console, errors and dialogs. */
  readonly problems: readonly string[];
  /** Every address that was requested, the page's own included. */
  readonly requests: readonly string[];
  readonly first_view_ms: number;
}

/** Opens a page and acts on it. @throws {Error} with the output of the driver if it fails. */
export async function browse(plan: PagePlan): Promise<SeenPage> {
  const modules = await installed(PLAYWRIGHT);
  const args = [DRIVER, modules, CHROMIUM ?? "", JSON.stringify(plan)];
  const finished = await run("node", args, { timeout: 120_000 });
  if (finished.code !== 0) throw new Error(`Cannot open the page: ${outputOf(finished)}`);
  return JSON.parse(finished.stdout);
}
