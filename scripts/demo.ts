/**
 * The idea in under a minute, offline: a recorded repair job in one process, a second question in another, then the
 * files on disk, the reasoning that goes back, and the check of all files.
 *
 * @module
 */
import type { RunEvent } from "../src/run/events.ts";
import { setVariables, unsetVariables } from "../src/cli/environment.ts";
import { copyWorkspace, DEMO_PERMISSIONS, DEMO_PROMPTS, DEMO_SESSION } from "./demo/scene.ts";
import { run } from "./process.ts";
import { runScript, say } from "./terminal.ts";

const root = new URL("../", import.meta.url).pathname;
const PROGRAM = [Deno.execPath(), "run", "-A", "--quiet", `${root}main.ts`] as const;
/** The base URL of the fixtures: without the flag `explain` would use the base URL in force. */
const BASE_URL = "https://api.openai.com/v1";
/** The turn file that is shown: the first answer of the model. */
const SHOWN_TURN = "turns/000002.json";
/** Longer lines are cut: blobs are of no use to readers. */
const SHOWN_LINE = 400;

/** The directories of the demo, which are removed at the end. */
interface Scratch {
  readonly home: string;
  readonly workspace: string;
}

interface Part {
  readonly fixture: string;
  readonly prompt: string;
  readonly flags: readonly string[];
}

/** Plays one run in a process of its own and shows its events as they come. */
async function play({ home, workspace }: Scratch, { fixture, prompt, flags }: Part): Promise<void> {
  const args = ["run", "-s", DEMO_SESSION, ...flags, "--fixture", `fixtures/demo/${fixture}`];
  heading(`reprise ${[...args, ...DEMO_PERMISSIONS].map(quoted).join(" ")} ${JSON.stringify(prompt)}`);
  const [command, ...before] = PROGRAM;
  const child = new Deno.Command(command, {
    args: [...before, ...args, ...DEMO_PERMISSIONS, "--home", home, "-w", workspace, "--json", prompt],
    cwd: root,
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const view = new LiveView();
  let rest = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) view.show(JSON.parse(line));
  }
  const { code } = await child.status;
  if (code !== 0) throw new Error(`The run of ${fixture} ended with exit code ${code}`);
  say(`(process ${child.pid} ended with exit code ${code})`);
}

/** Shows the events of a run; deltas are joined into lines. */
class LiveView {
  #line = "";

  show(event: RunEvent): void {
    if (event.type === "text.delta") return this.#stream("  ", event.delta);
    if (event.type === "reasoning.delta") return this.#stream("  ~ ", event.delta);
    this.#flush();
    switch (event.type) {
      case "request":
        say(
          `[request ${event.step}] ${event.items} items, ${event.reasoning_sent} of them reasoning, to ${event.fingerprint}`,
        );
        break;
      case "tool.started":
        say(`  -> ${event.name} ${event.arguments}`);
        break;
      case "tool.finished":
        say(`  <- ${event.name}: ${event.status}, ${event.output_chars} characters`);
        break;
      case "turn.saved":
        say(
          `[saved] turn ${event.turn} (${event.kind}), seq ${event.seq.join("-")}, ${
            event.sum.slice(0, 12)
          }…`,
        );
        break;
      case "run.ended":
        say(
          `[ended] ${event.state}, ${event.usage.input_tokens} tokens in, ${event.usage.output_tokens} out`,
        );
        break;
    }
  }

  #stream(margin: string, delta: string): void {
    if (this.#line === "") this.#line = margin;
    const lines = (this.#line + delta).split("\n");
    this.#line = lines.length === 1 ? lines[0] ?? "" : `${margin}${lines.at(-1)}`;
    for (const line of lines.slice(0, -1)) say(line.startsWith(margin) ? line : `${margin}${line}`);
  }

  #flush(): void {
    if (this.#line.trim() !== "" && this.#line.trim() !== "~") say(this.#line);
    this.#line = "";
  }
}

async function show(command: readonly string[], options: { readonly cwd?: string } = {}): Promise<number> {
  const [program, ...args] = command;
  const { code, stdout, stderr } = await run(program as string, args, options);
  say(`${stdout}${stderr}`.trimEnd());
  return code;
}

function heading(text: string): void {
  say(`\n=== ${text}`);
}

function quoted(word: string): string {
  return word.includes(" ") ? JSON.stringify(word) : word;
}

function cut(line: string): string {
  return line.length <= SHOWN_LINE ? line : `${line.slice(0, SHOWN_LINE)}… (${line.length} characters)`;
}

await runScript(async () => {
  const directory = await Deno.makeTempDir({ prefix: "reprise-demo-" });
  const scratch: Scratch = { home: `${directory}/home`, workspace: `${directory}/workspace` };
  const { home, workspace } = scratch;
  // Settings of the user play no part.
  setVariables({ XDG_CONFIG_HOME: `${directory}/config` });
  unsetVariables(Object.keys(Deno.env.toObject()).filter((name) => name.startsWith("REPRISE_")));
  try {
    await copyWorkspace(workspace);
    heading("sh check.sh, before");
    await show(["sh", "check.sh"], { cwd: workspace });
    await play(scratch, { fixture: "first", prompt: DEMO_PROMPTS[0], flags: ["--new"] });
    heading("sh check.sh, after");
    await show(["sh", "check.sh"], { cwd: workspace });
    await play(scratch, { fixture: "second", prompt: DEMO_PROMPTS[1], flags: [] });

    const session = `${home}/sessions/${DEMO_SESSION}`;
    heading("What is on disk");
    await show(["ls", "-l", ".", "turns"], { cwd: session });
    heading(`One turn: ${SHOWN_TURN}`);
    for (const line of Deno.readTextFileSync(`${session}/${SHOWN_TURN}`).trimEnd().split("\n")) {
      say(cut(line));
    }
    heading("Which reasoning goes back in the next request, and why");
    await show([...PROGRAM, "explain", DEMO_SESSION, "--home", home, "--base-url", BASE_URL]);
    heading("Whether every file is sound");
    return await show([...PROGRAM, "fsck", DEMO_SESSION, "--home", home]);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
