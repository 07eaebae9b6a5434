/// <reference lib="deno.worker" />
import type { Swap } from "./swapping.ts";

/** `AT_FDCWD` and `RENAME_EXCHANGE` of Linux. */
const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;

/** Worker: swaps a directory for a link to another one and back, as fast as it can, until it gets a message. */
self.onmessage = (event: MessageEvent<Swap>) => {
  const shared = new Int32Array(event.data.shared);
  using step = event.data.exchange ? exchanging(event.data) : renaming(event.data);
  self.postMessage("started");
  for (let swaps = 0; Atomics.load(shared, 0) === 0; Atomics.store(shared, 1, ++swaps)) step.swap(swaps);
  step.restore();
  self.postMessage("stopped");
};

interface Swapping extends Disposable {
  readonly swap: (count: number) => void;
  /** Leaves the directory in its place. */
  readonly restore: () => void;
}

/** Four renames a swap; for some microseconds nothing has the directory's name. */
function renaming({ real, aside, link, rest }: Swap): Swapping {
  return {
    swap: (count) => {
      move(real, aside);
      move(link, real);
      move(real, link);
      move(aside, real);
      // Rests of different lengths, so that swaps meet every step of a call, and some calls succeed.
      pause((count % 7) * rest);
    },
    restore: () => {},
    [Symbol.dispose]: () => {},
  };
}

/** One `renameat2(RENAME_EXCHANGE)` a swap: the name is always there, and always leads to one of the two. */
function exchanging({ real, link }: Swap): Swapping {
  const library = Deno.dlopen("libc.so.6", {
    renameat2: { parameters: ["i32", "buffer", "i32", "buffer", "u32"], result: "i32" },
  });
  const [first, second] = [real, link].map((path) => new TextEncoder().encode(`${path}\0`)) as [
    Uint8Array<ArrayBuffer>,
    Uint8Array<ArrayBuffer>,
  ];
  const swap = () => {
    const failed = library.symbols.renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE) !== 0;
    if (failed) throw new Error(`renameat2 cannot exchange ${real} and ${link}`);
  };
  return {
    swap,
    restore: () => {
      if (Deno.lstatSync(real).isSymlink) swap();
    },
    [Symbol.dispose]: () => library.close(),
  };
}

function pause(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/** Renames; a directory that a tool created in the place meanwhile is removed first. */
function move(from: string, to: string): void {
  while (true) {
    try {
      return Deno.renameSync(from, to);
    } catch {
      try {
        Deno.removeSync(to, { recursive: true });
      } catch {
        // The tool still creates things in it: once more.
      }
    }
  }
}
