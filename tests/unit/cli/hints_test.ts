import assert from "node:assert/strict";
import { commandsIn, literalsOf, refusalOf } from "./commands_in_texts.ts";
import { textsBelow } from "../../support/files.ts";
import { test } from "../../support/test.ts";

test.long("every command that a text of the program names is accepted by its parser", () => {
  const refused: string[] = [];
  let count = 0;
  for (const [path, source] of textsBelow("src")) {
    if (!path.endsWith(".ts")) continue;
    for (const text of literalsOf(source)) {
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
