/**
 * zod as the parts of the executable get it. Most calls validate with code of their own and need zod for problems only,
 * but their modules declare schemas, with `z.lazy()`: so zod is loaded when one of these is first used, or when another
 * function of zod is called.
 */
import type * as z from "zod";

/** The functions of zod in its script. */
export type Zod = typeof import("./zod.ts");

/** Returns an object that has the functions of zod, and calls `load` once, when it needs them. */
export function zodOnDemand(load: () => Zod): object {
  let zod: Zod | undefined;
  const loaded = () => zod ??= load();
  const lazy = (build: () => z.ZodType) => {
    let schema: z.ZodType | undefined;
    return forwarding((name) => Reflect.get(schema ??= loaded().lazy(build), name));
  };
  // Bundles read from the prototype of a module that they require, but copy all of its own members. They ask each module
  // first whether it is one of ES.
  return Object.create(forwarding((name) => {
    return name === "lazy" ? lazy : name === "__esModule" || Reflect.get(loaded(), name);
  }));
}

/** An object whose members are those that `get` returns. */
function forwarding(get: (name: string | symbol) => unknown): object {
  return new Proxy({}, { get: (_, name) => get(name) });
}
