/** `--attach`: files in a message, from the disk over the blob to the request, in both APIs. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { sha256Hex } from "../../src/domain/hash.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { KEYS, startAnyApi } from "./any_api.ts";
import { EXPECTED_BLOCKS, EXPECTED_PARTS, FILES, PDF, PNG } from "./attached_files.ts";
import { assertError, MODEL, ok, Place, readsThenAnswers } from "./harness.ts";

/** Writes the files into a directory of the workspace; returns the flags that attach these of them. */
function attaching(place: Place, names: readonly string[] = Object.keys(FILES)): string[] {
  const directory = `${place.sandbox.workspace}/in`;
  Deno.mkdirSync(directory, { recursive: true });
  for (const [name, bytes] of Object.entries(FILES)) Deno.writeFileSync(`${directory}/${name}`, bytes);
  return names.flatMap((name) => ["--attach", `in/${name}`]);
}

/** The content of the user's messages in the newest request. */
function contents(place: Place): (readonly JsonObject[])[] {
  const { input = [] } = place.server.requests.at(-1) ?? {};
  return input.filter(({ role }) => role === "user").map(({ content }) => content as readonly JsonObject[]);
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
  const twice = [...attaching(place, ["shot.png"]), "--attach", `${place.sandbox.workspace}/in/shot.png`];
  await ok(place, ["run", "--new", "-s", "s", ...twice, "Look"]);
  const [turn] = place.sandbox.turns("s");
  const sha256 = sha256Hex(PNG);
  const event = {
    type: "attachment",
    name: "shot.png",
    media_type: "image/png",
    blob: { sha256, bytes: PNG.length },
  };
  assert.deepEqual(turn.events, [
    { seq: 1, ...event },
    { seq: 2, ...event },
    { seq: 3, type: "user_message", content: [{ type: "input_text", text: "Look" }] },
  ]);
  const path = `${place.path("s")}/blobs/${sha256}`;
  assert.deepEqual(Deno.readFileSync(path), PNG);
  assert.equal((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
  assert.ok(!Deno.readTextFileSync(place.turnPath("s", 1)).includes("in/shot.png"));
  assert.match(await ok(place, ["show", "s"]), /attached shot\.png \(image\/png, \d+ bytes\)/);
  assert.match(await ok(place, ["fsck", "s"]), /ok|no findings|clean/i);
});

test.process("a file that cannot be attached is exit 2 before anything is written", async () => {
  await using place = new Place([]);
  const { workspace } = place.sandbox;
  Deno.writeFileSync(`${workspace}/program`, new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]));
  Deno.writeFileSync(`${workspace}/latin1.txt`, new Uint8Array([0x68, 0xe9]));
  Deno.writeTextFileSync(`${workspace}/empty`, "");
  Deno.writeTextFileSync(`${workspace}/blank`, " \n");
  new Deno.Command("mkfifo", { args: [`${workspace}/fifo`] }).outputSync();
  using large = Deno.openSync(`${workspace}/large.pdf`, { write: true, create: true });
  large.writeSync(PDF);
  large.truncateSync(50 * 1024 * 1024 + 1);
  const cases = [
    ["missing.png", /there is no such file/],
    [".", /a directory/],
    ["", /a directory/],
    ["fifo", /a FIFO/],
    ["empty", /it is empty/],
    ["blank", /only white space/],
    ["program", /neither an image, a PDF nor UTF-8 text/],
    ["latin1.txt", /neither an image, a PDF nor UTF-8 text/],
    ["large.pdf", /more than 52428800 bytes/],
  ] as const;
  for (const [path, says] of cases) {
    const called = await place.call(["run", "--json", "--attach", path, "Look"]);
    assertError(called, { code: "usage", exit: 2, says });
  }
  const called = await place.call(["run", "--json", ...attaching(place, ["shot.png"]), "-c"]);
  assert.equal(called.code, 2, called.stdout);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
  assert.equal(place.server.requests.length, 0);
});

test("attached files need a prompt: without one, a run is not continued and does not change", async () => {
  await using place = new Place(readsThenAnswers);
  const shot = attaching(place, ["shot.png"]);
  await place.call(["run", "--new", "-s", "s", "--max-steps", "1", "Look"]);
  const called = await place.call(["run", "--json", "-s", "s", ...shot]);
  assertError(called, { code: "usage", exit: 2, says: /no prompt to attach it to/, hint: /reprise run/ });
  const preview = await place.call(["run", "-s", "s", "--dry-run", "--body", "--json", ...shot]);
  assertError(preview, { code: "usage", exit: 2, says: /no prompt to attach it to/ });
});

test("--body and --dry-run show the request with attached files as run sends it, and keep nothing", async () => {
  await using place = new Place(readsThenAnswers);
  const files = attaching(place);
  const dry = JSON.parse(
    await ok(place, ["run", "--json", "--dry-run", "--new", "-s", "s", ...files, "Look"]),
  );
  const body = await ok(place, ["run", "--dry-run", "--body", "--new", "-s", "s", ...files, "Look"]);
  assert.equal(sha256Hex(body), dry.body_sha256);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
  await ok(place, ["run", "--new", "-s", "s", ...files, "Look"]);
  assert.equal(place.server.requests[0]?.text, body);
  const more = await ok(place, ["run", "--json", "--dry-run", "-s", "s", ...files, "More"]);
  assert.equal(JSON.parse(more).prefix.extends, true);
});

test("export and import carry attached files; gc removes none of them", async () => {
  await using place = new Place(readsThenAnswers);
  await ok(place, ["run", "--new", "-s", "s", ...attaching(place), "Look"]);
  await ok(place, ["rm", "--unused"], { TMPDIR: place.sandbox.directory });
  await ok(place, ["export", "s", "s.jsonl"]);
  await ok(place, ["rm", "s", "--yes"]);
  await ok(place, ["import", "s.jsonl"]);
  assert.match(await ok(place, ["fsck", "s", "--requests"]), /same/);
  await ok(place, ["run", "-s", "s", "And now?"]);
  assert.deepEqual(contents(place)[0], EXPECTED_PARTS);
});

test("export --redact replaces secrets in attached text, and does not change other files", async () => {
  await using place = new Place(readsThenAnswers);
  const files = attaching(place, ["shot.png"]);
  const secret = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
  Deno.writeTextFileSync(`${place.sandbox.workspace}/env.txt`, `TOKEN=${secret}\n`);
  await ok(place, ["run", "--new", "-s", "s", ...files, "--attach", "env.txt", "Look"]);
  await ok(place, ["export", "s", "s.jsonl", "--redact"]);
  assert.ok(!Deno.readTextFileSync(`${place.sandbox.workspace}/s.jsonl`).includes(secret));
  await ok(place, ["rm", "s", "--yes"]);
  await ok(place, ["import", "s.jsonl"]);
  await ok(place, ["run", "-s", "s", "And now?"]);
  const [image, file] = contents(place)[0] as readonly JsonObject[];
  assert.deepEqual(image, EXPECTED_PARTS[0]);
  const text = Buffer.from(String(file?.file_data).split(",")[1] ?? "", "base64").toString();
  assert.match(text, /^TOKEN=\[redacted [a-z_ -]+\]\n$/i);
});

test("a checkpoint names attached files instead of sending them; those of an open run stay", async () => {
  await using place = new Place(readsThenAnswers);
  const files = attaching(place);
  await ok(place, ["run", "--new", "-s", "s", ...files, "Look"]);
  const plan = JSON.parse(await ok(place, ["compact", "s", "--tail-events", "0", "--json"]));
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
  await ok(place, ["run", "--new", "-s", "s", ...attaching(place, ["shot.png", "notes.md"]), "Look"]);
  Deno.removeSync(`${place.path("s")}/blobs/${sha256Hex(PNG)}`);
  const found = await place.call(["fsck", "s", "--json"]);
  assert.equal(found.code, 12, found.stdout);
  assert.match(found.stdout, /missing_blob/);
  assertError(await place.call(["run", "--json", "-s", "s", "Go"]), { code: "session_damaged", exit: 12 });
  await ok(place, ["repair", "s"]);
  await ok(place, ["run", "-s", "s", "Go"]);
  const [lost, kept] = contents(place)[0] as readonly JsonObject[];
  assert.deepEqual(lost, { type: "input_text", text: '[The attached file "shot.png" (image/png) is lost]' });
  assert.equal(kept?.type, "input_file");
  const verdicts = await ok(place, ["fsck", "s", "--requests", "--json"]);
  assert.match(verdicts, /"repaired"/);
  assert.doesNotMatch(verdicts, /"differs"/);
});

test.process("a recorded run with attached files plays anywhere, with the same turns", async () => {
  await using place = new Place(readsThenAnswers);
  await ok(place, ["run", "--record", "rec", ...attaching(place), "--attach", "in/shot.png", "Look"]);
  assert.deepEqual(Deno.readFileSync(`${place.sandbox.workspace}/rec/attachments/1/shot.png`), PNG);
  Deno.renameSync(`${place.sandbox.workspace}/rec`, `${place.sandbox.directory}/moved`);
  Deno.removeSync(`${place.sandbox.workspace}/in`, { recursive: true });
  await ok(place, ["test", `${place.sandbox.directory}/moved`]);
});
