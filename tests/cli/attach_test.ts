/** `--attach`: files in a message, from the disk over the blob to the request, in both APIs. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type Json, sha256 } from "../support/files.ts";
import { KEYS, startAnyApi } from "./any_api.ts";
import { EXPECTED_BLOCKS, EXPECTED_PARTS, FILES, PDF, PNG } from "./attached_files.ts";
import { assertError, json, MODEL, ok, Place, readsThenAnswers } from "./harness.ts";

/** Writes the files into a directory of the workspace; returns the flags that attach these of them. */
function attaching(place: Place, ...names: readonly string[]): string[] {
  const directory = `${place.sandbox.workspace}/in`;
  Deno.mkdirSync(directory, { recursive: true });
  for (const [name, bytes] of Object.entries(FILES)) Deno.writeFileSync(`${directory}/${name}`, bytes);
  return (names.length === 0 ? Object.keys(FILES) : names).flatMap((name) => ["--attach", `in/${name}`]);
}

/** The content of the user's messages in the newest request. */
function contents(place: Place): Json[][] {
  const { input = [] } = place.server.requests.at(-1) ?? {};
  return input.filter(({ role }) => role === "user").map(({ content }) => content as Json[]);
}

test("attached files reach the model byte for byte, in the shapes of both SDKs, and again from the session", async () => {
  await using place = new Place([]);
  await using api = startAnyApi();
  const run = async (provider: string, base: string, args: readonly string[]) => {
    const flags = ["--json", "-m", MODEL, "-p", provider, "--base-url", `${api.origin}${base}`];
    await ok(place, ["run", ...flags, ...args], KEYS);
    return JSON.parse(api.arrived.at(-1)?.body ?? "");
  };
  const { input } = await run("openai", "/v1", ["--new", "-s", "s", ...attaching(place), "Look"]);
  assert.deepEqual(input[0].content, EXPECTED_PARTS);
  Deno.removeSync(`${place.sandbox.workspace}/in`, { recursive: true });
  const { messages } = await run("anthropic", "", ["-s", "s", "And now?"]);
  assert.deepEqual(messages[0].content, EXPECTED_BLOCKS);
  const again = await run("openai", "/v1", ["-s", "s", "Once more"]);
  assert.deepEqual(again.input[0].content, EXPECTED_PARTS);
  assert.match(await ok(place, ["fsck", "s", "--requests"]), /same/);
});

test("a turn keeps an attached file's name, type and hash, and no path; its bytes are one blob", async () => {
  await using place = new Place(readsThenAnswers);
  const twice = [...attaching(place, "shot.png"), "--attach", `${place.sandbox.workspace}/in/shot.png`];
  await ok(place, ["run", "--new", "-s", "s", ...twice, "Look"]);
  const blob = { sha256: sha256(PNG), bytes: PNG.length };
  const event = { type: "attachment", name: "shot.png", media_type: "image/png", blob };
  assert.deepEqual(place.sandbox.turns("s")[0].events, [
    { seq: 1, ...event },
    { seq: 2, ...event },
    { seq: 3, type: "user_message", content: [{ type: "input_text", text: "Look" }] },
  ]);
  const path = `${place.path("s")}/blobs/${blob.sha256}`;
  assert.deepEqual(Deno.readFileSync(path), PNG);
  assert.equal((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
});

test.process("a file that cannot be attached, or has no prompt, is exit 2 before anything is written", async () => {
  await using place = new Place([]);
  const { workspace } = place.sandbox;
  Deno.writeFileSync(`${workspace}/program`, new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]));
  Deno.writeTextFileSync(`${workspace}/empty`, "");
  Deno.writeTextFileSync(`${workspace}/blank`, " \n");
  new Deno.Command("mkfifo", { args: [`${workspace}/fifo`] }).outputSync();
  using large = Deno.openSync(`${workspace}/large.pdf`, { write: true, create: true });
  large.writeSync(PDF);
  large.truncateSync(50 * 1024 * 1024 + 1);
  const cases = [
    ["missing.png", /there is no such file/],
    [".", /a directory/],
    ["fifo", /a FIFO/],
    ["empty", /it is empty/],
    ["blank", /only white space/],
    ["program", /neither an image, a PDF nor UTF-8 text/],
    ["large.pdf", /more than 52428800 bytes/],
  ] as const;
  for (const [path, says] of cases) {
    const called = await place.call(["run", "--json", "--attach", path, "Look"]);
    assertError(called, { code: "usage", exit: 2, says });
  }
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
  const shot = attaching(place, "shot.png");
  assert.equal((await place.call(["run", "--new", "-s", "s", "--max-steps", "1", "Look"])).code, 13);
  for (const flags of [[], ["--dry-run", "--body"]]) {
    const called = await place.call(["run", "--json", "-s", "s", ...flags, ...shot]);
    assertError(called, { code: "usage", exit: 2, says: /no prompt to attach it to/, hint: /reprise run/ });
  }
});

test("an export carries attached files; --redact replaces secrets in attached text alone", async () => {
  await using place = new Place(readsThenAnswers);
  const secret = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
  Deno.writeTextFileSync(`${place.sandbox.workspace}/env.txt`, `TOKEN=${secret}\n`);
  const files = [...attaching(place), "--attach", "env.txt"];
  await ok(place, ["run", "--new", "-s", "s", ...files, "Look"]);
  await ok(place, ["export", "s", "s.jsonl", "--redact"]);
  assert.ok(!Deno.readTextFileSync(`${place.sandbox.workspace}/s.jsonl`).includes(secret));
  await ok(place, ["rm", "s", "--yes"]);
  await ok(place, ["import", "s.jsonl"]);
  await ok(place, ["run", "-s", "s", "And now?"]);
  const parts = contents(place)[0] ?? [];
  const [file] = parts.splice(-2, 1);
  assert.deepEqual(parts, EXPECTED_PARTS);
  const text = Buffer.from(file.file_data.split(",")[1], "base64").toString();
  assert.match(text, /^TOKEN=\[redacted [a-z_ -]+\]\n$/i);
});

test("a checkpoint names attached files instead of sending them; those of an open run stay", async () => {
  await using place = new Place(readsThenAnswers);
  const files = attaching(place);
  await ok(place, ["run", "--new", "-s", "s", ...files, "Look"]);
  const plan = await json(place, ["compact", "s", "--tail-events", "0"]);
  assert.ok(plan.before.bytes > plan.after.bytes + PNG.length);
  assert.match(plan.summary, /shot\.png.*image\/png/);
  await ok(place, ["run", "-s", "s", "And now?"]);
  assert.ok(!place.server.requests.at(-1)?.text.includes("data:"));
  await ok(place, ["compact", "s", "--undo"]);
  assert.equal((await place.call(["run", "-s", "s", "--max-steps", "1", ...files, "More"])).code, 4);
  await ok(place, ["compact", "s", "--tail-events", "2"]);
  await ok(place, ["run", "-s", "s"]);
  const open = contents(place).find((parts) => parts.at(-1)?.text === "More");
  assert.deepEqual(open?.slice(0, -1), EXPECTED_PARTS.slice(0, -1));
});

test("a lost attached file is damage; after repair, requests say that it is lost", async () => {
  await using place = new Place(readsThenAnswers);
  await ok(place, ["run", "--new", "-s", "s", ...attaching(place, "shot.png", "notes.md"), "Look"]);
  Deno.removeSync(`${place.path("s")}/blobs/${sha256(PNG)}`);
  assertError(await place.call(["run", "--json", "-s", "s", "Go"]), { code: "session_damaged", exit: 12 });
  await ok(place, ["repair", "s"]);
  await ok(place, ["run", "-s", "s", "Go"]);
  const [lost, kept] = contents(place)[0] ?? [];
  assert.deepEqual(lost, { type: "input_text", text: '[The attached file "shot.png" (image/png) is lost]' });
  assert.equal(kept.type, "input_file");
  const verdicts = await ok(place, ["fsck", "s", "--requests", "--json"]);
  assert.match(verdicts, /^(?!.*"differs").*"repaired"/s);
});

test.process("a recorded run with attached files plays anywhere, with the same turns", async () => {
  await using place = new Place(readsThenAnswers);
  const { workspace, directory } = place.sandbox;
  await ok(place, ["run", "--record", "rec", ...attaching(place), "--attach", "in/shot.png", "Look"]);
  assert.deepEqual(Deno.readFileSync(`${workspace}/rec/attachments/1/shot.png`), PNG);
  Deno.renameSync(`${workspace}/rec`, `${directory}/moved`);
  Deno.removeSync(`${workspace}/in`, { recursive: true });
  await ok(place, ["test", `${directory}/moved`]);
});
