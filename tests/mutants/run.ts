/**
 * `deno task mutants [--only=TEXT] [--near] [PATH]…`: tries each logic error of `mutants.ts` in a copy of the checkout,
 * and names the test that notices it. Runs the tests of the mutant's area, then, without `--near`, the other unit tests;
 * or only those of each PATH. `--only` selects the mutants with TEXT in their file. The exit code is 1 if one survives.
 */
import { dirname, join } from "node:path";
import { runScript, say } from "../../scripts/terminal.ts";
import { type Mutant, MUTANTS } from "./mutants.ts";

const ROOT = join(import.meta.dirname ?? ".", "../..");
const LIMIT_MS = 15 * 60_000;
/** Folders of tests of the repository, not of the program. */
const OTHER = ["scripts", "npm", "bench"];
/** Loads all test files in one process: most of the time of a small file goes to loading the program's modules. */
const BATCH = "mutant_test.ts";

/** The first test that failed, or the reason why none ran to its end. */
interface Failure {
  /** `null` without a test. */
  readonly file: string | null;
  readonly what: string;
}

async function main(args: readonly string[]): Promise<number> {
  const only = args.find((arg) => arg.startsWith("--only="))?.slice("--only=".length) ?? "";
  const given = args.filter((arg) => !arg.startsWith("--"));
  const copy = await copyCheckout();
  let survivors = 0;
  const killers = new Map<string, number>();
  for (const mutant of MUTANTS.filter(({ file }) => file.includes(only))) {
    const failure = await failureOf(mutant, copy, { given, near: args.includes("--near") });
    if (failure?.file === null || failure === null) survivors++;
    const verdict = failure === null ? "SURVIVED" : failure.file === null ? "UNKNOWN " : "killed  ";
    say(`${verdict} ${mutant.file}: ${mutant.promise}`);
    const door = failure?.file?.replace(/^tests\//, "").replace(/\/[^/]*$/, "") ?? "nothing";
    killers.set(door, (killers.get(door) ?? 0) + 1);
    if (failure !== null) say(`         ${failure.file ?? "no test"}: ${failure.what}`);
  }
  say([...killers].sort().map(([door, count]) => `${count} by ${door}`).join(", "));
  say(`${survivors} not killed`);
  await Deno.remove(dirname(copy), { recursive: true });
  return survivors === 0 ? 0 : 1;
}

/** Runs the tests with a mutant; `null` if all pass. */
async function failureOf(
  { file, text, replacement, area }: Mutant,
  copy: string,
  { given, near }: { readonly given: readonly string[]; readonly near: boolean },
): Promise<Failure | null> {
  const first = given.length > 0 ? given : area.map((path) => `tests/${path}`);
  const all = near || given.length > 0 ? [] : [...Deno.readDirSync(join(copy, "tests/unit"))]
    .map(({ name }) => `tests/unit/${name}`).filter((path) => !OTHER.some((name) => path.endsWith(name)));
  const seen = testsBelow(copy, first);
  const source = Deno.readTextFileSync(join(copy, file));
  Deno.writeTextFileSync(join(copy, file), source.replace(text, () => replacement));
  const failure = await runTests(copy, seen) ??
    await runTests(copy, testsBelow(copy, all.sort()).filter((path) => !seen.includes(path)));
  Deno.writeTextFileSync(join(copy, file), source);
  if (failure === null || failure.file === null) return failure;
  const before = await runTests(copy, failure.file.endsWith("_test.ts") ? [failure.file] : seen);
  return before === null ? failure : { file: null, what: `without the mutant fails too: ${before.what}` };
}

/** Runs test files up to the first failure; `null` if all pass. */
async function runTests(copy: string, files: readonly string[]): Promise<Failure | null> {
  if (files.length === 0) return null;
  const imports = files.map((file) => `await import(${JSON.stringify(`./${file}`)});\n`);
  Deno.writeTextFileSync(join(copy, BATCH), imports.join(""));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--no-check", "--fail-fast", BATCH],
    cwd: copy,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill("SIGKILL");
  }, LIMIT_MS);
  const { success, stdout, stderr } = await child.output();
  clearTimeout(timer);
  if (success) return null;
  if (late) return { file: null, what: `no end within ${LIMIT_MS / 60_000} minutes` };
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  const [, what, at] = /^(.+) => (?:\.\/)?(\S+?):\d+:\d+$/m.exec(output) ?? [];
  if (at === undefined || what === undefined) return { file: null, what: output.trim().slice(-500) };
  // A runner of rows registers its tests in a file of its own; the stack, or what ran alone, names the file of the rows.
  const [alone, ...others] = files;
  const named = [at, ...output.match(/tests\/[\w/-]+_test\.ts/g) ?? []].find((path) =>
    path.endsWith("_test.ts")
  );
  return { file: named ?? (others.length === 0 ? alone : at) ?? at, what };
}

function testsBelow(copy: string, paths: readonly string[]): string[] {
  return paths.flatMap((path): string[] => {
    if (!Deno.statSync(join(copy, path)).isDirectory) return path.endsWith("_test.ts") ? [path] : [];
    const names = [...Deno.readDirSync(join(copy, path))].map(({ name }) => `${path}/${name}`);
    return testsBelow(copy, names.sort());
  });
}

/** Copies the files of the checkout, with changes that are not committed. */
async function copyCheckout(): Promise<string> {
  const copy = join(await Deno.makeTempDir({ prefix: "reprise-mutants-" }), "checkout");
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = await new Deno.Command("git", { args: list, cwd: ROOT }).output();
  for (const name of new TextDecoder().decode(stdout).split("\0").filter((each) => each !== "")) {
    await Deno.mkdir(dirname(join(copy, name)), { recursive: true });
    // A removed file may still be listed.
    await Deno.copyFile(join(ROOT, name), join(copy, name)).catch(() => {});
  }
  // Some tests read recordings beside the checkout, if they are there.
  await Deno.symlink(join(ROOT, "../shared"), join(copy, "../shared"));
  return copy;
}

if (import.meta.main) await runScript(() => main(Deno.args));
