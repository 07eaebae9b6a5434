/**
 * Scripts of the program in the executable, each with the code that V8 compiled of it when the executable was built:
 * without that, compiling the code again is most of the time of a short call.
 */
import { Script } from "node:vm";
import type { PriceTable } from "../../domain/cost.ts";
import type { PartName, ProgramPart } from "./begin.ts";
import type { ReadFiles } from "./part_files.ts";
import { type Zod, zodOnDemand } from "./zod_on_demand.ts";

export type ScriptName = PartName | "prices" | "zod";

/** Modules that a part requires from the script of zod. */
export const ZOD_MODULES: readonly string[] = ["zod", "zod/core"];

/** Function that a script consists of: a module of CommonJS. */
type Module = (require: (name: string) => unknown, module: { exports: unknown }) => void;

/** A loaded script whose compiled code can be kept. */
export interface LoadedScript {
  /**
   * Compiled code for the next process by the name of its file, for this script and for that of zod if it was loaded: of
   * all functions that were called in this process, or that came with the script.
   */
  compiledCode(): ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  /** False if there was compiled code that V8 refused, because it is of another version, platform or set of flags. */
  readonly isAccepted: boolean;
}

export function scriptFile(name: ScriptName): string {
  return `${name}.js`;
}

/** Name of the file with the compiled code of a script; empty if there is none. */
export function codeFile(name: ScriptName): string {
  return `${name}.code`;
}

/** Loads a part from its files. V8 compiles what there is no compiled code for. */
export function loadPart(read: ReadFiles, name: PartName): ProgramPart & LoadedScript {
  const { exports, ...script } = loadScript(read, name);
  return { start: (exports as ProgramPart).start, ...script };
}

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
  let zodScript: LoadedScript | undefined;
  const zod = zodOnDemand(() => {
    const { exports, ...loaded } = loadScript(read, "zod");
    zodScript = loaded;
    return exports as Zod;
  });
  const module = { exports: {} };
  (script.runInThisContext() as Module)(
    (name) => ZOD_MODULES.includes(name) ? zod : builtinModule(name),
    module,
  );
  return {
    exports: module.exports,
    compiledCode: () =>
      new Map([
        [codeFile(name), Uint8Array.from(script.createCachedData())],
        ...zodScript?.compiledCode() ?? [],
      ]),
    isAccepted: script.cachedDataRejected !== true,
  };
}

/**
 * Returns a module of the runtime. Importing `process` or `createRequire` for it would take 4 % of the time of an empty
 * program.
 *
 * @throws {Error} for any other name: packages do without an optional dependency if `require` throws.
 */
function builtinModule(name: string): unknown {
  const found: unknown = globalThis.process.getBuiltinModule(name);
  if (found === undefined) throw new Error(`Cannot find module '${name}'`);
  return found;
}
