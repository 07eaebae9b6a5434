/**
 * Runs the steps of action.yml as a runner of GitHub does: expressions, conditions, files for outputs, paths and
 * summaries. Steps that use other actions are noted and skipped.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { type Finished, run } from "../../../scripts/process.ts";

/** A step of action.yml. */
interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly "working-directory"?: string;
}

/** The document action.yml. */
export interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string; readonly description: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

/** The action of this checkout. */
export const ACTION = parse(Deno.readTextFileSync("action.yml")) as Action;

/** A run of the action. */
export interface Ran {
  /** False if a step failed. */
  readonly isSuccess: boolean;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
  /** Output of the steps. */
  readonly log: string;
  /** The folders that the steps added to PATH. */
  readonly paths: readonly string[];
  /** Inputs of the steps that use actions/cache. */
  readonly caches: readonly Readonly<Record<string, string>>[];
}

/** Values of contexts such as `github.action_ref`. */
export type Context = Readonly<Record<string, string>>;

/**
 * Runs the action in the folder `workspace`.
 *
 * @param inputs The inputs that differ from their defaults.
 * @param env Variables of the job.
 */
export async function runAction(
  workspace: string,
  inputs: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  context: Context = {},
): Promise<Ran> {
  const temp = Deno.makeTempDirSync({ dir: workspace, prefix: "runner-" });
  const files = Object.fromEntries(
    ["GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"].map((name) => [name, join(temp, name)]),
  ) as Record<"GITHUB_OUTPUT" | "GITHUB_PATH" | "GITHUB_STEP_SUMMARY", string>;
  for (const path of Object.values(files)) Deno.writeTextFileSync(path, "");
  const values: Record<string, string> = {
    "github.action_ref": "",
    "github.action_repository": "",
    "github.repository": "bob/app",
    "runner.os": "Linux",
    "runner.arch": "X64",
    ...context,
  };
  for (const [name, { default: value }] of Object.entries(ACTION.inputs)) {
    values[`inputs.${name}`] = inputs[name] ?? value;
  }
  const caches: Record<string, string>[] = [];
  let isSuccess = true;
  let log = "";
  for (const step of ACTION.runs.steps) {
    if (!holds(step.if ?? "", values, isSuccess)) continue;
    if (step.uses !== undefined) {
      caches.push(expandAll(step.with ?? {}, values));
      continue;
    }
    Deno.writeTextFileSync(files.GITHUB_OUTPUT, "");
    const paths = linesOf(files.GITHUB_PATH);
    const finished: Finished = await run(
      "bash",
      ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run ?? ""],
      {
        cwd: join(workspace, expand(step["working-directory"] ?? ".", values)),
        env: {
          ...files,
          ...env,
          GITHUB_ACTION_PATH: resolve("."),
          RUNNER_TEMP: temp,
          RUNNER_TOOL_CACHE: join(workspace, "tools"),
          PATH: [...paths.toReversed(), env["PATH"] ?? Deno.env.get("PATH")].join(":"),
          ...expandAll(step.env ?? {}, values),
        },
      },
    );
    log += finished.stdout + finished.stderr;
    if (finished.code !== 0) isSuccess = false;
    for (const line of linesOf(files.GITHUB_OUTPUT)) {
      const at = line.indexOf("=");
      values[`steps.${step.id}.outputs.${line.slice(0, at)}`] = line.slice(at + 1);
    }
  }
  const outputs = Object.entries(ACTION.outputs).map(([name, { value }]) => [name, expand(value, values)]);
  return {
    isSuccess,
    outputs: Object.fromEntries(outputs),
    summary: Deno.readTextFileSync(files.GITHUB_STEP_SUMMARY),
    log,
    paths: linesOf(files.GITHUB_PATH),
    caches,
  };
}

function linesOf(path: string): string[] {
  return Deno.readTextFileSync(path).split("\n").filter((line) => line !== "");
}

function expandAll(record: Readonly<Record<string, string>>, values: Context): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([name, text]) => [name, expand(text, values)]));
}

/** Replaces `${{ a }}` and `${{ a || b }}` by values. */
function expand(text: string, values: Context): string {
  return text.replaceAll(/\$\{\{ (.+?) \}\}/g, (_, expression: string) => {
    const found = expression.split(" || ").map((name) => valueOf(name, values));
    return found.find((value) => value !== "") ?? "";
  });
}

/** Evaluates comparisons with a text, joined by `&&`; without `always()` they need success so far. */
function holds(condition: string, values: Context, isSuccess: boolean): boolean {
  const terms = condition.split(" && ").filter((term) => term !== "");
  if (!isSuccess && !terms.includes("always()")) return false;
  return terms.filter((term) => term !== "always()").every((term) => {
    const [, name = "", operator, text] = /^(\S+) (==|!=) '(.*)'$/.exec(term) ?? [];
    return (valueOf(name, values) === text) === (operator === "==");
  });
}

/** Outputs of a step that set none are empty; another unknown name is a mistake. */
function valueOf(name: string, values: Context): string {
  const value = values[name];
  if (value === undefined && !/^steps\.\w+\.outputs\./.test(name)) throw new Error(`Unknown name ${name}`);
  return value ?? "";
}
