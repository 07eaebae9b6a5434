import assert from "node:assert/strict";
import * as used from "../../../../src/cli/start/zod.ts";
import { type Zod, zodOnDemand } from "../../../../src/cli/start/zod_on_demand.ts";
import { textsBelow } from "../../../support/files.ts";

/** The modules that import zod, by their paths. */
const IMPORTING = [...textsBelow(new URL("../../../../src", import.meta.url).pathname)]
  .filter(([path, text]) => path !== "cli/start/zod.ts" && /from "zod(\/core)?"/.test(text));

function counting(): { readonly z: Zod; loads(): number } {
  let count = 0;
  const z = zodOnDemand(() => {
    count++;
    return used;
  }) as Zod;
  return { z, loads: () => count };
}

Deno.test("schemas are declared without zod, and the first use of one loads it once", () => {
  const { z, loads } = counting();
  const name = z.lazy(() => z.string());
  const person = z.lazy(() => z.looseObject({ name, others: z.array(name) }));
  assert.equal(loads(), 0);
  assert.deepEqual(person.parse({ name: "a", others: ["b"], more: 1 }), {
    name: "a",
    others: ["b"],
    more: 1,
  });
  assert.deepEqual(person.safeParse({ name: "a", others: [1] }).error?.issues[0]?.path, ["others", 0]);
  assert.equal(person.optional().parse(undefined), undefined);
  assert.equal(loads(), 1);
});

Deno.test("any other function of zod loads it", () => {
  const { z, loads } = counting();
  assert.equal(z.string().parse("a"), "a");
  assert.equal(z.toDotPath(["a", 0]), "a[0]");
  assert.equal(loads(), 1);
});

Deno.test("the script of zod has every function that the sources use", () => {
  const names = new Set<string>();
  for (const [, text] of IMPORTING) {
    for (const [, name = ""] of text.matchAll(/\bz\.([a-z]\w*)/g)) names.add(name);
    for (const [, list = ""] of text.matchAll(/import \{ ([^}]+) \} from "zod/g)) {
      for (const name of list.split(", ")) names.add(name);
    }
  }
  for (const type of ["core", "infer", "output"]) names.delete(type);
  assert.deepEqual(Object.keys(used).sort(), [...names].sort());
});

Deno.test("loading the modules of a run loads no zod", () => {
  const running = IMPORTING.filter(([path]) => /^(apis|compaction|run|tools)\//.test(path));
  assert.ok(running.length > 5);
  for (const [path, text] of running) {
    assert.doesNotMatch(text, /^(export )?const \w+(: [^=]+)? = z\.(?!lazy\()/m, path);
  }
});
