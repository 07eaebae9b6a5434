import assert from "node:assert/strict";
import fc from "fast-check";
import { turnFileName } from "../../../src/domain/turn.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import type { Home } from "../../../src/store/home.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { readForShow } from "../../../src/store/read/show.ts";
import { MemoryDisk, READ_ONLY } from "./memory_disk.ts";
import {
  answer,
  call,
  endDraft,
  ID,
  modelDraft,
  newWriter,
  portsOn,
  result,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { bytesBelow } from "../../support/files.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

interface Sample {
  readonly home: Home;
  readonly disk: MemoryDisk;
  readonly turns: readonly string[];
}

/** A closed session of five turns, in memory. */
async function sample(): Promise<Sample> {
  return await withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    writer.append(modelDraft([call("call_a")]));
    writer.append({ kind: "tools", run: 1, events: [result("call_a", 2)] });
    writer.append(modelDraft([answer("Done.")]));
    writer.append(endDraft());
    writer.close();
    const turns = [1, 2, 3, 4, 5].map((turn) => `${writer.path}/turns/${turnFileName(turn)}`);
    const disk = new MemoryDisk();
    for (const [path, bytes] of bytesBelow(home.path, "lock")) disk.write(`${home.path}/${path}`, bytes);
    return { home, disk, turns };
  });
}

/** Runs `body` with one file replaced. */
async function withBytes(
  disk: MemoryDisk,
  path: string,
  bytes: Uint8Array,
  body: () => Promise<void>,
): Promise<void> {
  const original = disk.read(path) as Uint8Array;
  disk.write(path, bytes);
  await body();
  disk.write(path, original);
}

async function assertFound({ home, disk }: Sample, path: string, where: string): Promise<void> {
  const ports = portsOn(disk.files(READ_ONLY));
  const inside = path.slice(`${home.sessions}/${ID}/`.length);
  const { findings } = await fsckSession(ports, home, ID);
  assert.ok(
    findings.some((finding) =>
      finding.severity === "error" && finding.code === "bad_sum" && finding.path === inside
    ),
    `fsck overlooks ${where}: ${JSON.stringify(findings)}`,
  );
  assert.throws(
    () => readSession(ports, home, ID),
    (error: { code?: string; message?: string }) =>
      error.code === "session_damaged" && error.message?.includes(inside) === true,
    `read accepts ${where}`,
  );
}

Deno.test("the sample is sound, so that whatever is found below comes from the damage", async () => {
  const { home, disk } = await sample();
  const ports = portsOn(disk.files(READ_ONLY));
  assert.deepEqual((await fsckSession(ports, home, ID)).findings, []);
  assert.equal(readSession(ports, home, ID).turns.length, 5);
});

test.long("every truncation of every turn, the newest included, is found by fsck and refused by readers", async () => {
  const session = await sample();
  for (const path of session.turns) {
    const whole = session.disk.read(path) as Uint8Array;
    for (let length = 0; length < whole.length; length++) {
      await withBytes(
        session.disk,
        path,
        whole.subarray(0, length),
        () => assertFound(session, path, `${path} cut to ${length} bytes`),
      );
    }
  }
});

test.long(`${samples(10_000)} random bit flips in turns are found by fsck and refused by readers`, async () => {
  const session = await sample();
  let state = 20261121;
  const random = (below: number) => (state = (state * 48271) % 2147483647) % below;
  for (let flip = 0; flip < samples(10_000); flip++) {
    const path = session.turns[random(session.turns.length)] as string;
    const bytes = (session.disk.read(path) as Uint8Array).slice();
    const bit = random(bytes.length * 8);
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
    await withBytes(session.disk, path, bytes, () => assertFound(session, path, `bit ${bit} of ${path}`));
  }
});

test.long("anything appended, prepended or filled with zero bytes is found", async () => {
  const session = await sample();
  await fc.assert(
    fc.asyncProperty(
      fc.nat(4),
      fc.uint8Array({ minLength: 1, maxLength: 20 }),
      fc.constantFrom("append", "prepend", "zero"),
      async (index, noise, how) => {
        const path = session.turns[index] as string;
        const whole = session.disk.read(path) as Uint8Array;
        const at = (noise[0] as number) % whole.length;
        const bytes = how === "append"
          ? Uint8Array.of(...whole, ...noise)
          : how === "prepend"
          ? Uint8Array.of(...noise, ...whole)
          : whole.map((byte, position) => position >= at && position < at + 16 ? 0 : byte);
        await withBytes(session.disk, path, bytes, () => assertFound(session, path, `${how} of ${path}`));
      },
    ),
    { numRuns: 300, seed: 7 },
  );
});

Deno.test("show prints every sound turn of a damaged session and names the others", async () => {
  const session = await sample();
  const path = session.turns[2] as string;
  await withBytes(session.disk, path, new Uint8Array(0), () => {
    const shown = readForShow(portsOn(session.disk.files(READ_ONLY)), session.home, ID);
    assert.deepEqual(shown.turns.map(({ number }) => number), [1, 2, 4, 5]);
    assert.deepEqual(shown.problems.map((problem) => problem.path), ["turns/000003.json"]);
    return Promise.resolve();
  });
});

Deno.test("show names the turns that are missing, one or many, and prints the others", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    for (const run of [1, 2, 3]) {
      writer.append(userDraft("hello", run));
      writer.append(endDraft(run));
    }
    writer.close();
    for (const turn of [1, 3, 4]) Deno.removeSync(`${writer.path}/turns/${turnFileName(turn)}`);
    const shown = readForShow(testPorts(), home, ID);
    assert.deepEqual(shown.turns.map(({ number }) => number), [2, 5, 6]);
    assert.deepEqual(shown.problems, [
      { path: "turns/000002.json", message: "turn 1 is missing before it" },
      { path: "turns/000005.json", message: "turns 3 to 4 are missing before it" },
    ]);
  }));
