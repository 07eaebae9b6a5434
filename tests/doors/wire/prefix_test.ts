/** Reports that the next request continues the last one, compared with the bytes of both. */
import assert from "node:assert/strict";
import { startResponsesServer } from "../../support/scripted_api/responses.ts";
import { answer, message, reasoning } from "../../support/scripted_api/responses_script.ts";
import { test } from "../../support/test.ts";
import { ID } from "../sessions/home.ts";
import { Runs } from "./runs.ts";

/** Flags of a next request, and the item of the first difference; `null`: before the history. */
const CHANGES: readonly (readonly [string, readonly string[], number | null | "extends"])[] = [
  ["nothing", [], "extends"],
  ["a limit of output tokens", ["--max-tokens", "9000"], "extends"],
  ["another model", ["-m", "gpt-5.5"], null],
  ["other instructions, of several bytes a character", ["--instructions", "Prüfe 🙂 alles"], null],
  ["no reasoning", ["--replay", "none"], 1],
  ["less reasoning", ["--replay", "last:1"], 1],
];

for (const [what, flags, item] of CHANGES) {
  test.long(`the report names the first byte and item that differ after ${what}`, async () => {
    const server = startResponsesServer({
      rules: "none",
      script: () => answer([reasoning("one"), message("Fertig: ü 😀.")]),
    });
    await using runs = new Runs(server, ["-m", "gpt-5.6", "--instructions", "Prüfe 😀 alles"]);
    for (const prompt of ["Üben", "Once more", "And again"]) await runs.run({ prompt });
    const { text } = server.requests.at(-1) ?? { text: "" };
    const args = [
      "run",
      "--dry-run",
      "-s",
      ID,
      "--base-url",
      server.baseUrl,
      "-m",
      "gpt-5.6",
      ...flags,
      "Go on",
    ];
    const env = { OPENAI_API_KEY: "sk-1" };
    const { prefix } = JSON.parse((await runs.call([...args, "--json"], { env })).stdout);
    if (item === "extends") return assert.deepEqual(prefix, { extends: true });
    const body = (await runs.call([...args, "--body"], { env })).stdout;
    const [before, next] = [text, body].map((each) => new TextEncoder().encode(each));
    const byte = before?.findIndex((value, index) => value !== next?.[index]);
    assert.deepEqual(prefix, { extends: false, item, byte });
  });
}
