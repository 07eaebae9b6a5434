import assert from "node:assert/strict";
import { Output, type OutputOptions } from "../../../src/cli/output.ts";
import { countedChunksSync, Progress } from "../../../src/cli/progress.ts";

/** An output, a clock that is set, and everything that was written to stderr. */
function observed(
  { isTerminal, ci = "", ...options }: Partial<OutputOptions> & { isTerminal: boolean; ci?: string },
) {
  let text = "";
  let now = 0;
  const stream = {
    isTerminal: () => isTerminal,
    writeSync(bytes: Uint8Array) {
      text += new TextDecoder().decode(bytes);
      return bytes.length;
    },
  };
  const output = new Output({ json: false, quiet: false, colour: false, ...options }, {
    ...{ stdout: { ...stream, isTerminal: () => false, writeSync: (bytes: Uint8Array) => bytes.length } },
    stderr: stream,
    exit: () => {},
  });
  const clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
  const ports = { clock, env: (name: string) => name === "CI" ? ci : undefined };
  return { output, ports, text: () => text, at: (ms: number) => now = ms };
}

Deno.test("progress on a terminal begins after a second, and its line is gone at the end", () => {
  const { output, ports, text, at } = observed({ isTerminal: true });
  const progress = new Progress(output, ports);
  at(999);
  progress.step(() => "early");
  assert.equal(text(), "");
  at(2100);
  progress.step(() => "checking a\n\x1b[2J");
  assert.equal(text(), "\rchecking a \u241b[2J (2 s)\x1b[K", "an escape in a name is inert");
  progress.step(() => "too soon");
  progress.end();
  progress.end();
  assert.ok(text().endsWith("\x1b[K\r\x1b[K"), JSON.stringify(text()));
});

Deno.test("a line of output removes the line of progress first", () => {
  const { output, ports, text, at } = observed({ isTerminal: true });
  const progress = new Progress(output, ports);
  at(61_000);
  progress.step(() => "checking");
  output.note("found");
  assert.equal(text(), "\rchecking (1 min 1 s)\x1b[K\r\x1b[Kfound\n");
});

Deno.test("progress in the log of a CI system is a line every 30 seconds", () => {
  const { output, ports, text, at } = observed({ isTerminal: false, ci: "true" });
  const progress = new Progress(output, ports);
  for (let seconds = 1; seconds < 100; seconds++) {
    at(seconds * 1000);
    progress.step(() => "checking");
  }
  progress.end();
  assert.equal(text(), "checking (30 s)\nchecking (1 min 0 s)\nchecking (1 min 30 s)\n");
});

Deno.test("progress prints nothing with --quiet or --json, and nothing into a pipe outside of CI", () => {
  for (
    const options of [
      { isTerminal: true, quiet: true },
      { isTerminal: true, json: true },
      { isTerminal: false, ci: "true", quiet: true },
      { isTerminal: false, ci: "true", json: true },
      { isTerminal: false },
      { isTerminal: false, ci: "false" },
    ]
  ) {
    const { output, ports, text, at } = observed(options);
    const progress = new Progress(output, ports);
    at(100_000);
    const chunks = [...countedChunksSync([new Uint8Array(3)], progress, "exporting")];
    assert.deepEqual([chunks.length, text(), progress.isShown], [1, "", false]);
  }
});
