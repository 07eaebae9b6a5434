/** The recipes of docs/scripting.md do what they say: its blocks run unchanged, in order. */
import assert from "node:assert/strict";
import { lacksProgram, needing } from "../support/needs.ts";
import { answer, message, reasoning, type Script } from "../support/responses_server.ts";
import { functionCall } from "../support/responses_server/script.ts";
import { blocksOf } from "../support/page.ts";
import { SHELL_PROGRAM } from "../support/reprise.ts";
import { Place } from "./harness.ts";

const BLOCKS = blocksOf(Deno.readTextFileSync(new URL("../../docs/scripting.md", import.meta.url)));

/** Reads the file that a prompt names first, then answers. */
const script: Script = ({ input }) => {
  const last = input.at(-1);
  return last?.type === "message" && JSON.stringify(last).includes("a.txt")
    ? answer([reasoning(), functionCall("read_file", { path: "a.txt", offset: null, limit: null })])
    : answer([reasoning(), message("The parser is in src/parse.ts.")]);
};

Deno.test(
  needing("the recipes of docs/scripting.md run unchanged and print what the page shows", lacksProgram("jq")),
  async () => {
    await using place = new Place(script);
    const { sandbox } = place;
    const bin = `${sandbox.directory}/bin`;
    Deno.mkdirSync(bin);
    Deno.writeTextFileSync(`${bin}/reprise`, `#!/bin/sh\nexec ${SHELL_PROGRAM} "$@"\n`, { mode: 0o755 });
    assert.ok(BLOCKS.filter(({ language }) => language === "text").length > 5);
    let printed: string | null = null;
    for (const { language, text, line } of BLOCKS) {
      if (language === "text") {
        if (printed !== null) assert.equal(printed, text, `docs/scripting.md:${line}`);
        continue;
      }
      assert.equal(language, "sh", `docs/scripting.md:${line}`);
      printed = null;
      const { code, stdout, stderr } = await new Deno.Command("sh", {
        args: ["-e", "-c", text],
        cwd: sandbox.workspace,
        clearEnv: true,
        env: { ...sandbox.environment(), ...place.env, PATH: `${bin}:/usr/bin:/bin` },
        stdin: "null",
      }).output();
      printed = new TextDecoder().decode(stdout);
      assert.equal(code, 0, `docs/scripting.md:${line}: ${printed}${new TextDecoder().decode(stderr)}`);
    }
    for (const { name, size } of files(sandbox.workspace)) assert.ok(size > 0, `${name} is empty`);
  },
);

/** The files that the recipes have written. */
function files(directory: string): { readonly name: string; readonly size: number }[] {
  return [...Deno.readDirSync(directory)].filter(({ isFile }) => isFile)
    .map(({ name }) => ({ name, size: Deno.statSync(`${directory}/${name}`).size }));
}
