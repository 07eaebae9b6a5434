/** Answers as they were recorded: bytes, headers, times, ends, and what the server reports of them. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";
import { askRaw } from "./raw_http.ts";
import { exchangeOf, rows, sent, Served } from "./served.ts";
import { ask, called, responseStream, talk, user } from "./shapes.ts";

/** Bytes that nothing may touch: odd framing, a NUL, half a character, no end of line. */
const ODD = new Uint8Array([
  ...new TextEncoder().encode("event: a\r\ndata:  {}\r\r\n\n: \u2028"),
  ...[0, 0xc3, 0xff, 0x0a, 0x0d, 0x80],
]);

withHome(
  "status, kept headers and the exact bytes go out; headers that only framed the recording do not",
  async (home) => {
    const headers = { "content-type": "application/json", "retry-after": "7", "x-request-id": "req_1" };
    const framing = { "content-encoding": "br", "content-length": "3", "transfer-encoding": "chunked" };
    const response = { status: 429, headers: { ...headers, ...framing } };
    home.fixture("a", [exchangeOf(sent(ask("Hi"), { answer: ODD, response }))]);
    await using server = await Served.start(home, ["a"], { cwd: home.directory });
    const answer = await server.ask(ask("Hi"));
    assert.deepEqual([answer.status, answer.bytes], [429, ODD]);
    const expected = {
      ...headers,
      "retry-after": "0",
      "content-encoding": null,
      "content-length": `${ODD.length}`,
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(answer.headers.get(name), value, name);
    const event = {
      type: "played",
      request: 1,
      method: "POST",
      path: "/v1/responses",
      status: 429,
      fixture: "a",
    };
    assert.deepEqual(
      { ...answer.events[0], ...event, number: 1, tier: "exact", hurried: true },
      answer.events[0],
    );
  },
);

const DATE = "Fri, 27 Nov 2026 12:00:00 GMT";
const FAULT = ["--fault", "429 retry-after 2"];
/** Flags, the two waits of an answer that was recorded with both, and how many answers had theirs set to 0. */
const WAITS: readonly (readonly [flags: readonly string[], waits: string, hurried: number])[] = [
  [[], "0 0", 1],
  [["--pace", "real"], `${DATE} 2000`, 0],
  [FAULT, "2 null", 0],
  [["--pace", "real", ...FAULT], "2 null", 0],
];
withHome(
  "a recorded wait is 0 unless --pace real keeps it, and one that a fault asks for stays",
  async (home) => {
    const response = { status: 429, headers: { "retry-after": DATE, "retry-after-ms": "2000" } };
    home.fixture("a", [exchangeOf(sent(ask("Hi"), { response }))]);
    for (const [flags, waits, hurried] of WAITS) {
      await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
      const { headers } = await server.ask(ask("Hi"));
      assert.equal(`${headers.get("retry-after")} ${headers.get("retry-after-ms")}`, waits, flags.join(" "));
      assert.equal((await server.end()).hurried ?? 0, hurried, flags.join(" "));
    }
  },
);

const CHUNKS = ["one", "two", "three"].map((text) => `data: ${text}\n\n`);
const timed = (times: readonly number[], ended = "complete") =>
  sent(ask("Hi"), {
    answer: CHUNKS.join(""),
    response: {
      ended,
      headers: { "content-type": "text/event-stream" },
      chunks: times.map((ms, index) => [CHUNKS.slice(0, index).join("").length, ms]),
    },
  });

/** Texts of an answer as they arrive, each with its time in milliseconds; the last is how it ended. */
async function arrivals(origin: string): Promise<(readonly [text: string, at: number])[]> {
  const began = performance.now();
  const found: [string, number][] = [];
  const answer = await fetch(`${origin}/v1/responses`, { method: "POST", body: JSON.stringify(ask("Hi")) });
  found.push(["headers", performance.now() - began]);
  try {
    for await (const bytes of answer.body ?? []) {
      found.push([new TextDecoder().decode(bytes), performance.now() - began]);
    }
    return [...found, ["complete", 0]];
  } catch {
    return [...found, ["broken off", 0]];
  }
}

for (const [pace, factor] of [["real", 1], ["2", 2], ["0.5", 0.5]] as const) {
  withHome(
    `at pace ${pace} chunks come at their recorded times, one by one, and a cut answer breaks off`,
    async (home) => {
      home.fixture(
        "a",
        ["complete", "cut", "closed"].map((ended) => exchangeOf(timed([60, 160, 260], ended))),
      );
      await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--pace", pace] });
      for (const end of ["complete", "broken off", "broken off"]) {
        const found = await arrivals(server.origin);
        assert.deepEqual(found.map(([text]) => text), ["headers", ...CHUNKS, end]);
        for (const [index, due] of [60, 60, 160, 260].entries()) {
          const [what, at] = found[index] as readonly [string, number];
          assert.ok(at >= due / factor - 5, `${what} came after ${at} ms, before ${due / factor}`);
        }
      }
    },
    test.long,
  );
}

/** Bodies of event streams, and the offsets of their recorded pieces. */
const PIECES: Readonly<Record<string, readonly [body: string, offsets: readonly number[]]>> = {
  "of one event each": [CHUNKS.join(""), [0, 11, 22]],
  "that cut events, and bytes of a letter": ["data: Grüße\n\ndata: x\n\n", [0, 1, 9, 10]],
  "longer than one write": [`data: ${"x".repeat(300_000)}\n\n`, [0, 7, 200_000, 200_001]],
  "unknown": [CHUNKS.join(""), []],
};
withHome("at once, each recorded piece is a chunk of HTTP of its own", async (home) => {
  home.fixture(
    "a",
    Object.values(PIECES).map(([answer, offsets], index) => {
      const headers = { "content-type": "text/event-stream" };
      const response = { headers, chunks: offsets.map((offset) => [offset, 60_000]) };
      return exchangeOf(sent(ask(`Hi ${index}`), { answer, response }));
    }),
  );
  await using server = await Served.start(home, ["a"], { cwd: home.directory });
  for (const [index, [name, [body, offsets]]] of Object.entries(PIECES).entries()) {
    const request = JSON.stringify(ask(`Hi ${index}`));
    const head = `POST /v1/responses HTTP/1.1\nhost: 127.0.0.1:PORT\ncontent-length: ${request.length}\n\n`;
    const { text } = await askRaw(
      Number(new URL(server.origin).port),
      head,
      new TextEncoder().encode(request),
    );
    const bytes = Buffer.from(body);
    const ends = [...new Set([...offsets, bytes.length])].filter((offset) => offset > 0);
    const pieces = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end).toString("latin1"));
    assert.deepEqual(chunksIn(text.slice(text.indexOf("\r\n\r\n") + 4)), pieces, name);
  }
});

/** Chunks of a body in chunks, without the last, empty one. */
function chunksIn(text: string): string[] {
  const found: string[] = [];
  for (let at = 0;;) {
    const line = text.indexOf("\r\n", at);
    const length = Number.parseInt(text.slice(at, line), 16);
    if (length === 0) return found;
    found.push(text.slice(line + 2, line + 2 + length));
    assert.equal(text.slice(line + 2 + length, line + 4 + length), "\r\n");
    at = line + 4 + length;
  }
}

withHome(
  "at once, an answer that was cut breaks off after its last byte; a stop ends answers that wait",
  async (home) => {
    home.fixture("a", [exchangeOf(timed([0, 400, 800], "cut"))]);
    home.fixture("b", [exchangeOf(timed([0, 60_000, 60_000]))]);
    await using server = await Served.start(home, ["a"], { cwd: home.directory });
    const found = await arrivals(server.origin);
    assert.equal(found.slice(1).map(([text]) => text).join(""), `${CHUNKS.join("")}broken off`);
    await using slow = await Served.start(home, ["b"], { cwd: home.directory, flags: ["--pace", "real"] });
    const waiting = arrivals(slow.origin);
    while (slow.events.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    const began = performance.now();
    assert.equal((await slow.end()).code, 0);
    assert.ok(performance.now() - began < 10_000);
    assert.deepEqual((await waiting)[1]?.[0], CHUNKS[0]);
  },
  test.long,
);

const AGENTS = 12;
/** The request of a step of an agent: all have one prompt. */
const step = (agent: number, length: number, cwd: string, text: string) =>
  talk(
    ...[user(`<cwd>${cwd}</cwd>`), user("Fix the test")],
    ...Array.from({ length }, (_, index) => called(`call_${agent}_${index}`, `${text} in ${cwd}`)).flat(),
  );
const STEPS = [1, 2, 3].flatMap((length) =>
  Array.from({ length: AGENTS }, (_, agent) => ({ agent, length }))
);

withHome("many requests at once, in any order, get each the answer of its own agent", async (home) => {
  const recorded = STEPS.map(({ agent, length }) => {
    const call = { type: "function_call", id: "fc_1", call_id: `call_${agent}_${length}`, name: "ls" };
    return exchangeOf(sent(step(agent, length, "/srv/a", "ok"), { answer: responseStream(call) }));
  });
  home.fixture("a", recorded, { match: { normalize: ["cwd"] }, context: { cwd: "/srv/a" } });
  const flags = ["--rules", "none", "--match", "conversation", "--context", "cwd=/opt/b"];
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
  const place = ({ agent, length }: (typeof STEPS)[number]) => (agent * 7 + length * 5) % 11;
  const order = STEPS.toSorted((a, b) => place(a) - place(b));
  const right = await Promise.all(order.map(async ({ agent, length }) => {
    const body = JSON.stringify(step(agent, length, "/opt/b", "failed"));
    const answer = await fetch(`${server.origin}/v1/responses`, { method: "POST", body });
    return (await answer.text()).includes(`"call_${agent}_${length}"`);
  }));
  assert.deepEqual(right, STEPS.map(() => true));
  // Answers may end in another order than that of the requests.
  const numbers = server.news().filter(({ type }) => type === "played").map(({ request }) => request);
  assert.deepEqual(numbers.toSorted((a, b) => a - b), STEPS.map((_, index) => index + 1));
}, test.long);

withHome(
  "equal requests at once get the recorded answers once each, and the last one for the rest",
  async (home) => {
    home.fixture("a", [1, 2, 3].map((n) => exchangeOf(sent(ask("Done?"), { answer: { n } }))));
    await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--repeat"] });
    const init = { method: "POST", body: JSON.stringify(ask("Done?")) };
    const answers = await Promise.all(Array.from({ length: 10 }, async () => {
      return (await (await fetch(`${server.origin}/v1/responses`, init)).json()).n;
    }));
    assert.deepEqual(answers.sort(), [1, 2, 3, 3, 3, 3, 3, 3, 3, 3]);
    const repeats = server.news().map(({ repeat = 0 }) => repeat);
    assert.deepEqual(repeats.toSorted(), [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]);
    const { repeated, served, unused } = await server.end();
    assert.deepEqual({ repeated, served, unused }, { repeated: 7, served: 10, unused: [] });
  },
);

/** Answers of the three APIs with one call, and where its arguments are. */
const PATH = "/srv/ann/shop";
const args = (cwd: string) => JSON.stringify({ path: `${cwd}/a.txt`, note: `${PATH}na stays` });
const MODEL = { model: "gpt-5.6", instructions: `<cwd>${PATH}</cwd>` };
const SAID = { type: "message", content: [{ type: "output_text", text: `In ${PATH}` }] };
type Rewritten = readonly [path: string, body: Json, answer: (args: string) => Json];
const REWRITTEN: Readonly<Record<string, Rewritten>> = {
  "Responses": [
    "/v1/responses",
    { ...MODEL, input: "Hi" },
    (text) => responseStream({ type: "function_call", call_id: "c", name: "read", arguments: text }, SAID),
  ],
  "Messages": [
    "/v1/messages",
    { model: "m", max_tokens: 9, system: `<cwd>${PATH}</cwd>`, messages: [user("Hi")] },
    (text) => {
      const use = { type: "tool_use", id: "t", name: "r", input: JSON.parse(text) };
      return { type: "message", content: [{ type: "text", text: `In ${PATH}` }, use] };
    },
  ],
  "Chat": [
    "/v1/chat/completions",
    { model: "m", messages: [user(`<cwd>${PATH}</cwd>`)] },
    (text) => {
      const message = { content: PATH, tool_calls: [{ id: "c", function: { arguments: text } }] };
      return { choices: [{ index: 0, message }] };
    },
  ],
};
for (const flags of [["--rewrite-context"], []]) {
  const cwd = flags.length > 0 ? '/opt/my "shop"' : PATH;
  const what = flags.length > 0 ? "the client's own paths with --rewrite-context" : "their recorded bytes";
  rows(
    `played calls have ${what}`,
    Object.fromEntries(
      Object.entries(REWRITTEN).map(([api, [path, body, answer]]) => {
        const asked = JSON.parse(JSON.stringify(body).replaceAll(PATH, '/opt/my \\"shop\\"'));
        const expected = answer(args(cwd));
        return [api, {
          path,
          recorded: [sent(body, { answer: answer(args(PATH)) })],
          asked: [[asked, typeof expected === "string" ? expected : JSON.stringify(expected)]],
        }];
      }),
    ),
    {
      flags: ["--rules", "none", "--context", 'cwd=/opt/my "shop"', ...flags],
      header: { match: { normalize: ["cwd"] }, context: { cwd: PATH } },
      outcome: ({ text }) => text,
    },
  );
}
