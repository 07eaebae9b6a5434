/** The command line of pages: where they are written, with which mode, and what is refused. Browsers are in tests/clients. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { assertError, begun, KEY, readsThenAnswers } from "./harness.ts";

const place = begun(readsThenAnswers, (place) => place.session("look"));
const FIXTURE = new URL("../../fixtures/demo/first", import.meta.url).pathname;

/** An image of one pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** The entries of a page, each as its HTML. */
const entriesOf = (html: string): string[] => html.match(/<article [^]*?<\/article>/g) ?? [];

test("show --html writes one page for its owner only, and says so on stderr", async () => {
  await using here = await place();
  const called = await here.call(["show", "look", "--html", "page.html"]);
  assert.equal(called.code, 0, called.stderr);
  assert.equal(called.stdout, "");
  assert.match(called.stderr, /^wrote the page of look: 5 turns, \d+ bytes\n$/);
  const path = `${here.sandbox.workspace}/page.html`;
  assert.equal((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
  const html = Deno.readTextFileSync(path);
  assert.match(html, /^<!doctype html>/);
  const entries = entriesOf(html);
  assert.deepEqual(entries.map((entry) => /<small>(\w+) · /.exec(entry)?.[1]), [
    ...["user", "model", "tools", "model", "reprise"],
  ]);
  const [, call = ""] = entries;
  assert.match(call, /→ read_file<\/b> \w[^]*← ok<\/p><pre[^]*alpha/);
  assert.match(call, /sent in turn 4</);
  assert.doesNotMatch(html, /prompt cache/, "no request is long enough to be cached");
  // The conversation begins below the title and two lines of facts.
  const [, head = ""] = /<main>([^]*?)<h2>/.exec(html) ?? [];
  assert.match(
    head,
    /^\n<p class="facts">5 turns in 1 run · .* tokens in, .*<\/p>\n<p class="facts">.*<\/p>\n$/,
  );
  assert.doesNotMatch(html, /<svg|no_following_item|tool_call|function_call/);
});

test("a page allows its own script and style only, and no address", async () => {
  await using here = await place();
  const { stdout } = await here.call(["show", "look", "--html", "-"]);
  const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(stdout) ?? [];
  assert.match(
    policy,
    /^default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-[\w+/=]+'; img-src data:; base-uri 'none'; form-action 'none'$/,
  );
  assert.doesNotMatch(stdout, /https?:\/\//);
});

test("an existing page is replaced with --force only, and nothing but a file ever is", async () => {
  await using here = await place();
  const path = `${here.sandbox.workspace}/page.html`;
  Deno.writeTextFileSync(path, "mine", { mode: 0o644 });
  const refused = await here.call(["show", "look", "--json", "--html", "page.html"]);
  assertError(refused, { code: "usage", exit: 2, says: /"page\.html": the file exists$/, hint: /--force/ });
  assert.equal(Deno.readTextFileSync(path), "mine");
  const forced = await here.call(["show", "look", "--json", "--html", "page.html", "--force"]);
  assert.equal(forced.code, 0, forced.stdout);
  const size = Deno.statSync(path).size;
  assert.deepEqual(JSON.parse(forced.stdout), {
    ...{ session: "look", file: "page.html", bytes: size, turns: 5 },
  });
  assert.equal((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
  const folder = await here.call(["show", "look", "--json", "--force", "--html", "."]);
  assertError(folder, { code: "usage", exit: 2, says: /not a regular file/ });
});

test("flags of pages are refused without a page, and stdout holds one document", async () => {
  await using here = await place();
  for (const args of [["show", "look"], ["fixture", "show", FIXTURE]]) {
    const called = await here.call([...args, "--json", "--force"]);
    assertError(called, { code: "usage", exit: 2, says: /--force without --html/ });
  }
  const both = await here.call(["show", "look", "--json", "--html", "-"]);
  assertError(both, { code: "usage", exit: 2, says: /stdout would hold two documents/ });
});

test("no secret is in what show makes of a redacted export", async () => {
  await using here = await place();
  const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
  const prompt = `Use ${secret} and ${KEY}`;
  const ran = await here.call(["run", "--json", "-s", "look", prompt]);
  assert.equal(ran.code, 0, ran.stdout);
  const open = await here.call(["show", "look", "--html", "-"]);
  assert.ok(open.stdout.includes(secret));
  const file = `${here.sandbox.workspace}/look.jsonl`;
  assert.equal((await here.call(["export", "look", file, "--redact"])).code, 0);
  for (const form of ["--html=-", "--no-pager", "--markdown", "--json", "--events"]) {
    const text = (await here.call(["show", file, form])).stdout;
    assert.ok(text.includes("Use ") && !text.includes(secret) && !text.includes(KEY), `${form}: ${text}`);
  }
});

test("an attached image is part of the page; one whose blob is lost, and any other file, is named", async () => {
  await using here = await place();
  const { workspace } = here.sandbox;
  const png = Uint8Array.from(atob(PNG), (letter) => letter.charCodeAt(0));
  Deno.writeFileSync(`${workspace}/a.png`, png);
  Deno.writeTextFileSync(`${workspace}/notes.txt`, "Some notes");
  const files = ["--attach", "a.png", "--attach", "notes.txt"];
  const ran = await here.call(["run", "--json", "-s", "look", ...files, "Look at these"]);
  assert.equal(ran.code, 0, ran.stdout);
  const page = async () => (await here.call(["show", "look", "--html", "-"])).stdout;
  const html = await page();
  assert.ok(html.includes(`<img src="data:image/png;base64,${PNG}" alt=""><figcaption>attached a.png`), html);
  assert.match(html, /<p class="note" id="seq-\d+">attached notes\.txt \(text\/plain, 10 bytes\)<\/p>/);
  const blobs = `${here.path("look")}/blobs`;
  for (const { name } of Deno.readDirSync(blobs)) Deno.removeSync(`${blobs}/${name}`);
  const lost = await page();
  assert.doesNotMatch(lost, /<img/);
  assert.match(lost, /<p class="note" id="seq-\d+">attached a\.png \(image\/png, \d+ bytes\)<\/p>/);
});

test("a damaged session has a page with what can be read, and exit code 12", async () => {
  await using here = await place();
  Deno.writeTextFileSync(here.turnPath("look", 2), "damage");
  const called = await here.call(["show", "look", "--html", "-"]);
  assert.equal(called.code, 12);
  assert.equal(entriesOf(called.stdout).length, 4);
  assert.match(called.stdout, /<p class="note bad">damaged: turns\/000002\.json/);
  assert.match(called.stderr, /damaged: turns\/000002\.json/);
});

test("fixture show --html writes a page of the exchanges, with calls beside the results sent later", async () => {
  await using here = await place();
  const called = await here.call(["fixture", "show", FIXTURE, "--html", "page.html", "--json"]);
  assert.equal(called.code, 0, called.stdout);
  const facts = JSON.parse(called.stdout);
  const html = Deno.readTextFileSync(`${here.sandbox.workspace}/page.html`);
  const entries = entriesOf(html);
  assert.deepEqual([facts.exchanges, entries.length], [4, 4]);
  const calls = html.match(/<b>→ /g)?.length ?? 0;
  assert.ok(calls >= 5);
  assert.equal(html.match(/← returned</g)?.length, calls);
  assert.doesNotMatch(html, /no result/);
  assert.match(html, /<pre class="diff" dir="auto">[^]*<ins>\+/);
  assert.match(entries[1] ?? "", /1 item as in exchange 1 <a href="#exchange-1">/);
});
