/** Pages in headless Chromium: they draw without errors, send no requests, and run no content. */
import assert from "node:assert/strict";
import { copyWorkspace, DEMO_PERMISSIONS, DEMO_PROMPTS } from "../../scripts/demo/scene.ts";
import { SessionHome } from "../doors/sessions/home.ts";
import { call, ended, message, model, reasoning, results, user } from "../doors/sessions/session_files.ts";
import { bytesBelow } from "../support/files.ts";
import { needing } from "../support/needs.ts";
import { browse, LACKS_CHROMIUM, type PagePlan, type SeenPage } from "./pages.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Pictures are kept in this folder, for people to look at. */
const PICTURES = Deno.env.get("REPRISE_PAGE_PICTURES");
const picture = (name: string) =>
  PICTURES === undefined ? [] : [{ picture: `${PICTURES}/${name}.png`, whole: name.endsWith("whole") }];

function test(promise: string, fn: (sandbox: SessionHome) => Promise<void>): void {
  Deno.test({
    ...needing(promise, LACKS_CHROMIUM),
    async fn() {
      await using sandbox = new SessionHome();
      await fn(sandbox);
    },
  });
}

/** Opens a page, and checks that it is quiet. */
async function quietly(plan: PagePlan): Promise<SeenPage> {
  const page = await browse(plan);
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.requests.filter((url) => !/^(file|data):/.test(url)), []);
  assert.equal(page.requests.filter((url) => url.startsWith("file:")).length, 1);
  return page;
}

async function pageOf(sandbox: SessionHome, ...args: readonly string[]): Promise<string> {
  const file = `${sandbox.directory}/page.html`;
  const called = await sandbox.call([...args, "--force", "--html", file]);
  assert.equal(called.code, 0, called.stderr);
  return file;
}

const TEXT = "document.querySelector('main').textContent";
const CURRENT = "document.querySelector(':target')?.closest('article')?.id ?? null";

test("the page of the demo shows both runs, the edit, its result and the fate of reasoning, light and dark", async (sandbox) => {
  await copyWorkspace(sandbox.workspace);
  for (const [index, fixture] of ["first", "second"].entries()) {
    const args = ["run", "-s", "demo", "--fixture", `${ROOT}fixtures/demo/${fixture}`, ...DEMO_PERMISSIONS];
    const ran = await sandbox.call([...args, ...(index === 0 ? ["--new"] : []), DEMO_PROMPTS[index] ?? ""]);
    assert.equal(ran.code, 0, ran.stderr);
  }
  const file = await pageOf(sandbox, "show", "demo");
  const { seen } = await quietly({
    file,
    steps: [
      ...picture("demo-light"),
      { press: "G" },
      { press: "g" },
      { see: TEXT },
      { see: "document.querySelector('article').getBoundingClientRect().top" },
      { see: "[...document.querySelectorAll('.diff ins')].map((line) => line.textContent).join('')" },
      { see: "getComputedStyle(document.body).backgroundColor" },
      { press: "t" },
      { see: "getComputedStyle(document.body).backgroundColor" },
      { hash: "#seq-3" },
      { see: CURRENT },
      { press: "j" },
      { see: CURRENT },
      { press: "]" },
      { see: CURRENT },
      { press: "k" },
      { see: CURRENT },
      { press: "?" },
      { see: "document.querySelector('dialog').open" },
      ...picture("demo-keys"),
    ],
  });
  const [text, top, added, light, dark, ...places] = seen;
  assert.ok(top > 0 && top < 250, `the conversation begins at ${top}`);
  assert.match(added, /^\+/);
  for (
    const part of ["Run 1", "Run 2", "edit_file", "sent in turns", "allowed: a rule allows it"]
  ) {
    assert.ok(text.includes(part), `${part} is missing`);
  }
  assert.notEqual(light, dark);
  const [linked, next, group, before, keys] = places;
  // The turn of the tools is a part of the card of its calls.
  assert.deepEqual([linked, next, keys], ["turn-2", "turn-4", true]);
  assert.equal(Number(group.slice(5)), Number(before.slice(5)) + 1);
  const narrow = await quietly({
    file,
    dark: true,
    width: 390,
    steps: [
      ...picture("demo-dark-narrow"),
      { see: "document.documentElement.scrollWidth" },
      { see: "document.querySelector('article').getBoundingClientRect().top < 400" },
      { hash: "#turn-6" },
      { see: CURRENT },
      { hash: "#turn-8" },
      { see: CURRENT },
    ],
  });
  assert.deepEqual(
    narrow.seen,
    [390, true, "turn-6", "turn-6"],
    "nothing is wider than the screen, the conversation begins in it, and links are followed, also to a part",
  );
});

test("2,000 turns are shown in a moment, and a link and a search lead to one of them", async (sandbox) => {
  // Each run has seven events; its call is the third.
  const turns = Array.from({ length: 500 }, (_, index) => index + 1).flatMap((run) => {
    const id = `call_${run}`;
    return [
      user(`Question ${run}: what is in the file?`, run),
      model([reasoning(`rs_${run}`, "g".repeat(800)), call(id)], run),
      results({ [id]: 7 * run - 4 }, run),
      model([message(`msg_${run}`, `Answer ${run}: **nothing** but \`line ${run}\`.`)], run),
    ];
  });
  const { path } = sandbox.session(turns, "s");
  const file = await pageOf(sandbox, "show", "s");
  const text = [...bytesBelow(`${path}/turns`).values()].reduce((sum, bytes) => sum + bytes.length, 0);
  const { size } = Deno.statSync(file);
  assert.ok(size < 1.5 * text, `${size} bytes of page for ${text} bytes of turns`);
  const { seen, first_view_ms } = await quietly({
    file,
    steps: [
      { see: "document.querySelectorAll('article').length" },
      ...picture("long"),
      { hash: "#turn-1800" },
      { see: `[${CURRENT}, Math.round(document.getElementById('turn-1800').getBoundingClientRect().top)]` },
      { press: "/" },
      { type: "answer 234:" },
      { press: "Enter" },
      {
        see:
          `[${CURRENT}, document.querySelector('output').value, CSS.highlights.get('hits').size, [...CSS.highlights.get('hit')][0].getBoundingClientRect().top >= document.querySelector('header').getBoundingClientRect().bottom]`,
      },
      ...picture("long-search"),
      { press: "Escape" },
      { press: "G" },
      { see: CURRENT },
    ],
  });
  const [all, [linked, top], found, last] = seen;
  // The results are parts of the cards of their calls.
  assert.equal(all, 1500);
  assert.ok(first_view_ms < 5000, `${first_view_ms} ms`);
  assert.equal(linked, "turn-1800");
  assert.ok(top >= 0 && top < 200, `at ${top}`);
  assert.deepEqual(found, ["turn-936", "1 of 1", 1, true]);
  assert.equal(last, "turn-2000");
});

const MARKUP = [
  "</script><script>window.ran = 1</script>",
  "<!--<script>",
  "<img src=x onerror='window.ran = 1'>",
  "<svg/onload=window.ran=1>",
  "[x](javascript:window.ran=1)",
  "![x](http://127.0.0.1:9/x.png)",
  "<style>*{display:none}</style><link rel=stylesheet href=http://127.0.0.1:9/x.css>",
  "<iframe srcdoc='<script>parent.ran = 1</script>'></iframe>",
  "'\"><b onclick=ran()>",
  "{{constructor.constructor('window.ran = 1')()}} ${window.ran = 1}",
  "\u202edesrever\u0000\u001b[31m \ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67 سلام",
].join("\n\n");

test("markup in any field of a session is inert, and is shown as text", async (sandbox) => {
  const [text, name] = [MARKUP, MARKUP.replace(/\n+/g, " ")];
  const harmful = (id: string, tool: string, args: string) => ({ ...call(id), name: tool, arguments: args });
  const error = { code: "unexpected", message: text };
  sandbox.session([
    user(text),
    model(
      [
        { ...reasoning("rs_1", text), summary: [{ type: "summary_text", text }] },
        { ...message("m", text), phase: name },
        harmful("c1", name, JSON.stringify({ [text]: text })),
        harmful("c2", "edit_file", JSON.stringify({ path: text, old_text: text, new_text: `${text}x` })),
        harmful("c3", "shell", text),
        { type: name, text, [name]: text },
      ],
      1,
      { model: { asked: "gpt-5.6", answered: name }, response: { id: "resp_1", status: name } },
    ),
    results({ c1: 4, c2: 5 }),
    {
      kind: "harness",
      events: [
        {
          ...{ type: "permission_decision", call_id: text, call_seq: 99, tool: text },
          ...{ decision: "denied", reason: name, rule: text },
        },
        { type: "replay_notice", reason: "unknown_field", items: [], error },
        { ...ended(1, "failed", 1).events[0], error },
      ],
    },
  ], "s");
  const file = await pageOf(sandbox, "show", "s");
  const { seen } = await quietly({
    file,
    steps: [
      { press: "j" },
      { press: "e" },
      { press: "j" },
      { press: "e" },
      { see: "window.ran ?? null" },
      {
        see:
          "document.querySelectorAll('script, style, img, iframe, svg.x, link, object, base, form').length",
      },
      {
        see:
          "[...document.querySelectorAll('*')].flatMap((e) => e.getAttributeNames()).filter((n) => n.startsWith('on')).length",
      },
      {
        see:
          "[...document.querySelectorAll('a')].filter((a) => !a.getAttribute('href').startsWith('#')).length",
      },
      { see: TEXT },
      { see: "document.documentElement.scrollWidth" },
      ...picture("hostile-whole"),
    ],
  });
  const [ran, elements, handlers, links, shown, width] = seen;
  assert.equal(ran, null);
  // Its own: script, style and icon.
  assert.deepEqual([elements, handlers, links], [3, 0, 0]);
  assert.ok(width <= 1280, `${width} pixels wide`);
  for (
    const part of [
      "\\u{202e}desrever␀␛[31m",
      "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
      "<img src=x onerror=",
      "javascript:window.ran=1",
      "</script><script>",
      "سلام",
    ]
  ) {
    assert.ok(shown.includes(part), `${part} is shown`);
  }
});

test("the page of a fixture shows its exchanges with their events", async (sandbox) => {
  const file = await pageOf(sandbox, "fixture", "show", `${ROOT}fixtures/demo/first`);
  const { seen } = await quietly({
    file,
    steps: [
      { see: TEXT },
      ...picture("fixture"),
      { press: "/" },
      { type: "response.completed" },
      { press: "Enter" },
      { see: "document.querySelectorAll('details[open]').length" },
    ],
  });
  assert.equal(seen[1], 1, "the search unfolds the part with the hit");
  for (const part of ["Exchange 1", "Exchange 4", "response.completed", "items as in exchange 3"]) {
    assert.ok(seen[0].includes(part), part);
  }
});
