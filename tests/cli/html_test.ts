/** The command line of pages: where they are written, with which mode, and what is refused. Browsers are in tests/clients. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { bytesBelow } from "../support/files.ts";
import { Sandbox } from "../support/reprise.ts";
import { assertError, begun, json, ok, readsThenAnswers } from "./harness.ts";

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
  assert.deepEqual([called.code, called.stdout], [0, ""]);
  assert.match(called.stderr, /^wrote the page of look: 5 turns, \d+ bytes\n$/);
  const path = `${here.sandbox.workspace}/page.html`;
  assert.equal((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
  const html = Deno.readTextFileSync(path);
  assert.match(html, /^<!doctype html>/);
  const entries = entriesOf(html);
  assert.deepEqual(entries.map((entry) => /<small>(\w+) · /.exec(entry)?.[1]), [
    ...["user", "model", "model", "reprise"],
  ]);
  assert.doesNotMatch(html, />(?:Prompt|Model)</);
  // The turn of the tools is a line in the card of the calls.
  assert.match(
    entries[1] ?? "",
    /sent in turn 4 · seq 2<[^]*→ read_file<\/b> <code>a\.txt<\/code> · seq 3<[^]*← ok · seq 5<\/p><pre[^]*alpha[^]*with <span id="turn-3"><a href="#turn-3">Turn 3<\/a> <small>tools · /,
  );
  // The conversation begins below the title and two lines of facts.
  const [, head = ""] = /<main>([^]*?)<h2>/.exec(html) ?? [];
  const facts = /^\n<p class="facts">5 turns in 1 run · .* tokens in, .*<\/p>\n<p class="facts">.*<\/p>\n$/;
  assert.match(head, facts);
  assert.doesNotMatch(html, /prompt cache|<svg|no_following_item|tool_call|function_call/);
});

test("an existing page is replaced with --force only, nothing but a file ever is, and stdout holds one document", async () => {
  await using here = await place();
  const path = `${here.sandbox.workspace}/page.html`;
  Deno.writeTextFileSync(path, "mine", { mode: 0o644 });
  const page = ["show", "look", "--json", "--html"];
  for (
    const [args, says] of [
      [[...page, "page.html"], /"page\.html": the file exists$/],
      [[...page, ".", "--force"], /not a regular file/],
      [[...page, "-"], /stdout would hold two documents/],
      [["fixture", "show", FIXTURE, "--json", "--force"], /--force without --html/],
    ] as const
  ) assertError(await here.call(args), { code: "usage", exit: 2, says });
  assert.equal(Deno.readTextFileSync(path), "mine");
  const report = await json(here, ["show", "look", "--html", "page.html", "--force"]);
  const { size, mode } = Deno.statSync(path);
  assert.deepEqual(report, { session: "look", file: "page.html", bytes: size, turns: 5 });
  assert.equal((mode ?? 0) & 0o777, 0o600);
});

test("an attached image is part of the page; one whose blob is lost, and any other file, is named", async () => {
  await using here = await place();
  const { workspace } = here.sandbox;
  Deno.writeFileSync(`${workspace}/a.png`, Uint8Array.from(atob(PNG), (letter) => letter.charCodeAt(0)));
  Deno.writeTextFileSync(`${workspace}/notes.txt`, "Some notes");
  await ok(here, ["run", "-s", "look", "--attach", "a.png", "--attach", "notes.txt", "Look at these"]);
  const page = () => ok(here, ["show", "look", "--html", "-"]);
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
  const { exchanges } = await json(here, ["fixture", "show", FIXTURE, "--html", "page.html"]);
  const html = Deno.readTextFileSync(`${here.sandbox.workspace}/page.html`);
  const entries = entriesOf(html);
  assert.deepEqual([exchanges, entries.length], [4, 4]);
  const calls = html.match(/<b>→ /g)?.length ?? 0;
  assert.ok(calls >= 5);
  assert.equal(html.match(/← returned</g)?.length, calls);
  assert.match(html, /<pre class="diff" dir="auto">[^]*<ins>\+/);
  assert.match(entries[1] ?? "", /1 item as in exchange 1 <a href="#exchange-1">/);
});

function writeAll(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [name, bytes] of files) {
    Deno.mkdirSync(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeFileSync(`${folder}/${name}`, bytes);
  }
}

test("fixture show of a folder lists its recordings, and --html writes pages that lead to each other", async () => {
  await using sandbox = new Sandbox();
  const { workspace } = sandbox;
  for (const name of ["a", "b/c", "b+c", "broken"]) writeAll(`${workspace}/f/${name}`, bytesBelow(FIXTURE));
  const [exchange] = [...Deno.readDirSync(`${workspace}/f/broken/exchanges`)];
  Deno.writeTextFileSync(`${workspace}/f/broken/exchanges/${exchange?.name}/request.json`, "{");
  const list = await sandbox.call(["fixture", "show", "f"]);
  assert.deepEqual(list, await sandbox.call(["fixture", "ls", "f"]));
  assert.match(list.stdout, /^f\/a +openai[^]*^f\/b\/c +openai/m);

  const { code, stderr } = await sandbox.call(["fixture", "show", "f", "--html", "all.html"]);
  assert.deepEqual([code, stderr], [0, "wrote all.html and 3 pages in all.pages\n"]);
  const [index, ...pages] = ["all.html", "all.pages/a.html", "all.pages/b+c.html", "all.pages/b+c-2.html"]
    .map((path) => Deno.readTextFileSync(`${workspace}/${path}`));
  const links = (html = "") => Array.from(html.matchAll(/<a href="([^"#]+)">/g), ([, path]) => path);
  assert.deepEqual(links(index), ["a", "b%2Bc", "b%2Bc-2"].map((name) => `all.pages/${name}.html`));
  assert.match(index ?? "", /<td>broken<\/td><td>unreadable/);
  const others = pages.map((page) =>
    links(page).map((path = "") => path.replace(/^\.\.\/all\.html$/, "index"))
  );
  assert.deepEqual(others, [
    ["index", "b%2Bc.html"],
    ["index", "a.html", "b%2Bc-2.html"],
    ["index", "b%2Bc.html"],
  ]);
  for (
    const [flags, says] of [
      [["--html", "all.html"], /the file exists$/],
      [["--html", "-"], /several pages to stdout/],
      [["--exchange", "1"], /holds several fixtures/],
    ] as const
  ) {
    assertError(await sandbox.call(["fixture", "show", "f", ...flags, "--json"]), {
      code: "usage",
      exit: 2,
      says,
    });
  }
  const again = await sandbox.call(["fixture", "show", "f", "--html", "all.html", "--force", "--json"]);
  const { path, file, exchanges } = JSON.parse(again.stdout);
  assert.deepEqual([path, file, exchanges], ["f", "all.html", 12]);
});

test("fixture show of a folder writes no page unless it can write all, whatever the length of names", async () => {
  await using sandbox = new Sandbox();
  const { workspace } = sandbox;
  const long = Array(4).fill("ü".repeat(60)).join("/");
  for (const name of ["a", "b", `${long}/1`, `${long}/2`]) {
    writeAll(`${workspace}/f/${name}`, bytesBelow(FIXTURE));
  }
  const page = (file: string) => sandbox.call(["fixture", "show", "f", "--html", file, "--json"]);
  // The page of the last recording is taken.
  Deno.mkdirSync(`${workspace}/all.pages`);
  Deno.writeTextFileSync(`${workspace}/all.pages/b.html`, "mine");
  assertError(await page("all.html"), {
    code: "usage",
    exit: 2,
    says: /all\.pages\/b\.html": the file exists/,
  });
  assert.deepEqual([...bytesBelow(`${workspace}/all.pages`).keys()], ["b.html"]);
  Deno.writeTextFileSync(`${workspace}/other.pages`, "mine");
  assertError(await page("other.html"), { code: "usage", exit: 2, says: /"other\.pages": it is no folder/ });
  assert.equal(Deno.readTextFileSync(`${workspace}/other.pages`), "mine");
  assert.equal((await page("new.html")).code, 0);
  const pages = [...bytesBelow(`${workspace}/new.pages`).keys()];
  assert.equal(pages.length, 4);
  for (const name of pages) assert.ok(new TextEncoder().encode(name).length <= 215, name);
  assertError(await page(`${"x".repeat(300)}.html`), {
    code: "storage_failed",
    exit: 14,
    says: /name too long/i,
  });
});
