/** The lines of docs/reasoning.md do what they say. */
import assert from "node:assert/strict";
import { lacksProgram, needing } from "../../support/needs.ts";
import { answer, message, reasoning, type Script } from "../../support/scripted_api/responses.ts";
import { functionCall, reasoningIds, refuse } from "../../support/scripted_api/responses_script.ts";
import { Place } from "../harness.ts";

const TEXT = Deno.readTextFileSync(new URL("../../../docs/reasoning.md", import.meta.url));
const JQ_LINES = TEXT.split("\n").filter((line) => line.startsWith("jq "));

/** Reasoning, a call, a refusal: something for each line to show. */
const script: Script = (request) => {
  const refused = request.input.filter(({ role }) => role === "user").length > 1 &&
    reasoningIds(request).length > 1;
  if (refused) return refuse({ message: "The encrypted content gAAA...DQ== could not be verified." }, "http");
  return request.input.at(-1)?.role === "user"
    ? answer([reasoning(), functionCall("read_file", { path: "a.txt", offset: null, limit: null })])
    : answer([reasoning(), message("Done.")]);
};

async function storied(): Promise<Place> {
  const place = new Place(script, { rules: "none" });
  await place.session("s");
  assert.equal((await place.call(["run", "--json", "-s", "s", "And now?"])).code, 0);
  return place;
}

Deno.test(
  needing(
    "the jq lines of docs/reasoning.md show something of every session with a refusal: as programs",
    lacksProgram("jq"),
  ),
  async () => {
    await using place = await storied();
    for (const line of JQ_LINES) {
      const { code, stdout, stderr } = await new Deno.Command("sh", {
        args: ["-c", line],
        cwd: place.path("s"),
      }).output();
      const decoder = new TextDecoder();
      assert.equal(code, 0, `${line}\n${decoder.decode(stderr)}`);
      const rows = decoder.decode(stdout).trimEnd().split("\n");
      assert.ok(rows.length > 0 && rows.every((row) => row !== "" && !/\t\t|\tnull|^null/.test(row)), line);
    }
  },
);

Deno.test("docs/reasoning.md knows every reason and every switch: the reasons that items are left out for", () => {
  const source = Deno.readTextFileSync(new URL("../../../src/domain/turn.ts", import.meta.url));
  const union = source.slice(
    source.indexOf("export type DropReason"),
    source.indexOf("export interface DroppedItem"),
  );
  const reasons = [...union.matchAll(/\| "([a-z_]+)"/g)].map(([, reason]) => reason);
  assert.ok(reasons.length >= 15);
  for (const reason of reasons) assert.ok(TEXT.includes(`\`${reason}\``), `${reason} is missing`);
  return Promise.resolve();
});

Deno.test("docs/reasoning.md knows every reason and every switch: the flags and variables", async () => {
  await using place = new Place([]);
  const help = (await place.call(["run", "--help"])).stdout +
    (await place.call(["repair", "--help"])).stdout;
  for (
    const [flag] of TEXT.matchAll(
      /--(?:replay|accept-drift|lift-quarantine|verbose)/g,
    )
  ) {
    assert.ok(help.includes(flag), flag);
  }
});
