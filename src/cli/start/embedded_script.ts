/**
 * Scripts of the program in the executable, each with the code that V8 compiled of it when the executable was built:
 * without that, compiling the code again is most of the time of a short call.
 *
 * @module
 */
import { createRequire } from "node:module";
import { Script } from "node:vm";
import type { PriceTable } from "../../domain/cost.ts";
import type { Part, PartName } from "./begin.ts";
import type { ReadFiles } from "./part_files.ts";

/** The scripts in the executable, by their names. */
export type ScriptName = PartName | "prices";

/** Function that a script consists of: a module of CommonJS. */
type Module = (require: NodeJS.Require, module: { exports: unknown }) => void;

/** A loaded script whose compiled code can be kept. */
export interface LoadedScript {
  /** Compiled code for the next process: of all functions that were called in this one, or that came with the script. */
  compiledCode(): Uint8Array<ArrayBuffer>;
  /** False if there was compiled code that V8 refused, because it is of another version, platform or set of flags. */
  readonly isAccepted: boolean;
}

/** Name of the file with a script. */
export function scriptFile(name: ScriptName): string {
  return `${name}.js`;
}

/** Name of the file with the compiled code of a script; empty if there is none. */
export function codeFile(name: ScriptName): string {
  return `${name}.code`;
}

/** Loads a part from its files. V8 compiles what there is no compiled code for. */
export function loadPart(read: ReadFiles, name: PartName): Part & LoadedScript {
  const { exports, ...script } = loadScript(read, name);
  return { start: (exports as Part).start, ...script };
}

/** Loads the price list from its files. */
export function loadPriceTable(read: ReadFiles): PriceTable & LoadedScript {
  const { exports, ...script } = loadScript(read, "prices");
  return { listPrice: (exports as PriceTable).listPrice, ...script };
}

function loadScript(read: ReadFiles, name: ScriptName): LoadedScript & { readonly exports: unknown } {
  const [source, code] = read(scriptFile(name), codeFile(name));
  const script = new Script(new TextDecoder().decode(source), {
    filename: scriptFile(name),
    ...(code === undefined || code.length === 0 ? {} : { cachedData: code }),
  });
  const module = { exports: {} };
  (script.runInThisContext() as Module)(createRequire(import.meta.url), module);
  return {
    exports: module.exports,
    compiledCode: () => Uint8Array.from(script.createCachedData()),
    isAccepted: script.cachedDataRejected !== true,
  };
}
