/**
 * Generates documents from the code: the text of `--help`, the JSON Schemas, and the parts of the pages in
 * `docs/` between `<!-- NAME:begin -->` and `<!-- NAME:end -->`. With `--check` it writes nothing, and fails if a
 * document is stale.
 */
import * as z from "zod";
import { CHAT_RULES } from "../src/apis/chat/rules/rule.ts";
import { KNOWN_UPSTREAMS } from "../src/apis/known_upstreams.ts";
import { MESSAGES_RULES } from "../src/apis/messages/rules/rule.ts";
import { PROVIDERS } from "../src/apis/providers.ts";
import { RESPONSES_RULES } from "../src/apis/responses/rules/rule.ts";
import { type ApiRule, isAnswered } from "../src/apis/rule.ts";
import { configMemberOf, type Flag, isOffSwitch, variablesOf } from "../src/cli/declare.ts";
import { COMMON_FLAGS } from "../src/cli/flags.ts";
import { rootHelp } from "../src/cli/help.ts";
import { livePorts } from "../src/cli/live_ports.ts";
import { buildProgram } from "../src/cli/program.ts";
import { jsonSchema, type SchemaName, SCHEMAS } from "../src/schemas/schemas.ts";
import { ALL_VERBS } from "../src/cli/verbs.ts";
import { EXIT_CODE_OF, EXIT_CODES } from "../src/domain/errors.ts";
import { PROVIDER_KINDS, type ProviderKind } from "../src/domain/fingerprint.ts";
import { faultTables } from "../src/fixture/faults/help.ts";
import { fileSchemas } from "../src/fixture/file_schemas.ts";
import { SessionTestFile } from "../src/fixture/session/session_file.ts";
import { ToolsFile } from "../src/fixture/session/tools_file.ts";
import { complain, say } from "./terminal.ts";

const root = new URL("../", import.meta.url);

/** Names of the providers, for people. */
const PROVIDER_NAMES: Readonly<Record<ProviderKind, string>> = {
  openai: "OpenAI; the default",
  azure: "Azure OpenAI; the deployment is the model",
  anthropic: "Anthropic",
  compatible: "any other server that speaks Responses",
};

/** Rules that no recording can decide: about accounts, and about models that read each other's reasoning. */
const NOT_CHECKED: ReadonlySet<string> = new Set(["signature_bound", "encrypted_content_model"]);

/** Number of flags that a verb shares with an earlier verb, from which the page explains them there only. */
const MANY_FLAGS = 3;

/** The generated parts of pages. Each is on one page, which may be any. */
const parts: Readonly<Record<string, () => string>> = {
  verbs: verbsHelp,
  "common-flags": () =>
    table(
      ["flag", "effect"],
      Object.values<Flag>(COMMON_FLAGS).map(({ spec, about }) => [code(spec), about]),
    ),
  settings: settingsTable,
  "exit-codes": exitCodesTable,
  schemas: () => Object.keys(SCHEMAS).map((name) => `[\`${name}\`](schemas/${name}.json)`).join(" · "),
  providers: providersTable,
  upstreams: upstreamsTable,
  faults: faultTables,
  "rules-responses": () => rulesTable(RESPONSES_RULES),
  "rules-chat": () => rulesTable(CHAT_RULES),
  "rules-messages": () => rulesTable(MESSAGES_RULES),
};

const isCheck = Deno.args.includes("--check");
for (const [path, text] of Object.entries({ ...files(), ...pages() })) {
  if (read(path) === text) continue;
  if (isCheck) {
    complain(`${path} is stale: run "deno task docs"`);
    Deno.exitCode = 1;
  } else {
    Deno.writeTextFileSync(new URL(path, root), text);
    say(`wrote ${path}`);
  }
}

function read(path: string): string {
  try {
    return Deno.readTextFileSync(new URL(path, root));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

/** The documents that are generated as a whole. */
function files(): Record<string, string> {
  const schemas = (Object.keys(SCHEMAS) as SchemaName[])
    .map((name) => [`docs/schemas/${name}.json`, json(jsonSchema(name))]);
  return {
    "src/cli/start/help_text.ts": helpText(),
    "docs/fixture.schema.json": json(fixtureSchema()),
    ...Object.fromEntries(schemas),
  };
}

/**
 * The pages of `docs/`, each with its generated parts.
 *
 * @throws {Error} if a part is on no page or on two, or if a page names another part.
 */
function pages(): Record<string, string> {
  const placed: string[] = [];
  const texts = [...Deno.readDirSync(new URL("docs/", root))].filter(({ name }) => name.endsWith(".md"))
    .map(({ name }) => [
      `docs/${name}`,
      read(`docs/${name}`).replace(
        /(<!-- ([a-z-]+):begin -->\n)[^]*?(<!-- \2:end -->)/g,
        (_, begin: string, part: string, end: string) => {
          placed.push(part);
          return `${begin}${parts[part]?.()}\n${end}`;
        },
      ),
    ]);
  const [expected, found] = [Object.keys(parts), placed].map((names) => names.toSorted().join(", "));
  if (expected !== found) {
    throw new Error(`The pages of docs/ need these parts: ${expected}; they have: ${found}`);
  }
  return Object.fromEntries(texts);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The anchor of a heading of one or two words. */
function anchor(heading: string): string {
  return heading.replace(" ", "-");
}

function code(text: string): string {
  return `\`${text}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The help of the whole program as a constant, which is printed without building the parser. */
function helpText(): string {
  const text = rootHelp(ALL_VERBS).replaceAll(/[\\`$]/g, "\\$&");
  return `/** The text of \`--help\`, generated by \`deno task docs\`. */\nexport const HELP = \`${text}\`;\n`;
}

/** The help of each verb under its full name; the verbs of a group one by one. Many shared flags are explained once. */
function verbsHelp(): string {
  const program = buildProgram(
    livePorts(),
    ALL_VERBS,
    [...ALL_VERBS.top, ...ALL_VERBS.fixture].map(({ name }) => name),
  );
  const verbs = program.commands.flatMap((verb) => {
    const inner = verb.commands.filter((command) => command.name() !== "help");
    return inner.length === 0
      ? [{ name: verb.name(), verb }]
      : inner.map((each) => ({ name: `${verb.name()} ${each.name()}`, verb: each }));
  });
  const earlier: { readonly name: string; readonly flags: ReadonlyMap<string, string> }[] = [];
  const helps = verbs.map(({ name, verb }) => {
    const helper = verb.createHelp();
    const shown = helper.visibleOptions(verb);
    const flags = new Map(shown.map((each) => [each.flags, helper.optionDescription(each)]));
    const [nearest] = earlier.map((other) => ({
      name: other.name,
      same: [...flags.keys()].filter((flag) => other.flags.get(flag) === flags.get(flag)),
    })).filter(({ same }) => same.length >= MANY_FLAGS).toSorted((a, b) => b.same.length - a.same.length);
    earlier.push({ name, flags });
    const own = shown.filter((each) => !nearest?.same.includes(each.flags));
    verb.configureHelp({ ...verb.configureHelp(), visibleOptions: () => own });
    let help = "";
    verb.configureOutput({ writeOut: (text) => help += text, getOutHelpWidth: () => 100 });
    verb.outputHelp();
    // Guides have examples; the page has the flags of all verbs.
    const text = help.replace(/\n\nExample:\n[^]*$/, "");
    const others = nearest?.same.map((flag) => code(/--[\w-]+/.exec(flag)?.[0] ?? flag)).join(", ");
    const note = nearest === undefined
      ? ""
      : `\n\nAs in [${nearest.name}](#${anchor(nearest.name)}): ${others}.`;
    return `## ${name}\n\n\`\`\`text\n${text}\n\`\`\`${note}`;
  });
  const index = verbs.map(({ name }) => `[${name}](#${anchor(name)})`).join(" · ");
  return [index, ...helps].join("\n\n");
}

/** The flags that variables or members of `config.json` set, a row for each flag. */
function settingsTable(): string {
  const flags: readonly Flag[] = ALL_VERBS.top.flatMap(({ flags }) => Object.values(flags))
    .filter((flag) => variablesOf(flag).length > 0 || configMemberOf(flag) !== null);
  const rows = [...new Map(flags.map((flag) => [flag.spec, flag])).values()].map((flag) => {
    const variables = variablesOf(flag).map((name) =>
      `${code(name)}${isOffSwitch(flag, name) ? " (off)" : ""}`
    );
    const spelled = flag.spec.replace(/^.*(?=--)/, "").replace(/ .*$/, "");
    const member = configMemberOf(flag);
    return [code(spelled), variables.join(", "), member === null ? "" : code(member), flag.about];
  });
  return table(["flag", "variable", "`config.json`", "meaning"], rows);
}

function exitCodesTable(): string {
  const rows = Object.entries(EXIT_CODES).map(([exitCode, meaning]) => {
    const codes = Object.entries(EXIT_CODE_OF).filter(([, each]) => `${each}` === exitCode);
    return [exitCode, meaning, codes.map(([name]) => code(name)).join(", ")];
  });
  return table(["exit code", "meaning", "`code`"], rows);
}

/** One schema whose definitions are the files of a fixture folder. */
function fixtureSchema() {
  const { FixtureFile, RequestFile, ResponseFile } = fileSchemas();
  const definitions = {
    "fixture.json": FixtureFile,
    "request.json": RequestFile,
    "response.json": ResponseFile,
    "tools.json": ToolsFile,
    "session.json": SessionTestFile,
  };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "The files of a fixture folder of reprise, by name",
    $defs: Object.fromEntries(
      Object.entries(definitions).map(([name, file]) => {
        const { $schema: _, ...definition } = z.toJSONSchema(file);
        return [name, definition];
      }),
    ),
  };
}

/** A row for each provider; its variables in the order in which they count. */
function providersTable(): string {
  const list = (names: readonly string[]) => names.map(code).join(", else ");
  const rows = PROVIDER_KINDS.map((kind) => {
    const { urlVariables, defaultUrl, keyVariables, keylessOnLoopback } = PROVIDERS[kind];
    const key = `${list(keyVariables.map(({ name }) => name))}${
      keylessOnLoopback ? "; optional on this machine" : ""
    }`;
    const url = `${list(urlVariables)}${defaultUrl === null ? "" : `, else \`${defaultUrl}\``}`;
    return [code(kind), PROVIDER_NAMES[kind], key, url];
  });
  return table(["`-p`", "API provider", "key", "base URL"], rows);
}

/** The variables that lead clients to common APIs. */
function upstreamsTable(): string {
  const opening = { always: "always", key: "URL or key is set", set: "URL is set" };
  const rows = KNOWN_UPSTREAMS.map(({ variable, api, keys, defaultUrl, opens }) => [
    api,
    code(variable),
    keys.map((key) => code(key.variable)).join(", "),
    defaultUrl ?? "",
    opening[opens],
  ]);
  return table(["API", "base URL", "keys", "default", "has a port if"], rows);
}

function rulesTable(rules: readonly ApiRule[]): string {
  const rows = rules.map((rule) => {
    const { name, summary, grade, exactText } = rule;
    const answer = NOT_CHECKED.has(name) ? "does not check" : isAnswered(rule) ? "refuses" : "warns";
    const text = exactText && answer === "refuses" ? ", exact" : "";
    return [code(name), summary, `${code(grade)}: ${answer}${text}`];
  });
  return table(["rule", "requirement", "grade: `serve`"], rows);
}
