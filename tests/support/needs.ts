/**
 * Parts of a machine that only some tests need. A test that lacks one is registered all the same, and ignored: its name
 * in the summary says what is missing.
 */
import { PROGRAM } from "./reprise.ts";

/** Missing part of the machine, as words in brackets after a name; `null` if it is there. */
export type Lack = string | null;

/** Options of a test that needs what `lacks` looked for. */
export function needing(name: string, ...lacks: readonly Lack[]): { name: string; ignore: boolean } {
  const missing = lacks.filter((lack) => lack !== null);
  return {
    name: missing.length === 0 ? name : `${name} (${missing.join(", ")})`,
    ignore: missing.length > 0,
  };
}

/** Looks for programs in `PATH`, or at absolute paths. */
export function lacksProgram(...names: readonly string[]): Lack {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  const missing = names.filter((name) =>
    !(name.startsWith("/") ? [name] : folders.map((folder) => `${folder}/${name}`)).some(isFile)
  );
  return missing.length === 0 ? null : `${missing.join(", ")} not installed`;
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** Looks at the operating system. */
export function lacksLinux(): Lack {
  return Deno.build.os === "linux" ? null : "only on Linux";
}

/** Looks for a root user, who may give files away, mount and drop rights. */
export function lacksRoot(): Lack {
  return Deno.build.os === "linux" && Deno.uid() === 0 ? null : "needs root on Linux";
}

/** Looks for the compiled binary, which `REPRISE_BIN` names. */
export function lacksBinary(): Lack {
  return PROGRAM.length === 1 ? null : "needs the binary";
}

/** Tries a command; without it, or if it fails, `what` is missing. */
export async function lacksCommand(command: readonly string[], what: string): Promise<Lack> {
  const [name = "", ...args] = command;
  const options = { args, stdin: "null", stdout: "null", stderr: "null" } as const;
  const done = await new Deno.Command(name, options).output().catch(() => null);
  return done?.success === true ? null : what;
}

/** Looks for modules of Debian's Python. */
export async function lacksPython(...modules: readonly string[]): Promise<Lack> {
  const command = ["/usr/bin/python3", "-c", modules.map((name) => `import ${name}`).join("\n")];
  return await lacksCommand(command, `Python with ${modules.join(" and ")} not installed`);
}
