/**
 * Creates everything that the store can create, under the umask that is given. Usage: umask_program.ts UMASK HOME
 *
 * @module
 */
import { openHome } from "../../../src/store/home.ts";
import { newWriter, testPorts, userDraft } from "./support.ts";

const [umask, path] = Deno.args as [string, string];
Deno.umask(parseInt(umask, 8));
const ports = testPorts();
const writer = await newWriter(ports, openHome(ports, path, { create: true }));
const turn = writer.append(userDraft("hello"));
// Another writer takes the next number, so that quarantine/ is needed.
Deno.linkSync(`${writer.path}/turns/000001.json`, `${writer.path}/turns/000002.json`);
try {
  writer.append({ kind: "tools", run: turn.run, events: userDraft("late").events });
  throw new Error("The writer did not notice the other one");
} catch (error) {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "session_diverged") throw error;
}
writer.close();
