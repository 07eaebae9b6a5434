/**
 * `collected_server.ts FIXTURE PACE`: `serve` on a port that it prints; whenever something comes on stdin, it prints the
 * bytes that are held after a full collection. Needs `--v8-flags=--expose-gc`, which a compiled binary cannot be given.
 */
import { say } from "../../scripts/terminal.ts";
import { HereRun } from "../support/in_process.ts";

const [path = "", pace = "fast"] = Deno.args;
const folder = Deno.makeTempDirSync({ prefix: "reprise-collected-" });
const port = `${folder}/port`;
const run = new HereRun({
  args: ["serve", "--quiet", "--pace", pace, "--port-file", port, path],
  cwd: folder,
  env: { HOME: folder, REPRISE_HOME: folder },
  stdin: new Uint8Array(0),
});
void run.ended.then(({ code, stderr }) => code === 0 || say(stderr));
let listening = "";
while (listening === "") {
  await new Promise((resolve) => setTimeout(resolve, 20));
  listening = await Deno.readTextFile(port).catch(() => "");
}
say(listening.trim());
for await (const _asked of Deno.stdin.readable) {
  for (let times = 0; times < 3; times++) {
    (globalThis as unknown as { gc(): void }).gc();
    // Finalizers run after a collection; the next collection takes the memory that they held.
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const { heapUsed, external } = Deno.memoryUsage();
  say(String(heapUsed + external));
}
run.stop();
await run.ended;
Deno.removeSync(folder, { recursive: true });
