/** Texts outside of questions with values of the machine, by value, in the notations of clients and tools. */
import { beside, type More, type Pair, type SpreadRow } from "./pair.ts";

const PATHS: readonly SpreadRow[] = [
  ...["in {cwd}", "in {cwd}/src/a.ts", "'{cwd}'", '"{cwd}/a"', "({cwd})", "{cwd}:", "{cwd}.", "{cwd},\nthen"],
  ...[
    "{cwd}/",
    "cd {cwd}\nls",
    "PATH={cwd}:{home}/bin",
    "`{cwd}`",
    "<cwd>{cwd}</cwd>",
    "{cwd}/a:12: x",
  ],
  ...["file://{cwd}/a", '{"cwd":"{cwd}","home":"{home}"}', '{"cwd":"{cwd\\}\\/a"}', "file://{cwd%}/a"],
  ...[
    "?in={cwd%%}&x=1",
    "?in={cwd%%}%2Fa",
    "~/.agent/projects/{cwd-}/memory",
    "{tmp}/agent-0/{cwd-}/notes.md",
  ],
  ...[
    "Working directory: {cwd}",
    " - Primary working directory: {cwd}",
    "<working_directory>{cwd}</working_directory>",
  ],
  ...["in {home}", "{home}/.agent/config.json", "HOME={home}", "in {tmp}", "{tmp}/out-1.txt", "TMPDIR={tmp}"],
  ...["from {cwd} to {home}, by {tmp}", "{cwd}/a and {cwd}/b", "\\n{cwd}/a\\n", "diff --git {cwd}/a {cwd}/b"],
].map((text) => ["path", text]);
const SHORT_PATHS: readonly SpreadRow[] = [
  ...[
    "{cwd}",
    "{cwd}/src/a.ts",
    "is\n{cwd}\nhere",
    "Working directory: {cwd}",
    "<cwd>{cwd}</cwd>",
    "{home}/.agent",
  ],
].map((text) => ["short path", text]);
const SHORT: More = {
  recorder: { cwd: "/ledger", home: "/ines" },
  client: { cwd: "/tally", home: "/omar" },
};
const QUOTED: More = {
  recorder: { cwd: '/srv/a "b"/ö', home: "/people/a" },
  client: { cwd: '/srv/c "d"/é', home: "/people/b" },
};
/** The same directory in texts that escape it. */
const QUOTED_PATHS: readonly SpreadRow[] = [
  ["escaped path", "in {cwd}/a"],
  ["escaped path", '{"cwd":"/srv/a \\"b\\"/ö/x"}', '{"cwd":"/srv/c \\"d\\"/é/x"}'],
  [
    "escaped path",
    '"{\\"cwd\\":\\"/srv/a \\\\\\"b\\\\\\"/ö\\"}"',
    '"{\\"cwd\\":\\"/srv/c \\\\\\"d\\\\\\"/é\\"}"',
  ],
  ["escaped path", "file:///srv/a%20%22b%22/%C3%B6/x", "file:///srv/c%20%22d%22/%C3%A9/x"],
];
const PRIVATE: readonly SpreadRow[] = [
  ["private", "in /private/var/folders/aa/T/x", "in /private/var/folders/bb/T/x"],
  ["private", "in /var/folders/aa/T/x", "in /var/folders/bb/T/x"],
];
const MACS: More = {
  recorder: { os: "Darwin 24.1.0 arm64", tmp: "/var/folders/aa/T" },
  client: { os: "Darwin 25.1.0 arm64", tmp: "/var/folders/bb/T" },
};

const NAMES: readonly SpreadRow[] = [
  ...["by {user}", "Username: {user}", "{user}:x:1000", "/srv/{user}/a", "user={user}, host={host}"],
  ...["at {host}", "Hostname: {host}", "{user}@{host}:~$", "host {host}."],
  ...["in {zone}", "Timezone: {zone}", "TZ={zone}", "({zone})", "<timezone>{zone}</timezone>"],
].map((text) => ["name", text]);

const WORDS: readonly SpreadRow[] = [
  ["word after a label", "Username: {user}"],
  ["word after a label", "- **User name:** {user}"],
  ["word after a label", "Hostname: {host}"],
  ["word after a label", "Timezone: {zone}"],
  ["word after a label", "<timezone>{zone}</timezone>"],
  ["word after a label", "Platform: linux", "Platform: darwin"],
  ["word after a label", "<os>linux</os>", "<os>darwin</os>"],
  ["word after a label", "Shell: bash", "Shell: zsh"],
  ["word after a label", "<shell>bash</shell>", "<shell>zsh</shell>"],
];
const ORDINARY: More = {
  recorder: { user: "root", host: "debian", zone: "UTC" },
  client: { user: "dev", host: "laptop", zone: "MST", os: "Darwin 25.1.0 arm64" },
};

const SYSTEMS: readonly SpreadRow[] = [
  ["system", "on {os}"],
  ["system", "on Linux 6.1.0-18-amd64", "on Linux 6.12.9-arch1-1"],
  ["system", "kernel 6.1.0-18-amd64", "kernel 6.12.9-arch1-1"],
  ["system", "OS Version: Linux 6.1.0-18-amd64", "OS Version: Linux 6.12.9-arch1-1"],
  ["system", "linux 6.1.0-18-amd64 x64", "linux 6.12.9-arch1-1 x64"],
];
const PLATFORMS: readonly SpreadRow[] = [
  ["platform", "Linux 6.1.0-18-amd64 (linux/amd64)", "Darwin 25.1.0 (darwin/arm64)"],
  ["platform", "Linux 6.1.0-18-amd64 (linux-x64)", "Darwin 25.1.0 (darwin-arm64)"],
];
const MAC: More = { client: { os: "Darwin 25.1.0 arm64" } };

const STATES: readonly SpreadRow[] = [
  ["commits", "Recent commits:\n{log}"],
  ["commits", "{log}"],
  ["changes", "Status:\n{status}\n\nEnd"],
  ["branch", "Git branch: {branch}"],
  ["branch", "Current branch: {branch}\n\nStatus:\n{status}"],
  [
    "state",
    "gitStatus: This is the state.\n\nCurrent branch: {branch}\n\nStatus:\n{status}\n\nRecent commits:\n{log}",
  ],
];
const REPOSITORIES: More = {
  recorder: { git: ["main", "Begin the ledger", "ines.txt"] },
  client: { git: ["trunk", "Begin the tally", "omar.txt"] },
};

const LITERAL: readonly SpreadRow[] = [
  ["beside a placeholder", "<cwd:1> {cwd}/a"],
  ["beside a placeholder", "{host} and <host:1>"],
];

/** All of them. */
export const VALUES: readonly Pair[] = [
  ...beside("play", PATHS),
  ...beside("play", SHORT_PATHS, SHORT),
  ...beside("play", QUOTED_PATHS, QUOTED),
  ...beside("play", PRIVATE, MACS),
  ...beside("play", NAMES),
  ...beside("play", WORDS, ORDINARY),
  ...beside("play", SYSTEMS),
  ...beside("play", PLATFORMS, MAC),
  ...beside("play", STATES, REPOSITORIES),
  ...beside("play", LITERAL),
];
