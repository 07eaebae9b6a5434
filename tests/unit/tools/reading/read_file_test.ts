import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { locate, openFile } from "../../../../src/tools/sandbox_path.ts";
import { readFile, readWindow } from "../../../../src/tools/reading/read_file.ts";
import { searchText } from "../../../../src/tools/reading/search_text.ts";
import { Workspace } from "../workspace.ts";
import { test } from "../../../support/test.ts";

type Args = { path: string; offset?: number; limit?: number };
const call = (workspace: Workspace, { path, offset, limit }: Args, maxOutputChars?: number) =>
  readFile.run(
    { path, offset: offset ?? null, limit: limit ?? null },
    workspace.context(maxOutputChars === undefined ? {} : { maxOutputChars }),
  );

Deno.test("read_file numbers lines and names the next offset", async () => {
  using workspace = new Workspace({ "a.txt": "one\ntwo\nthree\n" });
  assert.deepEqual(await call(workspace, { path: "a.txt" }), {
    status: "ok",
    output: "1\tone\n2\ttwo\n3\tthree",
  });
  assert.equal(
    (await call(workspace, { path: "a.txt", limit: 2 })).output,
    "1\tone\n2\ttwo\n[Lines 1 to 2 of 3; continue with offset 3]",
  );
  assert.equal((await call(workspace, { path: "a.txt", offset: 3, limit: 9 })).output, "3\tthree");
});

Deno.test("read_file answers odd windows and odd files with what is the case", async () => {
  using workspace = new Workspace({
    "a.txt": "one\ntwo",
    "empty": "",
    "newline": "\n",
    "crlf": "a\r\nb\r\n",
    "dir/x": "",
  });
  assert.equal((await call(workspace, { path: "empty" })).output, "[The file is empty]");
  assert.equal((await call(workspace, { path: "newline" })).output, "1\t");
  assert.equal((await call(workspace, { path: "crlf" })).output, "1\ta\r\n2\tb\r");
  const rows: [Args, RegExp][] = [
    [{ path: "a.txt", offset: 3 }, /^Cannot read from line 3: the file has 2 lines$/],
    [{ path: "a.txt", offset: 0 }, /lines count from 1/],
    [{ path: "a.txt", limit: 0 }, /must be 1 or more/],
    [{ path: "dir" }, /it is a directory/],
    [{ path: "gone" }, /no such file/],
    [{ path: "../x" }, /outside the workspace/],
  ];
  for (const [args, message] of rows) {
    const { status, output } = await call(workspace, args);
    assert.equal(status, "error");
    assert.match(output, message);
  }
});

Deno.test("read_file shows bytes that are not UTF-8 with a mark and keeps the originals", async () => {
  const bytes = new Uint8Array([0x61, 0xff, 0x0a, 0x62, 0x0a]);
  using workspace = new Workspace({ "latin": bytes });
  const { status, output, full } = await call(workspace, { path: "latin" });
  assert.equal(status, "ok");
  assert.match(output, /^1\ta\ufffd\n2\tb\n\[Not UTF-8: /);
  assert.deepEqual(full, { bytes, lossy: true });
});

Deno.test("read_file refuses binary files by their first bytes and reports their size", async () => {
  using workspace = new Workspace({ "b.bin": new Uint8Array([1, 2, 0, 3]), "late": `${"x".repeat(9000)}\0` });
  assert.deepEqual(await call(workspace, { path: "b.bin" }), {
    status: "error",
    output: "Cannot read b.bin: it is a binary file of 4 bytes",
  });
  assert.equal((await call(workspace, { path: "late" })).status, "ok");
});

Deno.test("read_file cuts long lines and long outputs and keeps the whole", async () => {
  const long = `${"é".repeat(3000)}\n`;
  const many = Array.from({ length: 900 }, (_, index) => `line ${index} 😀`).join("\n");
  using workspace = new Workspace({ long, many });
  const cut = await call(workspace, { path: "long" });
  assert.equal(cut.output, `1\t${"é".repeat(2000)} [… 1000 more characters in this line]`);
  assert.equal(new TextDecoder().decode(cut.full?.bytes), long);
  const tail = await call(workspace, { path: "many" }, 600);
  assert(tail.output.length <= 600 && tail.output.isWellFormed());
  assert.match(tail.output, /^1\tline 0 .*characters left out.*900\tline 899 😀$/s);
  assert.match(
    new TextDecoder().decode(tail.full?.bytes),
    /^1\tline 0 .*\n450\tline 449 .*900\tline 899 😀$/s,
  );
});

test.long("read_file never waits on a FIFO or reads a device through a link", async () => {
  using workspace = new Workspace({ "zero": { link: "/dev/zero" } });
  workspace.makeFifo("pipe");
  assert.match((await call(workspace, { path: "pipe" })).output, /it is a FIFO/);
  assert.match((await call(workspace, { path: "zero" })).output, /leads outside/);
});

Deno.test("read_file stops when the run is aborted and leaves nothing open", async () => {
  using workspace = new Workspace({ "a.txt": "x\n".repeat(2_000_000) });
  const reason = new Error("stop");
  const aborted = readFile.run(
    { path: "a.txt", offset: 1, limit: 1 },
    workspace.context({
      signal: AbortSignal.abort(reason),
    }),
  );
  await assert.rejects(aborted, reason);
  const controller = new AbortController();
  const running = readFile.run(
    { path: "a.txt", offset: 1_900_000, limit: 1 },
    workspace.context({
      signal: controller.signal,
    }),
  );
  controller.abort(reason);
  await assert.rejects(running, reason);
});

Deno.test("read_file reads nothing more once the run is aborted", async () => {
  const controller = new AbortController();
  let reads = 0;
  const endless = {
    size: 0,
    read: (buffer: Uint8Array) => {
      if (++reads === 3) controller.abort(new Error("stop"));
      return Promise.resolve(buffer.length);
    },
    close: () => {},
  };
  const options = { first: 1, count: 10, signal: controller.signal, maxBytes: Infinity };
  // 0x61 instead of the NUL bytes that would make it binary.
  const letters = { ...endless, read: async (buffer: Uint8Array) => await endless.read(buffer.fill(0x61)) };
  await assert.rejects(readWindow(letters, options), /stop/);
  assert.equal(reads, 3);
});

test.long("tools leave no file open, whatever becomes of the call", async () => {
  using workspace = new Workspace({ "a.txt": "text", "binary": new Uint8Array([0, 1]) });
  const openFiles = () => [...Deno.readDirSync("/dev/fd")].length;
  await call(workspace, { path: "a.txt" });
  const before = openFiles();
  for (let round = 0; round < 50; round++) {
    await call(workspace, { path: "a.txt" });
    await call(workspace, { path: "a.txt", offset: 99 });
    await call(workspace, { path: "binary" });
    await searchText.run({ pattern: "t", path: null, glob: null, ignore_case: null }, workspace.context());
  }
  assert(openFiles() < before + 50, `${before} files were open before, ${openFiles()} after`);
});

test.long("read_file refuses a window over its cap and reads a small one out of the same file", async () => {
  using workspace = new Workspace({ "wide": `first\n${"x".repeat(17 * 1024 * 1024)}\nlast` });
  const whole = await call(workspace, { path: "wide" });
  assert.equal(whole.status, "error");
  assert.match(whole.output, /hold more than 16777216 bytes/);
  assert.equal((await call(workspace, { path: "wide", offset: 3 })).output, "3\tlast");
});

Deno.test("read_file reads a window of a file of 3 GiB without reading on", async () => {
  using workspace = new Workspace();
  const path = join(workspace.root, "huge");
  Deno.writeTextFileSync(path, "one\ntwo\n");
  // A hole without disk space: its NUL bytes are after the bytes that decide between binary and text.
  Deno.writeTextFileSync(path, "x\n".repeat(300_000), { append: true });
  Deno.truncateSync(path, 3 * 1024 ** 3);
  assert.equal(
    (await call(workspace, { path: "huge", offset: 2, limit: 2 })).output,
    "2\ttwo\n3\tx\n[Lines 2 to 3 of more; continue with offset 4]",
  );
});

test.long("read_file windows hold exactly the lines of the file, wherever reads end", async () => {
  using workspace = new Workspace();
  const line = fc.array(fc.constantFrom("a", "é", "\r", " "), { maxLength: 6 }).map((parts) =>
    parts.join("")
  );
  const content = fc.tuple(fc.array(line, { maxLength: 12 }), fc.boolean()).map(([lines, end]) =>
    lines.join("\n") + (end ? "\n" : "")
  );
  const numbers = fc.integer({ min: 1, max: 14 });
  await fc.assert(
    fc.asyncProperty(content, numbers, numbers, numbers, async (text, first, count, step) => {
      workspace.write("f", text);
      const file = openFile(workspace.root, locate(workspace.root, "f"));
      try {
        const short = { ...file, read: (buffer: Uint8Array) => file.read(buffer.subarray(0, step)) };
        const window = await readWindow(short, { first, count, signal: new AbortController().signal });
        const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
        const wanted = all.slice(first - 1, first - 1 + count);
        assert(window.kind === "lines");
        assert.equal(new TextDecoder().decode(window.bytes), wanted.join(""));
        assert.equal(window.lines, wanted.length);
        assert.equal(window.total, all.length);
      } finally {
        file.close();
      }
    }),
    { numRuns: 300 },
  );
});
