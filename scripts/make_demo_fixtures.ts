/**
 * Makes `fixtures/demo/first` and `fixtures/demo/second` anew: the program runs twice against the tests' server,
 * which checks each request by the API's rules, and a tap in between keeps what crossed the wire. So the
 * fixtures are synthetic, yet every request in them is one that this version sends.
 *
 * Run it after a change to the default instructions, the tools or the request builder: `deno task fixtures`.
 *
 * @module
 */
import { DEMO_PROMPTS, DEMO_SESSION } from "./demo/prompts.ts";
import {
  answer,
  functionCall,
  message,
  reasoning,
  startResponsesServer,
} from "../tests/support/responses_server.ts";
import { complain, runScript, say } from "./terminal.ts";
import { run } from "./process.ts";

const root = new URL("../", import.meta.url).pathname;
const MODEL = "gpt-5.6";
const SNAPSHOT = "gpt-5.6-2026-08-01";
/** Where the clock of each replayed run starts. */
const CREATED = ["2026-11-21T20:18:00.000Z", "2026-11-21T20:21:00.000Z"] as const;

const SCRIPT = [
  answer([
    reasoning(
      "**Finding my way**\n\nOrder 17 and the code that adds it up must be somewhere here. I will list first.",
    ),
    message("I will look at what is here first.", { phase: "commentary" }),
    functionCall("list_files", { path: null, pattern: null, depth: null }),
  ], { usage: usage(612, 0, 148, 96), model: SNAPSHOT }),
  answer([
    reasoning(
      "**Reading both sides**\n\nThe order and the sum do not depend on each other, so I read them at once.",
    ),
    functionCall("read_file", { path: "orders/17.json", offset: null, limit: null }),
    functionCall("read_file", { path: "src/total.ts", offset: null, limit: null }),
  ], { usage: usage(838, 576, 131, 72), model: SNAPSHOT }),
  answer([
    reasoning(
      "**Adding it up**\n\nEach line: 335 net, 63.65 tax, rounded to 64. Three lines make 1005 + 192 = 1197.",
      "**Comparing**\n\nTax on the whole: 1005 × 0.19 = 190.95, rounded to 191, so 1196. One cent apart.",
    ),
    reasoning("**Checking the claim**\n\nThe order says 1197 was charged, which is what the loop gives."),
    message(
      "Order 17 is charged 1197 cents instead of 1196 because `src/total.ts` rounds the tax of each line: " +
        "three times 63.65 becomes three times 64. Rounding once, on the net sum of 1005, gives 191 and a total " +
        "of 1196 (`src/total.ts`, line 13; `orders/17.json`).",
      { phase: "final_answer" },
    ),
  ], { usage: usage(1327, 832, 402, 288), model: SNAPSHOT }),
  answer([
    reasoning(
      "**Placing the change**\n\nI know the loop already: keep the net sum, and take the tax once after it.",
    ),
    message(
      "Line 13 of `src/total.ts`. Add only `net` inside the loop, and after it return " +
        "`total + taxOf(total, taxPercent)`; line 13 becomes `total += net;`.",
      { phase: "final_answer" },
    ),
  ], { usage: usage(1689, 1280, 118, 56), model: SNAPSHOT }),
];

/** A proxy on this machine that keeps each exchange as it passes. */
class Tap {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #upstream: string;
  #folder = "";
  #count = 0;

  constructor(upstream: string) {
    this.#upstream = upstream;
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      (request) => this.#pass(request),
    );
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/v1`;
  }

  async recordInto(folder: string): Promise<void> {
    await Deno.remove(folder, { recursive: true }).catch(() => {});
    await Deno.mkdir(`${folder}/exchanges`, { recursive: true });
    this.#folder = folder;
    this.#count = 0;
  }

  async stop(): Promise<void> {
    await this.#server.shutdown();
  }

  async #pass(request: Request): Promise<Response> {
    const body = await request.text();
    const path = new URL(request.url).pathname.replace(/^\/v1/, "");
    const response = await fetch(`${this.#upstream}${path}`, {
      method: request.method,
      body,
      headers: request.headers,
    });
    const bytes = await response.bytes();
    const headers = { "content-type": response.headers.get("content-type") ?? "" };
    const folder = `${this.#folder}/exchanges/${String(++this.#count).padStart(4, "0")}`;
    await Deno.mkdir(folder);
    await writeJson(`${folder}/request.json`, { method: request.method, path, body: JSON.parse(body) });
    await writeJson(`${folder}/response.json`, { status: response.status, headers });
    await Deno.writeFile(`${folder}/body`, bytes);
    return new Response(bytes, { status: response.status, headers });
  }
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await Deno.writeTextFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

function usage(input: number, cached: number, output: number, thinking: number) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thinking },
    total_tokens: input + output,
  };
}

await runScript(async () => {
  await using server = startResponsesServer({ script: SCRIPT, rules: "openai" });
  const tap = new Tap(server.baseUrl);
  const home = await Deno.makeTempDir();
  try {
    for (const [index, prompt] of DEMO_PROMPTS.entries()) {
      const folder = `${root}fixtures/demo/${index === 0 ? "first" : "second"}`;
      await tap.recordInto(folder);
      const started = index === 0 ? ["--new"] : [];
      const { code, stderr } = await run(Deno.execPath(), [
        ...["run", "-A", `${root}main.ts`, "run", "--home", home, "-s", DEMO_SESSION, ...started],
        ...[
          "-m",
          MODEL,
          "--summary",
          "auto",
          "--base-url",
          tap.baseUrl,
          "-w",
          `${root}fixtures/demo/workspace`,
        ],
        prompt,
      ], { env: { OPENAI_API_KEY: "sk-none" } });
      if (code !== 0) {
        complain(stderr);
        return code;
      }
      await writeJson(`${folder}/fixture.json`, {
        format: "reprise.fixture/1",
        note: "Synthetic: written by scripts/make_demo_fixtures.ts, not recorded from any provider",
        provider: "openai",
        base_url: "https://api.openai.com/v1",
        model: MODEL,
        created: CREATED[index],
      });
      say(`wrote ${folder.slice(root.length)}`);
    }
  } finally {
    await Deno.remove(home, { recursive: true });
    await tap.stop();
  }
  await writeJson(`${root}fixtures/demo/head.json`, await replayedHead());
  return 0;
});

/** Number, seq and sum of the newest turn after both fixtures were played: the sum covers every byte before it. */
async function replayedHead(): Promise<unknown> {
  const home = await Deno.makeTempDir();
  try {
    for (const [index, prompt] of DEMO_PROMPTS.entries()) {
      const where = index === 0
        ? ["--new", "--fixture", "fixtures/demo/first"]
        : ["--fixture", "fixtures/demo/second"];
      const args = ["run", "-A", "main.ts", "run", "--home", home, "-s", DEMO_SESSION, ...where];
      const { code, stderr } = await run(
        Deno.execPath(),
        [...args, "-w", "fixtures/demo/workspace", prompt],
        {
          cwd: root,
        },
      );
      if (code !== 0) throw new Error(stderr);
    }
    return JSON.parse(await Deno.readTextFile(`${home}/sessions/${DEMO_SESSION}/manifest.json`)).head;
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}
