/** Prompts and workspace of the demo, which its fixtures were recorded with. */

/** The session that the demo makes. */
export const DEMO_SESSION = "demo";

/** Prompts of the demo: of the first run, then of the second in a new process. */
export const DEMO_PROMPTS = [
  "Order 17 comes out one cent too high. Find out why, fix it, and run check.sh.",
  "How much tax did the old sum charge for that order?",
] as const;

/** Permissions of the demo's runs beside reading: write files, and run exactly one command. */
export const DEMO_PERMISSIONS = ["--allow", "write", "--allow", "shell:sh check.sh"] as const;

const SOURCE = new URL("../../fixtures/demo/workspace/", import.meta.url).pathname;

/** Copies the demo's workspace to a scratch directory, which its runs then change. */
export async function copyWorkspace(target: string): Promise<void> {
  await copyDirectory(SOURCE.replace(/\/$/, ""), target);
}

async function copyDirectory(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyDirectory(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}
