/** The verbs that maintain sessions: repair, move and remove them. */
import { AGENT_NAMES } from "../../agents/agent_session.ts";
import { again, argument, choice, type FlagsOf, text, toggle, value, type Verb, verb } from "../declare.ts";
import {
  ageOrDays,
  byteCount,
  COMMON_FLAGS,
  DRY_RUN,
  ON_REMOTE,
  REMOTE,
  REMOTE_TIMEOUT,
  SESSION,
  WAIT,
  wholeNumber,
} from "../flags.ts";

const REPAIR_FLAGS = {
  ...COMMON_FLAGS,
  all: toggle("--all", "repair every session"),
  liftQuarantine: toggle(
    "--lift-quarantine",
    "do not repair files, but let later requests send refused reasoning items again",
    {
      conflicts: ["all"],
    },
  ),
  remote: again(REMOTE, "take intact copies from S3, and put them there too: s3://BUCKET/PREFIX"),
  wait: WAIT,
  dryRun: DRY_RUN,
};
/** The flags of `repair`. */
export type RepairFlags = FlagsOf<typeof REPAIR_FLAGS>;

const FSCK_FLAGS = {
  ...COMMON_FLAGS,
  all: toggle("--all", "check every session"),
  requests: toggle("--requests", "also fold every recorded request again, and compare it with the sent one"),
  remote: again(ON_REMOTE, `check the copies ${ON_REMOTE.about}`),
  timeout: REMOTE_TIMEOUT,
};
/** The flags of `fsck`. */
export type FsckFlags = FlagsOf<typeof FSCK_FLAGS>;

const RENAME_FLAGS = { ...COMMON_FLAGS, remote: REMOTE, wait: WAIT, dryRun: DRY_RUN };
/** The flags of `rename`. */
export type RenameFlags = FlagsOf<typeof RENAME_FLAGS>;

const EXPORT_FLAGS = {
  ...COMMON_FLAGS,
  redact: toggle(
    "--redact",
    "strip keys, tokens and passwords from texts, and the secrets of the environment",
  ),
  to: choice(
    "--to <agent>",
    "write the conversation as a new file of another agent, without reasoning",
    AGENT_NAMES,
  ),
  output: text("-o, --output <file>", "with --to: the new file"),
  force: toggle("--force", "replace an existing file"),
  dryRun: again(DRY_RUN, "list what would be written; write nothing"),
};
/** The flags of `export`. */
export type ExportFlags = FlagsOf<typeof EXPORT_FLAGS>;

const IMPORT_FLAGS = {
  ...COMMON_FLAGS,
  trustOrigin: text("--trust-origin <url>", "base URL that issued the reasoning of another agent's session"),
  dryRun: again(DRY_RUN, "check the whole file; change nothing"),
};
/** The flags of `import`. */
export type ImportFlags = FlagsOf<typeof IMPORT_FLAGS>;

const RM_FLAGS = {
  ...COMMON_FLAGS,
  olderThan: value("--older-than <age>", "sessions not used for that long: 90d, 12h, 2w", ageOrDays),
  keep: value("--keep <n>", "all but the N newest", wholeNumber(0)),
  largerThan: value("--larger-than <size>", "sessions of more than that size: 1GB, 500MB, 2GiB", byteCount),
  unused: toggle(
    "--unused",
    "blobs that no turn names, and leftovers of killed processes, instead of sessions",
    {
      conflicts: ["remote"],
    },
  ),
  remote: again(ON_REMOTE, `delete the sessions ${ON_REMOTE.about}`),
  timeout: REMOTE_TIMEOUT,
  yes: toggle("--yes", "do not ask for confirmation"),
  dryRun: again(DRY_RUN, "list what would be deleted; delete nothing"),
};
/** The flags of `rm`. */
export type RmFlags = FlagsOf<typeof RM_FLAGS>;

const CONFIG_FLAGS = {
  json: COMMON_FLAGS.json,
  quiet: COMMON_FLAGS.quiet,
  color: COMMON_FLAGS.color,
  debug: COMMON_FLAGS.debug,
  dryRun: again(DRY_RUN, "check the value; write nothing"),
};
/** The flags of `config`. */
export type ConfigFlags = FlagsOf<typeof CONFIG_FLAGS>;

/** The declarations. */
export const MAINTENANCE_VERBS: readonly Verb[] = [
  verb({
    name: "repair",
    about: "repair what fsck finds; replaced files are kept in quarantine/",
    step: true,
    arguments: [argument("[id]", SESSION.about)],
    flags: REPAIR_FLAGS,
    examples: ["reprise repair fix-ci-7k2m --dry-run", "reprise repair --all"],
    load: async () => (await import("./repair.ts")).repairVerb,
  }),
  verb({
    name: "fsck",
    about: "check files of sessions, and with --requests what was sent",
    step: true,
    arguments: [argument("[id]", SESSION.about)],
    flags: FSCK_FLAGS,
    examples: ["reprise fsck --all", "reprise fsck @last --requests"],
    load: async () => (await import("./fsck.ts")).fsckVerb,
  }),
  verb({
    name: "rename",
    about: "give a session a title",
    step: true,
    arguments: [SESSION, argument("<title>", "the title: one line, at most 80 characters")],
    flags: RENAME_FLAGS,
    examples: ['reprise rename @last "Fix the CI build"'],
    load: async () => (await import("./rename.ts")).renameVerb,
  }),
  verb({
    name: "export",
    about: "write a session to one checksummed file",
    arguments: [SESSION, argument("[file]", 'the file to write (default, and "-": stdout)')],
    flags: EXPORT_FLAGS,
    examples: [
      "reprise export fix-ci-7k2m fix-ci.jsonl",
      "reprise export @last --redact | gzip > last.jsonl.gz",
      "reprise export @last --to claude -o last.jsonl",
    ],
    load: async () => (await import("./export.ts")).exportVerb,
  }),
  verb({
    name: "import",
    about: "restore an export, or import a session of another agent",
    arguments: [argument("<file>", 'an export, or a session of another agent; "-" reads stdin')],
    flags: IMPORT_FLAGS,
    examples: ["reprise import fix-ci.jsonl", "reprise import ~/.codex/sessions/2026/11/25/rollout-….jsonl"],
    load: async () => (await import("./import.ts")).importVerb,
  }),
  verb({
    name: "rm",
    about: "delete sessions by name, age, number or size, or leftovers",
    step: true,
    arguments: [argument("[ids...]", SESSION.about)],
    flags: RM_FLAGS,
    examples: [
      "reprise rm fix-ci-7k2m try-again-x4qa --yes",
      "reprise rm --older-than 90d --keep 200 --dry-run",
      "reprise rm --unused",
    ],
    load: async () => (await import("./removal.ts")).rmVerb,
  }),
  verb({
    name: "config",
    about: "print or change the user's config.json",
    usage: "[options] list | get <name> | set <name> [values...] | path",
    arguments: [
      argument("<action>", "list, get, set or path"),
      argument("[name]", "such as model, models.anthropic, allow, profiles.work.base_url"),
      argument("[values...]", "the value to set, several for allow and deny; none removes the member"),
    ],
    flags: CONFIG_FLAGS,
    examples: [
      "reprise config set models.anthropic claude-sonnet-4",
      "reprise config set allow 'shell:git status' 'write:src/**'",
      "reprise config list",
    ],
    load: async () => (await import("./config.ts")).configVerb,
  }),
];
