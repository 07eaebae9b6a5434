/** Bytes of a request: each item with the members that every server takes, in its own order. */
import assert from "node:assert/strict";
import { startResponsesServer } from "../../support/scripted_api/responses.ts";
import { answer, message as saying, reasoning } from "../../support/scripted_api/responses_script.ts";
import { test } from "../../support/test.ts";
import { ID, withHome } from "../sessions/home.ts";
import { KEYS, nextRequest } from "./next_request.ts";
import { READ } from "./refusals.ts";
import { Runs } from "./runs.ts";
import { asks, ends, gets, says, tell } from "./story.ts";

const LONE = "\ud83d";
const call = { type: "function_call", name: "read_file", arguments: "{}" };
const custom = { type: "custom_tool_call", name: "sql", input: "SELECT 1", call_id: "c4" };
const text = (text: string) => [{ type: "output_text", annotations: [], text }];

/** Items of responses, each with the text of what a request holds of it. */
const ITEMS: readonly (readonly [item: Readonly<Record<string, unknown>>, sent: string])[] = [
  [
    {
      ...{ id: "rs_1", type: "reasoning", summary: [], encrypted_content: `g${LONE}` },
      ...{ content: [], status: null },
    },
    `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"g\\ud83d"}`,
  ],
  [
    {
      ...{ id: "msg_1", type: "message", status: "completed", content: text(`Hi${LONE}`) },
      ...{ phase: "commentary", role: "assistant" },
    },
    '{"id":"msg_1","type":"message","content":[{"type":"output_text","annotations":[],"text":"Hi\ufffd"}],' +
    '"phase":"commentary","role":"assistant"}',
  ],
  [
    { id: "msg_2", type: "message", role: "assistant", content: text("C:\\udata\\ud83d"), phase: null },
    '{"type":"message","role":"assistant",' +
    '"content":[{"type":"output_text","annotations":[],"text":"C:\\\\udata\\\\ud83d"}]}',
  ],
  [
    { id: "fc_1", status: "completed", ...call, call_id: "c1", namespace: "files" },
    '{"type":"function_call","name":"read_file","arguments":"{}","call_id":"c1","namespace":"files"}',
  ],
  [
    { call_id: "c2", type: "function_call", name: "functions.ls" },
    '{"call_id":"c2","type":"function_call","name":"functions_ls","arguments":"{}"}',
  ],
  [
    { ...call, call_id: "c3", arguments: { a: 1 } },
    '{"type":"function_call","name":"read_file","arguments":"{\\"a\\":1}","call_id":"c3"}',
  ],
  [
    { ...custom, id: "ctc_1", status: "completed" },
    '{"type":"custom_tool_call","name":"sql","input":"SELECT 1","call_id":"c4"}',
  ],
  [
    { id: "ws_1", type: "web_search_call", status: "completed", created_by: "x", action: { query: "q" } },
    '{"id":"ws_1","type":"web_search_call","status":"completed","action":{"query":"q"}}',
  ],
  [
    { type: "compaction", id: "cmp_1", status: "completed", encrypted_content: "g", created_by: "x" },
    '{"type":"compaction","id":"cmp_1","encrypted_content":"g"}',
  ],
  [
    { type: "new_call", zebra: 1.5, alpha: [null] },
    '{"type":"new_call","zebra":1.5,"alpha":[null]}',
  ],
];
const OUTPUTS = [
  ...["c1", "c2", "c3"].map((id) => `{"type":"function_call_output","call_id":"${id}","output":"got ${id}"}`),
  '{"type":"custom_tool_call_output","call_id":"c4","output":"got c4"}',
];

withHome("the bytes of a whole request are fixed", async (home) => {
  home.session(tell(asks("Go"), says(ITEMS.map(([item]) => item)), gets("c1", "c2", "c3", "c4"), ends()));
  Deno.writeTextFileSync(`${home.workspace}/schema.json`, '{"type":"object"}');
  const options = ["--effort", "medium", "--summary", "auto", "--max-tokens", "4096"];
  const flags = [...options, "--instructions", `Be${LONE} brief.`, "--output-schema", "schema.json"];
  const whole = await nextRequest(home, ["-m", "gpt-5.6", ...flags, "On"], { isJudged: false });
  const prompt = (text: string) =>
    `{"type":"message","role":"user","content":[{"type":"input_text","text":"${text}"}]}`;
  const input = [prompt("Go"), ...ITEMS.map(([, sent]) => sent), ...OUTPUTS, prompt("On")];
  const body = whole.replace(/"tools":\[.*\],"max_/, '"tools":[],"max_');
  assert.equal(
    body,
    '{"model":"gpt-5.6","store":false,"stream":true,"include":["reasoning.encrypted_content"],' +
      `"stream_options":{"include_obfuscation":false},"prompt_cache_key":"${ID}",` +
      '"instructions":"Be\ufffd brief.","reasoning":{"effort":"medium","summary":"auto"},' +
      '"tools":[],"max_output_tokens":4096,' +
      '"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object"},"strict":true}},' +
      `"input":[${input.join(",")}]}`,
  );
});

/** Flags of a next request, and the item of the first difference; `null`: before the history. */
const CHANGES: readonly (readonly [flags: readonly string[], item: number | null | "extends"])[] = [
  [[], "extends"],
  [["--max-tokens", "9000"], "extends"],
  [["-m", "gpt-5.5"], null],
  [["--instructions", "Prüfe 🙂 alles"], null],
  [["--replay", "none"], 1],
  [["--replay", "last:1"], 1],
];

test.long("the input of a request is a byte prefix of the next one's, and the report names the first difference", async () => {
  const server = startResponsesServer({
    rules: "none",
    script: ({ number }) =>
      answer([reasoning("Ü 😀"), saying("Done: ü 😀."), ...(number % 3 === 0 ? [] : [READ])]),
  });
  await using runs = new Runs(server, ["-m", "gpt-5.6", "--instructions", "Prüfe 😀 alles"]);
  for (const prompt of ["Üben", "Once more 😀"]) await runs.run({ prompt });
  assert.equal(server.requests.length, 6);
  for (const [index, { text, headers }] of server.requests.entries()) {
    const before = server.requests[index - 1]?.text.slice(0, -2) ?? "";
    assert.ok(text.startsWith(before) && text.endsWith("]}"), `request ${index + 1}`);
    assert.deepEqual([headers["content-type"], headers.accept], ["application/json", "text/event-stream"]);
    assert.match(String(headers["user-agent"]), /^reprise\/\d/);
  }
  const bytes = (text = "") => new TextEncoder().encode(text);
  const last = bytes(server.requests.at(-1)?.text);
  for (const [flags, item] of CHANGES) {
    const to = ["--base-url", server.baseUrl, "-m", "gpt-5.6", ...flags, "Go on"];
    const planned = await runs.call(["run", "--dry-run", "--json", "-s", ID, ...to], { env: KEYS });
    const { prefix } = JSON.parse(planned.stdout);
    const next = bytes(await nextRequest(runs, to));
    const byte = last.findIndex((value, index) => value !== next[index]);
    assert.deepEqual(
      prefix,
      item === "extends" ? { extends: true } : { extends: false, item, byte },
      `${flags}`,
    );
  }
});

/** Ends of a killed run, with flags of the run that continues it, and whether that run gives the answer on disk. */
const CONTINUED: readonly (readonly [text: string, flags: readonly string[], isAnswered: boolean])[] = [
  ["Whole.", [], true],
  ["{}", ["--output-schema", "schema.json"], true],
  ["Whole.", ["--output-schema", "schema.json"], false],
  ["", [], false],
];

for (const [text, flags, isAnswered] of CONTINUED) {
  const called = `"${text}" ${flags.length === 0 ? "" : "under a schema"}`;
  withHome(
    `--dry-run of a continued run sends nothing if the run gives the answer on disk: ${called}`,
    async (home) => {
      home.session(tell(asks("Go"), says([`msg_1: ${text}`])));
      Deno.writeTextFileSync(`${home.workspace}/schema.json`, '{"type":"object"}');
      const run = ["run", "-s", ID, "-m", "gpt-5.6", "--dry-run", ...flags];
      const { answered, changes } = JSON.parse((await home.call([...run, "--json"], { env: KEYS })).stdout);
      const actions = changes.map(({ action }: { action: string }) => action);
      assert.deepEqual(
        [answered, actions],
        isAnswered ? [true, ["append"]] : [undefined, ["append", "send"]],
      );
      const { stdout } = await home.call(run, { env: KEYS });
      assert.match(stdout, isAnswered ? /^Would send nothing: / : /^Would send 2 items/);
    },
  );
}
