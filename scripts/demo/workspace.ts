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
