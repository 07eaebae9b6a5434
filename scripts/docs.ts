/**
 * Generates documents from the code: `docs/cli.md`, `docs/reprise.1`, `docs/rules.md` and the text of `--help` whole, the
 * tables of docs/faults.md, docs/providers.md, docs/scripting.md and docs/upstreams.md between their markers, and the
 * schemas of `docs/schemas`. With `--check` it writes nothing, and fails if a document is stale.
 *
 * @module
 */
import { buildProgram } from "../src/cli/program.ts";
import { FIXTURE_VERBS, VERBS } from "../src/cli/verbs.ts";
import { manPage } from "../src/cli/completion/man.ts";
import { completedVerbs } from "../src/cli/completion/model.ts";
import { type Flag, variablesOf } from "../src/cli/declare.ts";
import { livePorts } from "../src/cli/live_ports.ts";
import { KNOWN_UPSTREAMS } from "../src/apis/known_upstreams.ts";
import { PROVIDERS } from "../src/apis/providers.ts";
import { PROVIDER_KINDS, type ProviderKind } from "../src/domain/fingerprint.ts";
import { CONFIG_NAMES } from "../src/cli/config_file.ts";
import { type Documented, jsonSchema, type SchemaName, SCHEMAS } from "../src/cli/schemas/schemas.ts";
import * as z from "zod";
import { EXIT_CODE_OF, EXIT_CODES } from "../src/domain/errors.ts";
import { faultTables } from "../src/fixture/faults/plan.ts";
import { fileSchemas } from "../src/fixture/file_schemas.ts";
import { SessionTestFile } from "../src/fixture/session/session_file.ts";
import { ToolsFile } from "../src/fixture/session/tools_file.ts";
import { rulesPage } from "./rules_page.ts";
import { complain, say } from "./terminal.ts";

const root = new URL("../", import.meta.url);
const declarations = { top: VERBS, fixture: FIXTURE_VERBS };
const program = buildProgram(
  livePorts(),
  declarations,
  [...VERBS, ...FIXTURE_VERBS].map(({ name }) => name),
);

/** Names of the providers, for people. */
const PROVIDER_NAMES: Readonly<Record<ProviderKind, string>> = {
  openai: "OpenAI; the default",
  azure: "Azure OpenAI; the deployment is the model",
  anthropic: "Anthropic",
  compatible: "any other server that speaks Responses",
};

interface Document {
  readonly path: string;
  readonly now: string;
  readonly wanted: string;
}

const faults = read("docs/faults.md");
const providers = read("docs/providers.md");
const upstreams = read("docs/upstreams.md");
const scripting = read("docs/scripting.md");
const documents: readonly Document[] = [
  { path: "docs/cli.md", now: read("docs/cli.md"), wanted: cliReference() },
  { path: "src/cli/start/help_text.ts", now: read("src/cli/start/help_text.ts"), wanted: helpText() },
  { path: "docs/reprise.1", now: read("docs/reprise.1"), wanted: manPage(completedVerbs(declarations)) },
  { path: "docs/rules.md", now: read("docs/rules.md"), wanted: rulesPage() },
  {
    path: "docs/fixture.schema.json",
    now: read("docs/fixture.schema.json"),
    wanted: fixtureSchema(),
  },
  { path: "docs/providers.md", now: providers, wanted: between(providers, "providers", providersTable()) },
  ...(Object.keys(SCHEMAS) as SchemaName[]).map((name) => {
    const path = `docs/schemas/${name}.json`;
    return { path, now: read(path), wanted: `${JSON.stringify(jsonSchema(name), null, 2)}\n` };
  }),
  {
    path: "docs/scripting.md",
    now: scripting,
    wanted: between(between(scripting, "schemas", schemasTable()), "error-codes", errorCodesTable()),
  },
  { path: "docs/faults.md", now: faults, wanted: between(faults, "faults", faultTables()) },
  {
    path: "docs/upstreams.md",
    now: upstreams,
    wanted: between(upstreams, "upstreams", upstreamsTable()),
  },
];

const stale = documents.filter(({ now, wanted }) => now !== wanted);
if (Deno.args.includes("--check")) {
  for (const { path } of stale) complain(`${path} is stale: run "deno task docs"`);
  Deno.exit(stale.length === 0 ? 0 : 1);
}
for (const { path, wanted } of stale) {
  Deno.writeTextFileSync(new URL(path, root), wanted);
  say(`wrote ${path}`);
}

function read(path: string): string {
  try {
    return Deno.readTextFileSync(new URL(path, root));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

/** Replaces the text between `<!-- NAME:begin -->` and `<!-- NAME:end -->`. */
function between(text: string, name: string, content: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`A document lacks the markers ${begin} … ${end}`);
  return `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`;
}

/** Every verb with its full name; the verbs of a group one by one. */
function leaves() {
  return program.commands.flatMap((verb) => {
    const inner = verb.commands.filter((command) => command.name() !== "help");
    return inner.length === 0
      ? [{ name: verb.name(), verb }]
      : inner.map((each) => ({ name: `${verb.name()} ${each.name()}`, verb: each }));
  });
}

/** The help of the whole program as a constant, which is printed without building the parser. */
function helpText(): string {
  let help = "";
  const output = { write: (text: string) => help += text };
  program.configureOutput({ writeOut: output.write }).outputHelp();
  const lines = help.split("\n").map((line) => line.replaceAll(/[\\`$]/g, "\\$&"));
  return `/** The text of \`--help\`, generated by \`deno task docs\`. */\nexport const HELP = \`${
    lines.join("\n")
  }\`;\n`;
}

function verbsTable(): string {
  const rows = leaves().map(({ name, verb }) => {
    const words = verb.registeredArguments.map((argument) =>
      argument.required ? `<${argument.name()}>` : `[${argument.name()}]`
    );
    return `| \`${[name, ...words].join(" ")}\` | ${verb.description()} |`;
  });
  return ["| verb | what it does |", "| --- | --- |", ...rows].join("\n");
}

function schemasTable(): string {
  const rows = Object.entries<Documented>(SCHEMAS).map(([name, { about }]) =>
    `| [\`${name}\`](schemas/${name}.json) | ${about} |`
  );
  return ["| schema | document |", "| --- | --- |", ...rows].join("\n");
}

/** The codes of errors, a row for each exit code. */
function errorCodesTable(): string {
  const codes = Object.entries(EXIT_CODE_OF);
  const rows = [...Map.groupBy(codes, ([, exitCode]) => exitCode)].map(([exitCode, same]) =>
    `| ${exitCode} | ${same.map(([code]) => `\`${code}\``).join(", ")} |`
  );
  return ["| exit code | `code` |", "| --- | --- |", ...rows].join("\n");
}

function exitCodesTable(): string {
  const rows = Object.entries(EXIT_CODES).map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return ["| code | meaning |", "| --- | --- |", ...rows].join("\n");
}

/** One schema whose definitions are the files of a fixture folder. */
function fixtureSchema(): string {
  const files = {
    "fixture.json": fileSchemas().FixtureFile,
    "request.json": fileSchemas().RequestFile,
    "response.json": fileSchemas().ResponseFile,
    "tools.json": ToolsFile,
    "session.json": SessionTestFile,
  };
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "The files of a fixture folder of reprise, by name",
    $defs: Object.fromEntries(
      Object.entries(files).map(([name, file]) => {
        const { $schema: _, ...definition } = z.toJSONSchema(file);
        return [name, definition];
      }),
    ),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** A row for each provider; its variables in the order in which they count. */
function providersTable(): string {
  const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", else ");
  const rows = PROVIDER_KINDS.map((kind) => {
    const { urlVariables, defaultUrl, keyVariables, keylessOnLoopback } = PROVIDERS[kind];
    const key = `${list(keyVariables.map(({ name }) => name))}${
      keylessOnLoopback ? "; optional on this machine" : ""
    }`;
    const url = `${list(urlVariables)}${defaultUrl === null ? "" : `, else \`${defaultUrl}\``}`;
    return `| \`${kind}\` | ${PROVIDER_NAMES[kind]} | ${key} | ${url} |`;
  });
  return ["| `-p` | API provider | key | base URL |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

/** The variables that lead clients to common APIs. */
function upstreamsTable(): string {
  const code = (text: string) => `\`${text}\``;
  const rows = KNOWN_UPSTREAMS.map(({ variable, api, keys, defaultUrl, adds, opens, source, checked }) =>
    `| ${
      [
        api,
        code(variable),
        keys.map((key) => code(key.variable)).join(", "),
        defaultUrl ?? "",
        code(adds),
        { always: "always", key: "its URL or a key is set", set: "its URL is set" }[opens],
        `${source}, ${checked}`,
      ].join(" | ")
    } |`
  );
  return [
    "| API | base URL | keys | default | clients append | has a port if | read in |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

/** The variables that set flags, a row for each flag. */
function flagVariableRows(): string {
  const flags: readonly Flag[] = VERBS.flatMap(({ flags }) => Object.values(flags))
    .filter((flag) => variablesOf(flag).length > 0);
  return [...new Map(flags.map((flag) => [flag.spec, flag])).values()].map((flag) => {
    const names = variablesOf(flag).map((name) => `\`${name}\``).join(", ");
    const spelled = flag.spec.replace(/^.*(?=--)/, "").replace(/ .*$/, "");
    return `| ${names} | ${spelled.startsWith("--no-") ? "off: " : ""}as \`${spelled}\`: ${flag.about} |`;
  }).join("\n");
}

function cliReference(): string {
  const verbs = leaves().map(({ name, verb }) => {
    let help = "";
    verb.configureOutput({ writeOut: (text) => help += text, getOutHelpWidth: () => 100 });
    verb.outputHelp();
    return `## ${name}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`;
  });
  return `<!-- deno-fmt-ignore-file -->

# The command line

Generated from the parser by \`deno task docs\`; the gate fails if this page is stale.

- [Verbs](#verbs) · [Output](#output) · [Settings](#settings) · [Providers](#providers) · [Variables](#variables) · [Exit codes](#exit-codes) · then each verb

## Verbs

<!-- verbs:begin -->
${verbsTable()}
<!-- verbs:end -->

## Output

stdout is data, stderr is for people. \`--json\` prints one JSON document, or JSON Lines for verbs that stream
(\`run\`, \`record\`, \`serve\`). An error in \`--json\` mode is an object \`{"type":"error","code":…,"exit_code":…,"message":…}\`: the
only document, or the last line. In \`run\` it comes just before \`run.ended\` if a run had begun. The hint names a command to run.

\`--dry-run --json\` prints one object, of the same shape for every verb: \`type\` (\`dry_run\`), \`dry_run\` (\`true\`), \`verb\`, and
\`changes\`, a list of \`{action, what, name}\` in the order in which they would happen, empty if nothing would change. Further members are
the facts of the verb.

Flags may also come before the verb: \`reprise --json ls\`. [Structured answers](structured.md) explains \`--output-schema\`.

## Settings

Settings come from flags, then the environment, then \`config.json\` in \`$XDG_CONFIG_HOME/reprise\`, which
\`reprise config\` prints and changes. Nothing in the working directory changes a setting. Its members, all optional:

| member | value |
| --- | --- |
| ${
    CONFIG_NAMES.map((name) => `\`${name}\``).join(", ")
  } | a string; \`base_url\` counts only if the provider is the one that the file names, or \`openai\` |
| \`models\` | the default model of each provider, such as \`{"anthropic": "…"}\`; precedes \`model\` |
| \`allow\`, \`deny\` | lists of permissions, as the flags take them; \`run.started\` names them |
| \`profiles\` | named sets of \`provider\`, \`base_url\`, \`model\`, \`effort\`, \`summary\`, \`transport\`, \`allow\`, \`deny\`. No keys: these come from the environment |
| \`prices\` | prices of models, see [costs](cost.md) |

\`--profile NAME\` gives the flags of the profile that are not given. \`REPRISE_PROFILE\`, or \`profile\` in the file, replaces
members of the file. The base URL and the model of one provider are never used with another.

A session keeps the provider, model, effort and summary of its last run, before environment and configuration. If \`-m\`
names a model, the provider comes from the settings again. A session never decides where requests go: if flags and environment
do not name an endpoint either, a run that would ask another endpoint than the last one exits with 2. Under \`--fixture\` only flags, the session and the fixture count.

## Providers

[providers.md](providers.md) lists the variables of each provider: base URL and key.

## Variables

A switch is on (\`1\`, \`true\`, \`on\`, \`yes\`) or off (\`0\`, \`false\`, \`off\`, \`no\`); any other value is refused.
\`REPRISE_BASE_URL\` wins over the variables of a provider, and \`--replay\` over \`REPRISE_REASONING_REPLAY\`.

| variable | meaning |
| --- | --- |
${flagVariableRows()}
| \`AZURE_OPENAI_API_VERSION\`, \`OPENAI_API_VERSION\` | for an Azure base URL of the resource alone: a date such as \`2025-04-01-preview\` selects that version, anything else v1 |
| \`REPRISE_STRICT_DRIFT\` | on: a resumed run whose pins differ exits with 2, unless --accept-drift is given |
| \`REPRISE_REPRESENTS\` | set by \`serve\` and \`record\` for the commands that they start: the base URLs that their loopback URLs represent, as a JSON object. It decides fingerprints only (docs/replay.md) |
| \`REPRISE_RESPONSE_TIMEOUT\` | seconds within which a server must begin to answer (120) |
| \`REPRISE_IDLE_TIMEOUT\` | seconds of silence inside a stream (300) |
| \`NO_COLOR\` | no colour |
| \`PAGER\` | the program that shows a session longer than the terminal (less; empty: none) |

## Exit codes

<!-- exit-codes:begin -->
${exitCodesTable()}
<!-- exit-codes:end -->

The runtime itself ends with 101 and a line with "panicked" if the working directory was removed, or if an argument is not UTF-8:
it ends before the program begins.

${verbs.join("\n")}`;
}
