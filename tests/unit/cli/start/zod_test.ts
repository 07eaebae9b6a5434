/** The sources keep zod and the schemas out of the start of the program. */
import assert from "node:assert/strict";
import * as z from "zod";
import { type Zod, zodOnDemand } from "../../../../src/cli/start/zod_on_demand.ts";
import { textsBelow } from "../../../support/files.ts";

const SOURCES = [...textsBelow(new URL("../../../../src", import.meta.url).pathname)]
  .filter(([path]) => path.endsWith(".ts"));
/** The modules that import zod, by their paths. */
const IMPORTING = SOURCES.filter(([path, text]) =>
  path !== "cli/start/zod.ts" && /from "zod(\/core)?"/.test(text)
);

Deno.test("the script of zod has every function that the sources use", () => {
  const names = new Set<string>();
  for (const [, text] of IMPORTING) {
    for (const [, name = ""] of text.matchAll(/\bz\.([a-z]\w*)/g)) names.add(name);
    for (const [, list = ""] of text.matchAll(/import \{ ([^}]+) \} from "zod/g)) {
      for (const name of list.split(", ")) names.add(name);
    }
  }
  for (const type of ["core", "infer", "output"]) names.delete(type);
  const [, script = ""] = SOURCES.find(([path]) => path === "cli/start/zod.ts") ?? [];
  const exported = [...script.matchAll(/export \{([^}]*)\}/g)].flatMap(([, list = ""]) =>
    list.match(/\w+/g) ?? []
  );
  assert.deepEqual(exported.sort(), [...names].sort());
});

Deno.test("loading the modules of a run loads no zod", () => {
  const running = IMPORTING.filter(([path]) => /^(apis|compaction|run|tools)\//.test(path));
  assert.ok(running.length > 3);
  for (const [path, text] of running) {
    assert.doesNotMatch(text, /^(export )?const \w+(: [^=]+)? = z\.(?!lazy\()/m, path);
  }
});

Deno.test("what a bundle reads of zod first, and a schema that is not used, load no zod", () => {
  let loads = 0;
  const zod = zodOnDemand(() => {
    loads++;
    return z as unknown as Zod;
  }) as typeof z & { readonly __esModule: boolean };
  assert.equal(zod.__esModule, true);
  const schema = zod.lazy(() => zod.string());
  assert.equal(loads, 0);
  assert.equal(schema.safeParse("text").success, true);
  assert.equal(schema.safeParse(1).success, false);
  assert.equal(loads, 1);
});

Deno.test("only the verb schema loads the schemas: other code imports types", () => {
  const value =
    /^(?:import|export)\s+(?!type\b)[^;]*?\sfrom "[^"]*\/schemas\/[^"]*"|import\("[^"]*\/schemas\/[^"]*"\)/gm;
  const loading = SOURCES.filter(([path]) => !path.startsWith("schemas/"))
    .flatMap(([path, text]) => (text.match(value) ?? []).map((found) => `${path}: ${found}`));
  assert.deepEqual(loading.map((found) => found.split(":", 1)[0]), ["cli/schema/schema.ts"]);
});

Deno.test("no script but its own includes the price list", () => {
  const importing = SOURCES.filter(([, text]) =>
    /["']@pydantic\/genai-prices|\/prices\/table\.ts["']/.test(text)
  );
  assert.deepEqual(importing.map(([path]) => path).sort(), ["cli/start/prices.ts", "prices/table.ts"]);
});
