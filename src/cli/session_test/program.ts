/**
 * This program as a process of its own.
 *
 * @module
 */
import { readVariable } from "../environment.ts";
import type { TestPlace } from "./place.ts";

const MAIN = new URL("../../../main.ts", import.meta.url);

/** The command line in front of the program's own arguments: the binary itself, or Deno with the sources. */
export function ownProgram(): readonly [string, ...string[]] {
  if (Deno.build.standalone) return [Deno.execPath()];
  return [Deno.execPath(), "run", "-A", "--quiet", MAIN.href];
}

/**
 * The environment of a step: nothing of the caller's but where programs are; from sources, also where Deno keeps its
 * modules.
 */
export function stepEnvironment({ root, user, temporary }: TestPlace): Record<string, string> {
  const kept = ["PATH", ...(Deno.build.standalone ? [] : ["DENO_DIR", "XDG_CACHE_HOME"])];
  const home = readVariable("HOME");
  const cache = readVariable("XDG_CACHE_HOME") ?? (home === undefined ? undefined : `${home}/.cache`);
  return {
    ...(Deno.build.standalone || cache === undefined ? {} : { DENO_DIR: `${cache}/deno` }),
    ...Object.fromEntries(kept.flatMap((name) => {
      const value = readVariable(name);
      return value === undefined ? [] : [[name, value]];
    })),
    HOME: user,
    TMPDIR: temporary,
    REPRISE_PLAY_ROOT: root,
    NO_COLOR: "1",
  };
}
