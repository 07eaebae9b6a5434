/**
 * A process that takes and gives back the lock of a session on command, for the races: `take` answers with
 * `held MS` or `refused CODE PID MS`, `drop` with `dropped`, `append` with `saved TURN SUM` or `refused CODE`.
 *
 * Usage: racer.ts HOME [naive], where `naive` is a lock that is a file's existence.
 *
 * @module
 */
import { RepriseError } from "../../src/domain/errors.ts";
import { isJsonObject } from "../../src/domain/json.ts";
import { openHome } from "../../src/store/home.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";
import { appendNext, ID, testPorts } from "./sessions.ts";

const [homePath, naive = ""] = Deno.args as [string, string?];
const ports = testPorts();
const home = openHome(ports, homePath);
const naivePath = `${home.sessions}/${ID}/.naive-lock`;
let writer: SessionWriter | null = null;

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

async function take(): Promise<void> {
  const start = performance.now();
  const spent = () => Math.round(performance.now() - start);
  if (naive !== "") {
    if (ports.files.facts(naivePath) !== null) return say(`refused exists 0 ${spent()}`);
    // A program works between a look and its next act.
    await new Promise((resolve) => setTimeout(resolve, 5));
    Deno.writeTextFileSync(naivePath, String(Deno.pid));
    return say(`held ${spent()}`);
  }
  try {
    writer = await SessionWriter.open(ports, home, { id: ID, waitMs: 0 });
    say(`held ${spent()}`);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    const owner = error.details?.owner;
    say(`refused ${error.code} ${isJsonObject(owner) ? owner.pid : 0} ${spent()}`);
  }
}

function append(): void {
  try {
    if (writer === null) throw new TypeError("Nothing is held");
    const { turn, sum } = appendNext(writer);
    say(`saved ${turn} ${sum}`);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    say(`refused ${error.code}`);
  }
}

/** Another holder may have removed it: that is what such a lock is like. */
function removeNaive(): void {
  try {
    Deno.removeSync(naivePath);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function drop(): void {
  writer?.close();
  writer = null;
  if (naive !== "") removeNaive();
  say("dropped");
}

const commands = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
let rest = "";
for await (const text of commands) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    if (line === "take") await take();
    else if (line === "append") append();
    else if (line === "drop") drop();
  }
}
