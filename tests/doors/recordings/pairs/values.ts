/** Texts outside of questions that look like values of the machine, and are none. */
import { beside, type More, type Pair, type SpreadRow } from "./pair.ts";

/** Paths beside the machine's directories. */
const PATHS: readonly SpreadRow[] = [
  ...["{cwd}-old/a", "{cwd}2/a", "{cwd}(1)/a", "{cwd},v", "{cwd} old/a", "{cwd}é/a", "{cwd}$X", "{cwd}%zz"],
  ...[
    "{cwd}.bak/a",
    "{cwd}_b/a",
    "{cwd}~/a",
    "{cwd}#1/a",
    "{cwd}+b/a",
    "{cwd}@2/a",
    "{cwd}[1]/a",
    "{cwd-}-old",
  ],
  ...["{home}(1)/a", "{tmp},v", "/mnt{cwd}/a", "$HOME{cwd}", "/a b{cwd}", "/x]{cwd}", "/x){cwd}", "..{cwd}"],
  ...[
    "/R&D{cwd} /R&{cwd}",
    "~{cwd}",
    "https://example.com{cwd}/a",
    "file://mail-1{cwd}/a",
    "*{cwd}",
    "@{cwd}",
  ],
  ...[
    "{cwd} (2)/a",
    "{cwd} - Copy/a",
    "{cwd}\\(1\\)/a",
    "{cwd}\\&co/a",
    "{cwd}'s/a",
    "deploy@mail-1:{cwd}/a",
  ],
].map((text) => ["sibling", text]);
/** The directory of one side only, or another spelling of it. */
const SPELLINGS: readonly SpreadRow[] = [
  ["path of one side", "in {cwd}/a", "in /data/sales/a"],
  ["path of one side", "in /data/sales/a", "in {cwd}/a"],
  ["path of one side", "in {home}/a", "in {cwd}/a"],
  ["path of the other side", "in {client.cwd}/a", "in {recorder.cwd}/a"],
  ["path of the other side", "cp {cwd}/a {recorder.cwd}/b", "cp {cwd}/a {recorder.cwd}/b"],
  ["path of the other side", "cp {client.cwd}/a {cwd}/b"],
  ["swapped paths", "from {cwd} to {home}", "from {home} to {cwd}"],
  ["swapped paths", "from {tmp}/a to {cwd}/a", "from {cwd}/a to {tmp}/a"],
  ["spelling", "in /srv/cоde/ledger/a", "in {cwd}/a"],
  ["spelling", "in /SRV/code/ledger/a", "in {cwd}/a"],
  ["spelling", "in srv/code/ledger/a", "in opt/jobs/my tally/a"],
  ["spelling", "in \\srv\\code\\ledger", "in {cwd}"],
  ["spelling", "in {cwd\\}/a", "in {cwd}/a"],
  ["spelling", "in {cwd}/a", "in {cwd\\}/a"],
  ["spelling", "in {cwd-}", "in {cwd}"],
  ["spelling", "?in={cwd%%}", "?in={cwd}"],
];
/** Directories that only macOS keeps in `/private`. */
const PRIVATE: readonly SpreadRow[] = [
  ["private", "in /private/tmp/ledger/a/x", "in /private/tmp/tally/b/x"],
  ["private", "in /tmp/ledger/a/x", "in /private/tmp/tally/b/x"],
  ["private", "in /private/tmp/ledger/a/x", "in {cwd}/x"],
  ["private", "in /private{tmp}/x"],
];
const ON_TMP: More = { recorder: { cwd: "/tmp/ledger/a" }, client: { cwd: "/tmp/tally/b" } };

const NAMES: readonly SpreadRow[] = [
  ...["{user}-x", "x-{user}", "{user}2", "{user}_a", "mrs.{user}", "{user}.example", "{user}@example.com"],
  ...["{host}.corp.example", "{host}-2", "db-{host}", "{host}_a", "mail.{host}", "{host}b"],
].map((text): SpreadRow => ["longer name", `by ${text}`]);
const OTHER_NAMES: readonly SpreadRow[] = [
  ["longer name", "by {user}+test@example.com"],
  ["longer name", "by {user}\u0301"],
  ["longer name", "by {user}\u200dx"],
  ["longer name", "at {host}\u0308"],
  ["name of one side", "by {user}", "by mallory.k"],
  ["name of one side", "by mallory.k", "by {user}"],
  ["name of one side", "Username: {user}", "Username: mallory"],
  ["name of one side", "Hostname: mail-1", "Hostname: {host}"],
  ["name of one side", "at {host}", "at mail-1"],
  ["name of the other side", "by {client.user}", "by {recorder.user}"],
  ["name of the other side", "by {user} and {recorder.user}"],
  ["name of another kind", "by {user}", "by {host}"],
  ["swapped names", "{user} at {host}", "{host} at {user}"],
  ["zone of one side", "in {zone}", "in America/Lima"],
  ["zone of one side", "Timezone: America/Lima", "Timezone: {zone}"],
  ["longer zone", "in {zone}/Old"],
  ["longer zone", "in New{zone}"],
];

/** Words that mean more than a value of the machine, without a label, and after a label if they are another's. */
const WORDS: readonly SpreadRow[] = [
  ["word", "runs as {user}"],
  ["word", "Is {user} enough? Username: nobody"],
  ["word", "Username: {user}", "Username: guest"],
  ["word", "Username: guest", "Username: {user}"],
  ["word", "Username: {client.user}", "Username: {recorder.user}"],
  ["word", "boots {host}"],
  ["word", "Hostname: {host}", "Hostname: fedora"],
  ["word", "at noon {zone}"],
  ["word", "Timezone: {zone}", "Timezone: EST"],
  ["word", "for Linux", "for Darwin"],
  ["word", "Platform: linux", "Platform: win32"],
  ["word", "Platform: darwin", "Platform: linux"],
  ["word", "<os>linux</os>", "<os>win32</os>"],
  ["word", "for bash", "for zsh"],
  ["word", "Shell: bash", "Shell: fish"],
  ["word", "Shell: zsh", "Shell: bash"],
  ["word", "builds linux/amd64", "builds darwin/arm64"],
];
const ORDINARY: More = {
  recorder: { user: "root", host: "debian", zone: "UTC" },
  client: { user: "dev", host: "laptop", zone: "MST", os: "Darwin 25.1.0 arm64" },
};

const SYSTEMS: readonly SpreadRow[] = [
  ["system of one side", "on {os}", "on Linux 5.15.0-9-generic x86_64"],
  ["system of one side", "on Linux 5.15.0-9-generic", "on Linux 6.12.9-arch1-1"],
  ["system of one side", "OS: Linux 6.1.0-18-amd64", "OS: Linux 5.15.0-9-generic"],
  ["system of the other side", "on {client.os}", "on {recorder.os}"],
  ["longer release", "on Linux 6.1.0-18-amd64+deb13", "on Linux 6.12.9-arch1-1+deb13"],
  ["longer release", "on Linux 6.1.0-18-amd64~bpo1", "on Linux 6.12.9-arch1-1~bpo1"],
  ["longer release", "on Linux 6.1.0-18-amd64.1", "on Linux 6.12.9-arch1-1.1"],
  ["another release", "on Linux 6.1.0-19-amd64", "on Linux 6.12.9-arch1-1"],
];
const VERSIONS: readonly SpreadRow[] = [
  ["version of anything", "needs version 23.5.0", "needs version 25.1.0"],
  ["version of anything", "on arm64", "on x86_64"],
];
const DARWINS: More = {
  recorder: { os: "Darwin 23.5.0 arm64" },
  client: { os: "Darwin 25.1.0 x86_64" },
};

const GIT_STATES: readonly SpreadRow[] = [
  ["branch", "merged {branch} today"],
  ["branch", "Git branch: {branch}", "Git branch: scratch"],
  ["branch", "Git branch: scratch", "Git branch: {branch}"],
  ["commits", "{log}\n0a1b2c3 Add a row", "{log}\n0a1b2c3 Drop a row"],
  ["commits", "{log}", "0a1b2c3 Begin the tally"],
  ["commits", "{client.log}", "{recorder.log}"],
  ["changes", "{status}\n M one.txt", "{status}\n M two.txt"],
  ["changes", "{status}", "?? other.txt"],
  ["subject alone", "Begin the ledger", "Begin the tally"],
];
const REPOSITORIES: More = {
  recorder: { git: ["main", "Begin the ledger", "ines.txt"] },
  client: { git: ["trunk", "Begin the tally", "omar.txt"] },
};

/** Texts that look as the program's own placeholders. */
const PLACEHOLDERS: readonly SpreadRow[] = [
  ["placeholder", "on <host:1>", "on {host}"],
  ["placeholder", "on {host}", "on <host:1>"],
  ["placeholder", "by <user:1>", "by {user}"],
  ["placeholder", "in <cwd:1>/a", "in {cwd}/a"],
  ["placeholder", "in {cwd}/a", "in <cwd:1>/a"],
  ["placeholder", "<cwd:1> {cwd}/a", "{cwd} <cwd:1>/a"],
  ["placeholder", "{cwd}/<cwd:1>", "<cwd:1>/{cwd}"],
  ["placeholder", "in <cwd:1:dashed>", "in {cwd-}"],
  ["placeholder", "?in=<cwd:1:encoded>", "?in={cwd%%}"],
  ["placeholder", "in <home:1>", "in {home}"],
  ["placeholder", "is <date:1>", "is {day}"],
  ["placeholder", "is {day}", "is <date:1>"],
  ["placeholder", "is <time>", "is {now}"],
  ["placeholder", "is {now}", "is <time:1>"],
  ["placeholder", "on <os>", "on {os}"],
  ["placeholder", "in <timezone>", "in {zone}"],
  ["placeholder", "Username: <user:1>", "Username: {user}"],
];

/** All of them. */
export const NO_VALUES: readonly Pair[] = [
  ...beside("miss", [...PATHS, ...SPELLINGS]),
  ...beside("miss", PRIVATE, ON_TMP),
  ...beside("miss", [...NAMES, ...OTHER_NAMES]),
  ...beside("miss", WORDS, ORDINARY),
  ...beside("miss", SYSTEMS),
  ...beside("miss", VERSIONS, DARWINS),
  ...beside("miss", GIT_STATES, REPOSITORIES),
  ...beside("miss", PLACEHOLDERS),
];
