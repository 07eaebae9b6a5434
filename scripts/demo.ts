/**
 * `deno task demo [DIR]`: shows the program in under a minute, offline. It runs shell commands, prints each one, and lets
 * it print its own output: a recorded repair job, the reasoning that goes back, a second question in another process,
 * the files on disk, and their check. DIR must not exist; without it the files of the last demo are replaced.
 */
import { resolve } from "node:path";
import { RepriseError } from "../src/domain/errors.ts";
import { commandLine } from "../src/tools/permission/shell_words.ts";
import { copyWorkspace, DEMO_PERMISSIONS, DEMO_PROMPTS, DEMO_SESSION } from "./demo/scene.ts";
import { exists } from "./npm_packages.ts";
import { runScript, say } from "./terminal.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..");
const DEFAULT_DIRECTORY = "dist/demo";
/** Makes `reprise` a command that runs the sources: users have a binary, a clone may have none. */
const REPRISE = commandLine([Deno.execPath(), "run", "-A", "--quiet", "main.ts"]);
/** Settings of the user that would change the demo. */
const SETTINGS = /^(REPRISE|OPENAI|ANTHROPIC|LLM)_/;

/** A comment, and the commands that follow it. */
interface Scene {
  readonly comment: string;
  readonly commands: readonly string[];
}

/** The demo in the directory `directory`, a path relative to the root or an absolute one. */
function scenes(directory: string): Scene[] {
  const place = commandLine([directory]);
  const session = `${homeIn(directory)}/sessions/${DEMO_SESSION}`;
  const check = `(cd ${place}/workspace && sh check.sh)`;
  const [first, second] = ["first", "second"].map((fixture, index) => {
    const flags = commandLine([...DEMO_PERMISSIONS, "--fixture", `fixtures/demo/${fixture}`]);
    return `${flags} -w ${place}/workspace ${commandLine([DEMO_PROMPTS[index] ?? ""])}`;
  });
  return [
    { comment: "A check fails.", commands: [check] },
    {
      comment:
        "The model finds the cause, edits a file and runs the check. --fixture plays its recorded answers: no key is needed.",
      commands: [`reprise run --new -s ${DEMO_SESSION} ${first}`, check],
    },
    {
      comment:
        "The session is on disk. explain lists the reasoning that the next request sends back to the model.",
      commands: [`reprise explain ${DEMO_SESSION}`],
    },
    {
      comment: "A new process continues the session.",
      commands: [
        `reprise run -s ${DEMO_SESSION} ${second}`,
        `reprise show ${DEMO_SESSION} --turns`,
      ],
    },
    {
      comment: "Each turn is a text file; turn 7 has the decisions about what the model may do.",
      commands: [`ls -l ${session} ${session}/turns`, `cat ${session}/turns/000008.json`],
    },
    {
      comment: "Every file has a checksum, and fsck verifies them.",
      commands: [`reprise fsck ${DEMO_SESSION}`],
    },
  ];
}

/** The home of the demo's session, as a word of a shell command. */
function homeIn(directory: string): string {
  return commandLine([`${directory}/home`]);
}

/** Prints a command and runs it in a shell; both of its streams are ours. */
async function show(command: string, env: Readonly<Record<string, string>>): Promise<number> {
  say(`$ ${command}`);
  const { code } = await new Deno.Command("sh", {
    args: ["-c", `reprise() { ${REPRISE} "$@"; }\n${command}`],
    cwd: ROOT,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
    clearEnv: true,
    env,
  }).spawn().status;
  return code;
}

/** The environment of the demo's commands. */
function environment(directory: string): Record<string, string> {
  const kept = Object.entries(Deno.env.toObject()).filter(([name]) => !SETTINGS.test(name));
  return {
    ...Object.fromEntries(kept),
    REPRISE_HOME: `${directory}/home`,
    XDG_CONFIG_HOME: `${directory}/config`,
    // The demo never waits for a key.
    PAGER: "cat",
  };
}

async function main([chosen]: readonly string[]): Promise<number> {
  const directory = chosen ?? DEFAULT_DIRECTORY;
  const absolute = resolve(ROOT, directory);
  if (exists(absolute)) {
    if (chosen !== undefined) {
      throw new RepriseError("usage", `Cannot keep the demo in ${directory}: it exists`, {
        hint: "name a new directory, or none",
      });
    }
    Deno.removeSync(absolute, { recursive: true });
  }
  await copyWorkspace(`${absolute}/workspace`);
  const env = environment(absolute);
  say(`$ export REPRISE_HOME=${homeIn(directory)}`);
  const codes: number[] = [];
  for (const { comment, commands } of scenes(directory)) {
    say(`\n# ${comment}`);
    for (const command of commands) codes.push(await show(command, env));
  }
  say(`
The session is kept in ${directory}${chosen === undefined ? " until the next demo" : ""}. Look at it:

cd ${commandLine([ROOT])}
export REPRISE_HOME=${homeIn(directory)}
alias reprise=${commandLine([REPRISE])}
reprise show ${DEMO_SESSION}
reprise show ${DEMO_SESSION} --html ${commandLine([directory])}/page.html
ls ${homeIn(directory)}/sessions/${DEMO_SESSION}/turns`);
  // Only the first check fails.
  return codes[0] === 1 && codes.slice(1).every((code) => code === 0) ? 0 : 1;
}

await runScript(() => main(Deno.args));
