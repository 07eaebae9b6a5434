/**
 * The scene of the README's picture: a project with two tests of pytest is recorded, replayed without a key, and
 * replayed again after a change of a prompt. Every command runs in a terminal of tmux.
 *
 * @module
 */
import { dirname } from "node:path";
import { commandLine } from "../../src/tools/permission/shell_words.ts";
import { outputOf, run } from "../process.ts";
import { startLocalApi } from "./local_api.ts";

/** Width of the picture in characters. */
export const COLUMNS = 92;
/** Longer than any line, so that tmux breaks none. */
const TERMINAL_COLUMNS = 800;
const TERMINAL_ROWS = 200;
/** Longer than the scene takes on a busy machine, in milliseconds. */
const TIMEOUT_MS = 120_000;

const PROJECT: Readonly<Record<string, string>> = {
  "pytest.ini": "[pytest]\naddopts = -q --tb=no -p no:cacheprovider\n",
  "chat.py": `import json
import os
import urllib.request


def ask(question):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/responses",
        data=json.dumps({"model": "gpt-5.6", "input": question, "store": False}).encode(),
        headers={
            "authorization": "Bearer " + os.environ["OPENAI_API_KEY"],
            "content-type": "application/json",
        },
    )
    with urllib.request.urlopen(request) as response:
        output = json.load(response)["output"]
    return "".join(part["text"] for item in output for part in item["content"])
`,
  "test_chat.py": `from chat import ask


def test_capital():
    assert "Paris" in ask("What is the capital of France?")


def test_river():
    assert "Seine" in ask("Which river runs through it?")
`,
};

const ANSWERS = { "capital of France": "Paris.", "river": "The Seine." };

/** Commands in order. The text after two spaces and a \`#\` is a comment of the shell. */
const COMMANDS = [
  "reprise record --out fixtures/chat -- pytest",
  "unset OPENAI_API_KEY",
  "reprise serve fixtures/chat --quiet -- pytest  # no key, no network",
  "sed -i 's/What is the/Name the/' test_chat.py  # change a prompt",
  "reprise serve fixtures/chat --quiet -- pytest",
];

/**
 * Plays the scene and returns what the terminal shows, with its SGR sequences. The durations that pytest prints are left
 * out, and the scratch directory is `~`.
 *
 * @param program The command line of `reprise`.
 * @param env Variables that this command line needs.
 * @throws {Error} if `tmux`, `openssl` or pytest is missing, or if the scene takes too long.
 */
export async function playScene(
  program: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "reprise-picture-" }));
  try {
    await using api = await startLocalApi(directory, ANSWERS);
    writeProject(directory, program);
    const shown = await inTerminal(directory, { ...env, ...api.env });
    return shown.replaceAll(directory, "~").replaceAll(/ in \d+\.\d+s/g, "");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

function writeProject(directory: string, program: readonly string[]): void {
  const files: Readonly<Record<string, string>> = {
    ...Object.fromEntries(Object.entries(PROJECT).map(([name, text]) => [`chat/${name}`, text])),
    "bin/reprise": `#!/bin/sh\nexec ${commandLine(program)} "$@"\n`,
    "bin/pytest": `#!/bin/sh\nexec /usr/bin/python3 -m pytest "$@"\n`,
    "scene.sh": sceneScript(directory),
  };
  for (const [name, text] of Object.entries(files)) {
    const path = `${directory}/${name}`;
    Deno.mkdirSync(dirname(path), { recursive: true });
    Deno.writeTextFileSync(path, text, { mode: name.startsWith("bin/") ? 0o755 : 0o644 });
  }
}

/**
 * A shell script that prints each command after a prompt and runs it. At the end it asks the terminal for the position of
 * its cursor: the terminal answers when it has drawn everything. Then it signals tmux, and waits.
 */
function sceneScript(directory: string): string {
  const steps = COMMANDS.map((command, index) => {
    const [, words = "", comment = ""] = /^(.*?)( {2}#.*)?$/.exec(command) ?? [];
    const isQuiet = /^(?:unset|sed) /.test(COMMANDS[index - 1] ?? "");
    return `${index === 0 || isQuiet ? "" : "echo\n"}prompt ${commandLine([words, comment])}\n${words}\n`;
  });
  return `prompt() { printf '\\033[32m$\\033[0m \\033[1m%s\\033[0m\\033[90m%s\\033[0m\\n' "$1" "$2"; }
cd ${commandLine([`${directory}/chat`])}
${steps.join("")}stty -icanon -echo
printf '\\033[6n'
dd bs=32 count=1 >/dev/null 2>&1
tmux -S ${commandLine([socketOf(directory)])} wait-for -S played
read -r forever
`;
}

function socketOf(directory: string): string {
  return `${directory}/tmux`;
}

/** Runs the scene in a terminal, and returns what it shows at the end. */
async function inTerminal(directory: string, env: Readonly<Record<string, string>>): Promise<string> {
  const variables = Object.entries({
    HOME: directory,
    LANG: "C.UTF-8",
    PATH: `${directory}/bin:${Deno.env.get("PATH") ?? ""}`,
    COLUMNS: String(COLUMNS),
    PYTHONDONTWRITEBYTECODE: "1",
    OPENAI_API_KEY: "sk-of-the-picture-0123456789",
    ...env,
  }).map(([name, value]) => `${name}=${value}`);
  const tmux = async (...args: string[]): Promise<string> => {
    const finished = await run("tmux", ["-S", socketOf(directory), "-f", "/dev/null", ...args], {
      timeout: TIMEOUT_MS,
    });
    if (finished.code !== 0) throw new Error(`tmux ${args[0]} failed: ${outputOf(finished)}`);
    return finished.stdout;
  };
  const size = ["-x", String(TERMINAL_COLUMNS), "-y", String(TERMINAL_ROWS)];
  const inner = ["env", "-i", "TERM=screen-256color", ...variables, "sh", `${directory}/scene.sh`];
  await tmux("new-session", "-d", ...size, commandLine(inner));
  try {
    await tmux("wait-for", "played");
    return await tmux("capture-pane", "-e", "-p");
  } finally {
    await tmux("kill-server");
  }
}
