import assert from "node:assert/strict";
import { commandsIn, literalsOf, refusalOf } from "./commands_in_texts.ts";
import { test } from "../../support/test.ts";

/** The sources below a folder. */
function* sources(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* sources(`${folder}/${name}`);
    else if (name.endsWith(".ts")) yield `${folder}/${name}`;
  }
}

test.long("every command that a text of the program names is accepted by its parser", () => {
  const refused: string[] = [];
  let count = 0;
  for (const path of sources("src")) {
    for (const text of literalsOf(Deno.readTextFileSync(path))) {
      for (const command of commandsIn(text)) {
        count++;
        const why = refusalOf(command);
        if (why !== null) refused.push(`${path}: ${command}: ${why}`);
      }
    }
  }
  assert.deepEqual(refused, []);
  assert.ok(count > 60, `${count} commands`);
});

Deno.test("a wrong command in a text is found", () => {
  const texts = [
    'See "reprise sho X"',
    "Then: reprise compact X --tail 3",
    'Run "reprise fsck"',
    "Continue it (reprise run -c --max-steps none)",
  ];
  for (const text of texts) {
    const [command = ""] = commandsIn(text);
    assert.notEqual(refusalOf(command), null, text);
  }
});
