/**
 * Checks what no linter knows, with one regular expression over the files of the checkout for each rule.
 *
 * Usage: `deno run -A scripts/check_house.ts [DIR]`; one line for each finding, exit code 1 when there are any.
 *
 * @module
 */
import { tmpdir } from "node:os";
import { posix, resolve } from "node:path";
import { withoutComments } from "./house/source_text.ts";
import { circles, exports, homes, rooms, type Rule } from "./house/structure.ts";
import { readTree, type SourceFile } from "./house/tree.ts";
import { say } from "./terminal.ts";

/** Libraries that one folder of src/ wraps, so that changing the library changes one folder. */
const WRAPPED = ("remote/aws4fetch cli/commander cli/diff cli/marked domain/ipaddr.js " +
  "prices/@pydantic/genai-prices transport/ws fixture/yaml").split(" ");

/** The rules by name, for a checkout of these files; `machine` are names of this machine, which no file may hold. */
export function rulesFor(files: readonly SourceFile[], machine: readonly string[]): Record<string, Rule> {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const textOf = (path: string) => texts.get(path) ?? "";
  const mayImport = importTable(textOf("docs/architecture.md"));
  return {
    imports: {
      files: /^(?:main|src\/.*)\.ts$/,
      view: withoutComments,
      find: /^[ \t]*(?:import|export)\s(?:[^"';]*?\sfrom\s+)?"([^"\n]+)"|\bimport\(\s*(?:"([^"\n]+)")?/gm,
      check: ({ 1: fixed, 2: specifier = fixed }, path) => {
        if (specifier === undefined) return "Imports a computed name: the binary would lack the module";
        if (fixed === undefined && specifier.startsWith("node:")) {
          return `Imports "${specifier}" when it is needed: scripts in the executable cannot`;
        }
        const folder = path === "main.ts" ? path : path.split("/")[1] ?? "";
        if (!specifier.startsWith(".")) {
          const library = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0];
          const home = WRAPPED.find((each) => each.endsWith(`/${library}`))?.split("/")[0] ?? folder;
          return home === folder ? null : `Imports "${specifier}": only src/${home} may`;
        }
        const target = posix.join(posix.dirname(path), specifier);
        const to = target.startsWith("src/") ? target.split("/")[1] ?? "" : "";
        const allowed = mayImport.get(folder) ?? "nothing: it is not in the table";
        if (to === folder || allowed.split(", ").includes(to)) return null;
        if (allowed === "all of them" && mayImport.has(to)) return null;
        return `Imports "${target}": ${folder} may import ${allowed}`;
      },
    },
    printing: never(
      // The second is the stdout of the first, which also prints before the output is loaded.
      /^src\/(?!cli\/(?:live_ports|start\/streams)\.ts$).*\.ts$/,
      /\bconsole\.|\b(?:Deno|process)\.(?:stdout|stderr)\b/g,
      "only src/cli/output.ts prints, and makes control characters visible",
    ),
    process: never(
      // The ports; programs that serve until a signal comes, which no step of a session test does; a change of directory.
      /^src\/(?!(?:cli\/(?:live_ports|start\/(?:begin|streams)|serve\/server_run)|tools\/writing\/replace_file)\.ts$).*\.ts$/,
      /\b(?:Deno|process)\.(?:exit|exitCode|stdin|cwd)\b/g,
      "take it from ProgramPorts of src/cli/live_ports.ts",
    ),
    environment: never(
      /^src\/(?!cli\/environment\.ts$).*\.ts$/,
      /\b(?:Deno|process)\.env\b/g,
      "take readVariable of src/cli/environment.ts, or Ports.env",
    ),
    "foreign code": never(
      // One loads the scripts in the executable, one asks the C library for a call that the runtime lacks.
      /^src\/(?!(?:cli\/start\/embedded_script|tools\/shell\/children)\.ts$).*\.ts$/,
      /\b(?:Deno|process)\.dlopen\b|\bcreateRequire\b|\bnode:vm\b|\bnew (?:Function|Worker)\b|\bWebAssembly\./g,
      "the binary has all permissions, so it loads its own modules only",
    ),
    children: never(
      // The second waits for its child before anything else runs.
      /^src\/(?!(?:tools\/shell\/children|cli\/machine_values)\.ts$).*\.ts$/,
      /\bnew Deno\.Command\b/g,
      "start it with spawn of src/tools/shell/children.ts, or as PID 1 its end may be missed",
    ),
    doors: never(
      // The harness of kills drives the store's writer; one module of support calls the program.
      /^tests\/(?!(?:crash|unit)\/|support\/in_process\.ts$).*\.ts$/,
      /"(?:\.\.\/)+src\/[^"]+\.ts"/g,
      "a test outside tests/unit calls the program, so that its inside can be rebuilt",
    ),
    purity: never(
      /^src\/(?:apis|compaction|domain|fold)\/.*\.ts$/,
      /\bDeno\.|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\bcrypto\.(?:randomUUID|getRandomValues)\b|\bfetch\(|\bset(?:Timeout|Interval)\(/g,
      "the folder is pure: take it as an argument or a port",
    ),
    "names of APIs": {
      // The second has the kinds of provider that files of sessions and fixtures name.
      files: /^src\/(?!apis\/|domain\/fingerprint\.ts$).*\.ts$/,
      view: withoutComments,
      // A comparison with a kind of provider; a string; a name in identifiers and paths.
      find:
        /[!=]== ?"(?:openai|azure|compatible)"|"(?:openai|azure|compatible)" ?[!=]==|(["'`])(?<string>(?:\\.|(?!\1)[^\\\n])*)\1|\b\w*(?:[aA]nthropic|ANTHROPIC)\w*\b|\b(?:is|asks)Messages\b|\b(?:messages|responses)Api\b|\\\/\(?(?:messages|responses)\b/g,
      check: ({ 0: what, groups }) => {
        const isName = /^(?:anthropic(?:-[a-z-]+)?|\/?(?:v1\/)?(?:messages|responses)(?:\/[a-z_]+)?)$/;
        if (!isName.test(groups?.["string"] ?? "messages")) return null;
        return `Names an API or provider: ${what}: take it from the Api value or a row of src/apis`;
      },
    },
    spreads: never(
      /^src\/.*\.ts$/,
      /\.\.\.\{ |\.\.\.\[[^\]]*\](?: as const)?,$/gm,
      "write the members themselves, on as many lines as the formatter takes",
    ),
    length: {
      files: /^(?:main\.ts|(?:src|tests|scripts|bench|npm)\/.*\.(?:ts|js|mjs|cjs))$/,
      find: /^(?:.*\n){400}(?=[^])/g,
      check: () => "Has more than 400 lines: split it by idea",
    },
    "length of functions": {
      files: /^src\/.*\.ts$/,
      find: /^(?:export )?(?:async )?function\*? (\w+)[^]*?^\}$/gm,
      check: ([text, name = ""]) => {
        const lines = text.split("\n").length;
        return lines <= 80 ? null : `${name} has ${lines} lines, and 80 are read at once: split it`;
      },
    },
    docstrings: {
      files: /^src\/.*\.ts$/,
      find: /\/\*\*(?:\n \*)? (?:What|Whose|Who|How|Where|Which)\b/g,
      check: () => "Begins with a question: begin with a verb or a noun phrase",
    },
    leaks: leaks(machine),
    citations: citations(textOf("src/apis/protocol.md")),
    ...links(texts),
    "tests run": testsRun(textOf),
    homes: homes(files),
    exports: exports(files),
    circles: circles(files),
    rooms: rooms(files),
  };
}

/** A rule against each match of `find` in code. */
function never(files: RegExp, find: RegExp, instead: string): Rule {
  return { files, view: withoutComments, find, check: ([what]) => `Uses "${what}": ${instead}` };
}

/** The table of docs/architecture.md: for each folder of src/, the folders that it may import beside itself. */
function importTable(page: string): ReadonlyMap<string, string> {
  const [, table = ""] = /^\| folder .*\n.*\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm)].flatMap(([, folders = "", allowed = ""]) =>
    folders.split(", ").map((folder) => [folder, allowed] as const)
  );
  return new Map([...rows, ["main.ts", "cli"]]);
}

/** No file names paths in a home but made-up ones, hosts of package registries and their mirrors, or `machine`. */
function leaks(machine: readonly string[]): Rule {
  const home =
    /(?<![\w.$}~])(?:(?:\/home\/|\/Users\/|[A-Z]:\\Users\\)(?!(?:user|you|me|alice|bob)\b)[A-Za-z_][\w.-]*|\/root(?=\/))/;
  const registry =
    /\b(?:registry|npm|artifactory|nexus|verdaccio)[\w-]*(?:\.[a-z0-9-]+)+\.(?:org|com|io|net|dev|cloud|internal|local|lan)\b|\bjsr\.io\b/;
  const own = machine.map((text) => `(?<![\\w.-])${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`);
  const find = new RegExp([home.source, registry.source, ...own].join("|"), "g");
  return { files: /./, find, check: ([what]) => `Names a home, a machine or a registry: "${what}"` };
}

/** Cited sections of the protocol exist. Sections of RFCs are cited with the same sign. */
function citations(protocol: string): Rule {
  const headings = protocol.matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm);
  const sections = new Set([...headings].map(([, number]) => number));
  return {
    files: /\.(?:ts|md)$/,
    find: /(?<!RFC \d+ )§(\d+(?:\.\d+)*)(?:[–-](\d+(?:\.\d+)*))?/g,
    check: ([, first, last = first]) => {
      const missing = [first, last].find((number) => !sections.has(number));
      return missing === undefined
        ? null
        : `Cites section ${missing}, which src/apis/protocol.md does not have`;
    },
  };
}

/** Links of pages, and pages that the program and its scripts name, lead to files, folders and headings of the checkout. */
function links(texts: ReadonlyMap<string, string>): Record<"links" | "links of messages", Rule> {
  const blank = (text: string) => text.replace(/[^\n]/g, " ");
  const withoutFences = (text: string) => text.replace(/^( *)(```+)[^]*?^\1\2 *$/gm, blank);
  const paths = [...texts.keys()];
  const anchorsOf = (path: string) =>
    [...withoutFences(texts.get(path) ?? "").matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replace(/[^\p{L}\p{N}\p{M} _-]/gu, "").replaceAll(" ", "-")
    );
  const missing = (target: string, anchor: string | undefined) => {
    if (!paths.some((each) => `${each}/`.startsWith(`${target}/`))) {
      return `Links ${target}, which does not exist`;
    }
    if (anchor === undefined || !target.endsWith(".md") || anchorsOf(target).includes(anchor)) return null;
    return `Links #${anchor}: ${target} has no such heading`;
  };
  return {
    links: {
      files: /^(?!fixtures\/|tests\/).*\.md$/,
      view: (text) => withoutFences(text).replace(/`[^`\n]*`/g, blank),
      find: /\]\((?![a-z][a-z+.-]*:)([^()\s#]*)(?:#([^()\s]*))?\)/g,
      check: ([, file = "", anchor], path) =>
        missing(file === "" ? path : posix.join(posix.dirname(path), file).replace(/\/$/, ""), anchor),
    },
    "links of messages": {
      files: /^(?!fixtures\/|tests\/).*\.(?:ts|c?js|py|sh|ya?ml|json)$/,
      find: /(?<![\w./-])(docs\/[\w/-]+(?:\.\w+)+)(?:#([\w-]+))?/g,
      check: ([, target = "", anchor]) => missing(target, anchor),
    },
  };
}

/** Each test below tests/ is in a folder that a task names, or that a file which it names loads. */
function testsRun(textOf: (path: string) => string): Rule {
  const tasks: Record<string, { command?: string }> = JSON.parse(textOf("deno.json") || "{}").tasks ?? {};
  const runs = Object.values(tasks).map(({ command = "" }): [string[], string[]] => {
    const loaders = [...command.matchAll(/ (tests\/\w+\.ts)(?!\S)/g)].map(([, path = ""]) => textOf(path));
    const loaded = [...loaders.join().matchAll(/"(\w+)"/g)].map(([, name]) => `tests/${name}`);
    return [[...command.split(" "), ...loaded], /--ignore=(\S+)/.exec(command)?.[1]?.split(",") ?? []];
  });
  const check = (_: RegExpExecArray, path: string) => {
    const isIn = (folders: string[]) => folders.some((folder) => `${path}/`.startsWith(`${folder}/`));
    return runs.some(([run, ignored]) => isIn(run) && !isIn(ignored)) ? null : "No task of deno.json runs it";
  };
  return { files: /^tests\/.*_test\.ts$/, find: /^/g, check };
}

/** One line for each place that breaks a rule, by path and rule. */
export function checkHouse(files: readonly SourceFile[], machine: readonly string[]): string[] {
  const rules = Object.entries(rulesFor(files, machine));
  return files.flatMap(({ path, text }) =>
    rules.filter(([, rule]) => rule.files.test(path)).flatMap(([name, { view, find, check }]) => {
      const viewed = view?.(text) ?? text;
      return [...viewed.matchAll(find)].flatMap((match) => {
        const message = check(match, path);
        const line = viewed.slice(0, match.index).split("\n").length;
        return message === null ? [] : [`${path}:${line}: ${name}: ${message}`];
      });
    })
  );
}

/** Checks the checkout at `root`, prints with `print`, and returns the exit code. */
export function main(root: string, print: (line: string) => void): number {
  // Tests and docs hold names of short paths and of temp directories for their own reasons.
  const isSpecific = root.split("/").length > 2 && !root.startsWith(`${tmpdir()}/`);
  const registry = URL.parse(Deno.env.get("npm_config_registry") ?? Deno.env.get("NPM_CONFIG_REGISTRY") ?? "")
    ?.host;
  const files = readTree(root);
  const findings = checkHouse(files, [...(isSpecific ? [root] : []), ...(registry ? [registry] : [])]);
  for (const finding of findings) print(finding);
  print(`Checked ${files.length} files, findings: ${findings.length}`);
  return findings.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(main(resolve(Deno.args[0] ?? "."), say));
