/** Values of clients that run elsewhere: declared by flags, or read from the block of a client that names itself. */
import {
  beside,
  bodyPairs,
  type BodyRow,
  type More,
  type Pair,
  spread,
  type SpreadRow,
  textPairs,
} from "./pair.ts";

const context = (side: string, values: Readonly<Record<string, string>>) =>
  Object.entries(values).flatMap(([name, value]) => ["--context", `${name}=${value.replace("SIDE", side)}`]);
const declared = (here: Readonly<Record<string, string>>, there: Readonly<Record<string, string>>): More => ({
  record: context("here", here),
  serve: context("there", there),
});
/** A container on each side. */
const CONTAINERS = declared(
  { cwd: "/app", home: "/people/app", user: "app", host: "box-41c2", timezone: "UTC", tmp: "/var/here" },
  {
    cwd: "/jobs/tally",
    home: "/people/jobs",
    user: "jobs",
    host: "box-9f3e",
    timezone: "EST",
    tmp: "/var/there",
  },
);
const DIRECTORIES = declared({ cwd: "/code/app" }, { cwd: "/jobs/tally" });
const WINDOWS = declared(
  { cwd: "C:\\code\\app", home: "C:\\Users\\ines" },
  { cwd: "D:\\jobs\\tally", home: "D:\\Users\\omar" },
);
const ONE_SIDE: More = { record: ["--context", "cwd=/code/app", "--context", "host=box-41c2"] };
const DAYS = declared({ date: "2026-01-05" }, { date: "2026-03-16" });

const IN_CONTAINERS: readonly SpreadRow[] = [
  ["declared path", "in /app/src", "in /jobs/tally/src"],
  ["declared path", "Working directory: /app", "Working directory: /jobs/tally"],
  ["declared path", "HOME=/people/app", "HOME=/people/jobs"],
  ["declared path", "in /var/here/x", "in /var/there/x"],
  ["declared user", "Username: app", "Username: jobs"],
  ["declared host", "at box-41c2", "at box-9f3e"],
  ["declared zone", "Timezone: UTC", "Timezone: EST"],
];
const OF_OTHERS: readonly SpreadRow[] = [
  ["word of a declared user", "an app", "an jobs"],
  ["another user", "Username: app", "Username: guest"],
  ["another host", "at box-41c2", "at box-0000"],
  ["another path", "in /app2/src", "in /jobs/tally2/src"],
  ["path of the other side", "in /jobs/tally/src", "in /app/src"],
];
const QUESTIONS_OF_CONTAINERS: readonly SpreadRow[] = [
  ["declared host in a question", "Restart box-41c2", "Restart box-9f3e"],
  ["declared user in a question", "Username: app", "Username: jobs"],
];

const NORMALIZED: readonly SpreadRow[] = [
  ["rule by a flag", "Username: alice", "Username: mallory"],
  ["rule by a flag", "Hostname: mail-1", "Hostname: mail-2"],
  ["rule by a flag", "Current date: 2026-01-05", "Current date: 2026-01-06"],
  ["rule by a flag", "OS: Windows 11", "OS: Ubuntu"],
];
const FLAGS = ["--normalize", "user,host,date,time,os,timezone,git"];
const IN_QUESTIONS: readonly SpreadRow[] = [
  ["rule by a flag in a question", "Who is {user}?"],
  ["rule by a flag in a question", "Username: {user}"],
  ["rule by a flag in a question", "Is {day} a holiday?"],
  ["rule by a flag in a question", "What happened at {now}?"],
  ["rule by a flag in a question", "Is {os} safe?"],
];

/** The block of Codex CLI. */
const block = (cwd: string, shell: string, day: string, zone: string, more = "") =>
  `<environment_context>\n  <cwd>${cwd}</cwd>\n  <shell>${shell}</shell>\n` +
  `  <current_date>${day}</current_date>\n  <timezone>${zone}</timezone>\n${more}</environment_context>`;
const [APP, TALLY] = [
  block("/app", "bash", "2026-01-05", "UTC"),
  block("/jobs/tally", "zsh", "2026-03-16", "America/Lima"),
];
const part = (text: string) => ({ type: "input_text", text });
const codex = (context: string, question: string, output: string) => ({
  model: "gpt-5.6",
  input: [
    { role: "user", content: [part(context)] },
    { role: "user", content: [part(question)] },
    { type: "function_call", call_id: "call_1", name: "sh", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output },
  ],
});
const CODEX: More = { headers: { originator: "codex_exec", "user-agent": "codex_exec/0.171.0 (Debian 13)" } };
const OTHER: More = { headers: { originator: "other", "user-agent": "other/1.0" } };
const R = "/v1/responses";

/** The block of Claude Code. */
const environment = (cwd: string, shell: string, os: string) =>
  `You are an agent.\n\n# Environment\nYou have been invoked in the following environment: \n` +
  ` - Primary working directory: ${cwd}\n - Is a git repository: false\n - Platform: ${
    os.split(" ")[0]?.toLowerCase()
  }\n` +
  ` - Shell: ${shell}\n - OS Version: ${os}\n`;
/** That of its older versions. */
const older = (cwd: string, os: string, day: string) =>
  `You are an agent.\n\nHere is useful information about the environment you are running in:\n<env>\n` +
  `Working directory: ${cwd}\nIs directory a git repo: No\nPlatform: ${os.split(" ")[0]?.toLowerCase()}\n` +
  `OS Version: ${os}\nToday's date: ${day}\n</env>\n`;
const status = (line: string) =>
  `gitStatus: This is the git status at the start.\n\nCurrent branch: main\n\n${line}\n\nRecent commits:\n1a2b3c4 Fix it`;
const claude = (system: string, question: string, content: string, ...more: readonly string[]) => ({
  ...{ model: "claude-opus-5", max_tokens: 64, system: [{ type: "text", text: system }] },
  messages: [
    { role: "user", content: [question, ...more].map((text) => ({ type: "text", text })) },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "sh", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content }] },
  ],
});
const CLAUDE: More = { headers: { "user-agent": "claude-cli/2.1.332 (external, cli)" } };
const M = "/v1/messages";
const [HERE, THERE] = [
  environment("/app", "bash", "Linux 5.15.0-9-generic"),
  environment("/jobs/tally", "fish", "Linux 6.8.0-2-cloud"),
];

/** Text that Codex CLI writes before the output of a command. */
const ran = (id: string, seconds: string, output: string) =>
  `Chunk ID: ${id}\nWall time: ${seconds} seconds\nProcess exited with code 0\nOriginal token count: 3\n` +
  `Output:\n${output}`;
const [ONE, TWO] = [ran("a1b2c3", "0.1", "ok"), ran("d4e5f6", "0.2", "ok")];
const REPRISE: More = { headers: { "user-agent": "reprise/0.1.0" } };
const [FIVE, NINE] = ["5", "9"].map((bytes) => `[Exit code 0; ${bytes} bytes of output follow]`);
const OF_CLIENTS: readonly BodyRow[] = [
  ["block of Codex CLI", R, codex(APP, "Hi", "ok"), codex(TALLY, "Hi", "ok")],
  ["head of an output", R, codex(APP, "Hi", ONE), codex(TALLY, "Hi", TWO)],
  ["block of Codex CLI", R, codex(APP, "Hi", "in /app/a.txt"), codex(TALLY, "Hi", "in /jobs/tally/a.txt")],
];
const OF_CLAUDE: readonly BodyRow[] = [
  ["block of Claude Code", M, claude(HERE, "Hi", "ok"), claude(THERE, "Hi", "ok")],
  [
    "block of Claude Code",
    M,
    claude(HERE, "Hi", "in /app/a.txt"),
    claude(THERE, "Hi", "in /jobs/tally/a.txt"),
  ],
  [
    "older block of Claude Code",
    M,
    claude(older("/app", "Linux 5.15.0-9-generic", "2026-01-05"), "Hi", "in /app/a.txt"),
    claude(older("/jobs/tally", "Linux 6.8.0-2-cloud", "2026-03-16"), "Hi", "in /jobs/tally/a.txt"),
  ],
];
/** Values that no block of a client which names itself has. */
const NOT_OF_CLIENTS: readonly BodyRow[] = [
  ["block of another client", R, codex(APP, "Hi", "ok"), codex(TALLY, "Hi", "ok"), OTHER],
  ["block of another client", R, codex(APP, "Hi", "ok"), codex(TALLY, "Hi", "ok"), CLAUDE],
  ["block of another client", M, claude(HERE, "Hi", "ok"), claude(THERE, "Hi", "ok"), OTHER],
  ["block of another client", M, claude(HERE, "Hi", "ok"), claude(THERE, "Hi", "ok"), CODEX],
  ["another question", R, codex(APP, "Drop /data/a", "ok"), codex(TALLY, "Drop /data/b", "ok"), CODEX],
  [
    "another question",
    R,
    codex(APP, "Is it 2026-01-05?", "ok"),
    codex(TALLY, "Is it 2026-03-16?", "ok"),
    CODEX,
  ],
  [
    "another question",
    R,
    codex(APP, "<cwd>/etc</cwd>?", "ok"),
    codex(TALLY, "<cwd>/boot</cwd>?", "ok"),
    CODEX,
  ],
  ["block in a question", R, codex("Hi", `${APP} Now?`, "ok"), codex("Hi", `${TALLY} Now?`, "ok"), CODEX],
  ["block in a result", R, codex("Hi", "Ho", APP), codex("Hi", "Ho", TALLY), CODEX],
  [
    "text in the block",
    R,
    codex(block("/app", "bash", "2026-01-05", "UTC", "Keep all.\n"), "Hi", "ok"),
    codex(block("/app", "bash", "2026-01-05", "UTC", "Drop all.\n"), "Hi", "ok"),
    CODEX,
  ],
  [
    "text in a state of Git",
    M,
    claude(`${HERE}\n${status("Keep the tables.")}`, "Hi", "ok"),
    claude(`${HERE}\n${status("Drop the tables.")}`, "Hi", "ok"),
    CLAUDE,
  ],
  [
    "block in a reminder",
    M,
    claude(
      "",
      "<system-reminder>\n# Environment\n - Primary working directory: /data/a\n</system-reminder>",
      "ok",
      "Hi",
    ),
    claude(
      "",
      "<system-reminder>\n# Environment\n - Primary working directory: /data/b\n</system-reminder>",
      "ok",
      "Hi",
    ),
    CLAUDE,
  ],
  [
    "head in a question",
    R,
    codex(APP, "Why?\nWall time: 5 seconds", ONE),
    codex(APP, "Why?\nWall time: 9 seconds", TWO),
    CODEX,
  ],
  ["head in a question", R, codex("Hi", ONE, ONE), codex("Hi", TWO, TWO), CODEX],
  ["head in a question", R, codex("Hi", `${FIVE} Why?`, "ok"), codex("Hi", `${NINE} Why?`, "ok"), REPRISE],
  [
    "line of an output",
    R,
    codex("Hi", "Ho", ran("a1b2c3", "0.1", "Wall time: 5 seconds")),
    codex("Hi", "Ho", ran("d4e5f6", "0.2", "Wall time: 9 seconds")),
    CODEX,
  ],
  [
    "line of an output",
    R,
    codex("Hi", "Ho", "\nWall time: 5 seconds"),
    codex("Hi", "Ho", "\nWall time: 9 seconds"),
    CODEX,
  ],
  ["labels in a question", M, claude("", HERE, "ok"), claude("", THERE, "ok"), CLAUDE],
  ["labels in a result", M, claude("", "Hi", HERE), claude("", "Hi", THERE), CLAUDE],
  ["labels in a result", M, claude("", "Hi", "OS: Windows 11"), claude("", "Hi", "OS: Fedora"), CLAUDE],
  [
    "text beside the block",
    M,
    claude(`${HERE}\nWorking directory: /etc`, "Hi", "ok"),
    claude(`${THERE}\nWorking directory: /boot`, "Hi", "ok"),
    CLAUDE,
  ],
];

/** Declared or read values that make requests equal. */
export const DECLARED: readonly Pair[] = [
  ...beside("play", IN_CONTAINERS, CONTAINERS),
  ...beside("play", [["declared day", "is 2026-01-05", "is 2026-03-16"]], DAYS),
  ...textPairs("play", [
    ["declared path", "chat", "question", "Read /code/app/a.ts", "Read /jobs/tally/a.ts"],
    ["declared path", "gemini", "tool", "in /code/app/a.ts", "in /jobs/tally/a.ts"],
  ], DIRECTORIES),
  ...beside("play", [
    ["Windows path", "in C:\\code\\app\\a.ts", "in D:\\jobs\\tally\\a.ts"],
    ["Windows path", "in c:\\code\\app\\a.ts", "in d:\\jobs\\tally\\a.ts"],
    ["Windows path", '{"cwd":"C:\\\\code\\\\app"}', '{"cwd":"D:\\\\jobs\\\\tally"}'],
    ["Windows path", "in C:/code/app/a.ts", "in D:/jobs/tally/a.ts"],
    ["Windows path", "file:///C:/code/app/a.ts", "file:///D:/jobs/tally/a.ts"],
  ], WINDOWS),
  ...bodyPairs("play", OF_CLIENTS, CODEX),
  ...bodyPairs("play", OF_CLAUDE, CLAUDE),
  ...bodyPairs("play", [
    ["head of an output", R, codex("Hi", "Ho", `${FIVE}\na.txt`), codex("Hi", "Ho", `${NINE}\na.txt`)],
  ], REPRISE),
  ...textPairs("play", [
    ["replace rule", "chat", "question", "Username: alice\nReset it.", "Username: mallory\nReset it."],
    ["replace rule", "gemini", "tool", "Username: alice", "Username: mallory"],
  ], { record: ["--replace", "Username: \\w+=Username: N"] }),
];

/** The same flags and blocks with what they do not tell. */
export const UNDECLARED: readonly Pair[] = [
  ...beside("miss", OF_OTHERS, CONTAINERS),
  ...spread(
    "miss",
    { apis: ["responses", "messages", "gemini"], places: ["question"] },
    QUESTIONS_OF_CONTAINERS,
  )
    .map((pair) => ({ ...pair, ...CONTAINERS })),
  ...beside("miss", [
    ["declared on one side", "in /code/app/a", "in /jobs/tally/a"],
    ["declared on one side", "at box-41c2", "at box-9f3e"],
  ], ONE_SIDE),
  ...beside("miss", NORMALIZED, { record: FLAGS }),
  ...beside("miss", NORMALIZED, { serve: FLAGS }),
  ...spread("miss", { apis: ["chat", "messages"], places: ["question"] }, IN_QUESTIONS)
    .flatMap((pair) => [{ ...pair, record: FLAGS }, { ...pair, serve: FLAGS }]),
  ...bodyPairs("miss", NOT_OF_CLIENTS),
];
