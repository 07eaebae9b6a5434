/**
 * Creates `fixtures/demo/first` and `fixtures/demo/second` again: the program runs twice against the tests' server,
 * which checks each request by the API's rules, and a tap in between keeps the traffic. So the fixtures are synthetic,
 * yet this version sends every request in them.
 *
 * Run it after a change to the default instructions, the tools or the request builder: `deno task fixtures`.
 *
 * @module
 */
import { copyWorkspace, DEMO_PERMISSIONS, DEMO_PROMPTS, DEMO_SESSION } from "./demo/scene.ts";
import { answer, message, reasoning, startResponsesServer } from "../tests/support/scripted_api/responses.ts";
import { functionCall } from "../tests/support/scripted_api/responses_script.ts";
import { sha256Hex } from "../src/domain/hash.ts";
import { FIXTURE_FORMAT } from "../src/fixture/format.ts";
import { sealAs } from "../src/fixture/seal.ts";
import { denoFiles } from "../src/store/deno_files.ts";
import { complain, runScript, say } from "./terminal.ts";
import { run } from "./process.ts";

const root = new URL("../", import.meta.url).pathname;
const MODEL = "gpt-5.6";
const SNAPSHOT = "gpt-5.6-2026-08-01";
/** The start of the clock of each replayed run. */
const CREATED = ["2026-11-21T20:18:00.000Z", "2026-11-21T20:21:00.000Z"] as const;

const SCRIPT = [
  answer([
    reasoning("**Finding my way**\n\nThe sum and its check must be somewhere here. I will list first."),
    message("I will look at what is here first.", { phase: "commentary" }),
    functionCall("list_files", { path: null, pattern: null, depth: null }),
  ], { usage: usage(812, 0, 148, 96), model: SNAPSHOT }),
  answer([
    reasoning(
      "**Reading both sides**\n\nThe order and the sum do not depend on each other, so I read them at once.",
    ),
    functionCall("read_file", { path: "orders/17.txt", offset: null, limit: null }),
    functionCall("read_file", { path: "src/total.sh", offset: null, limit: null }),
  ], { usage: usage(1038, 768, 131, 72), model: SNAPSHOT }),
  answer([
    reasoning(
      "**Adding it up**\n\nEach line: 335 net, 63.65 tax, rounded to 64. Three lines make 1005 + 192 = 1197.",
      "**Comparing**\n\nTax on the whole: 1005 × 0.19 = 190.95, rounded to 191, so 1196. One cent apart.",
    ),
    reasoning("**Placing the change**\n\nKeep the net sum in the loop and take the tax once, after it."),
    message("Each line rounds its own tax. I will round once, on the sum.", { phase: "commentary" }),
    functionCall("edit_file", {
      path: "src/total.sh",
      old_text:
        "  net=$((cents * count))\n  tax=$(((net * $2 + 50) / 100))\n  total=$((total + net + tax))\n" +
        'done < "$1"\necho "$total"\n',
      new_text:
        '  total=$((total + cents * count))\ndone < "$1"\necho "$((total + (total * $2 + 50) / 100))"\n',
    }),
    functionCall("shell", { command: "sh check.sh", argv: null, timeout_seconds: null }),
  ], { usage: usage(1327, 1024, 402, 288), model: SNAPSHOT }),
  answer([
    reasoning("**Reading the outcome**\n\nThe check says 1196, as quoted. Nothing else uses the loop."),
    message(
      "Fixed: `src/total.sh` rounded the tax of each line, so three times 63.65 became three times 64. It now takes " +
        "the tax once, on the net sum of 1005, and `sh check.sh` passes with 1196.",
      { phase: "final_answer" },
    ),
  ], { usage: usage(1853, 1280, 118, 56), model: SNAPSHOT }),
  answer([
    reasoning(
      "**Recalling**\n\nI worked this out before the edit: 190.95 rounds to 191 once, but 63.65 to 64 three times.",
    ),
    message(
      "192 cents: 64 for each of the three lines. Rounded once, the tax is 191, which is the cent that was too much.",
      { phase: "final_answer" },
    ),
  ], { usage: usage(2041, 1792, 96, 48), model: SNAPSHOT }),
];

/** A proxy on this machine that keeps each exchange. */
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
    const path = new URL(request.url).pathname;
    const response = await fetch(`${new URL(this.#upstream).origin}${path}`, {
      method: request.method,
      body,
      headers: request.headers,
    });
    const bytes = await response.bytes();
    const headers = { "content-type": response.headers.get("content-type") ?? "" };
    const folder = `${this.#folder}/exchanges/${String(++this.#count).padStart(4, "0")}`;
    await Deno.mkdir(folder);
    await writeJson(`${folder}/request.json`, {
      method: request.method,
      path,
      body_sha256: sha256Hex(body),
      body: JSON.parse(body),
    });
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
  const scratch = await Deno.makeTempDir();
  const [home, workspace] = [`${scratch}/home`, `${scratch}/workspace`];
  await copyWorkspace(workspace);
  try {
    for (const [index, prompt] of DEMO_PROMPTS.entries()) {
      const folder = `${root}fixtures/demo/${index === 0 ? "first" : "second"}`;
      await tap.recordInto(folder);
      const started = index === 0 ? ["--new"] : [];
      const { code, stderr } = await run(Deno.execPath(), [
        ...["run", "-A", `${root}main.ts`, "run", "--home", home, "-s", DEMO_SESSION, ...started],
        ...["-m", MODEL, "--summary", "auto", "--base-url", tap.baseUrl, "-w", workspace],
        ...DEMO_PERMISSIONS,
        prompt,
      ], { env: { OPENAI_API_KEY: "sk-none" } });
      if (code !== 0) {
        complain(stderr);
        return code;
      }
      sealAs(denoFiles, folder, {
        format: FIXTURE_FORMAT,
        note: "Synthetic: written by scripts/make_demo_fixtures.ts, not recorded from any provider",
        provider: "openai",
        base_url: "https://api.openai.com/v1",
        models: [MODEL],
        created: CREATED[index] as string,
      });
      say(`wrote ${folder.slice(root.length)}`);
    }
  } finally {
    await Deno.remove(scratch, { recursive: true });
    await tap.stop();
  }
  await writeJson(`${root}fixtures/demo/head.json`, await replayedHead());
  return 0;
});

/** Number, seq and sum of the newest turn after both fixtures were played: the sum covers every byte before it. */
async function replayedHead(): Promise<unknown> {
  const scratch = await Deno.makeTempDir();
  const [home, workspace] = [`${scratch}/home`, `${scratch}/workspace`];
  await copyWorkspace(workspace);
  try {
    for (const [index, prompt] of DEMO_PROMPTS.entries()) {
      const where = index === 0
        ? ["--new", "--fixture", "fixtures/demo/first"]
        : ["--fixture", "fixtures/demo/second"];
      const args = ["run", "-A", "main.ts", "run", "--home", home, "-s", DEMO_SESSION, ...where];
      const { code, stderr } = await run(
        Deno.execPath(),
        [...args, "-w", workspace, ...DEMO_PERMISSIONS, prompt],
        {
          cwd: root,
        },
      );
      if (code !== 0) throw new Error(stderr);
    }
    return JSON.parse(await Deno.readTextFile(`${home}/sessions/${DEMO_SESSION}/manifest.json`)).head;
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}
