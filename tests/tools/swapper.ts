/// <reference lib="deno.worker" />
import type { Swap } from "./swapping.ts";

/** Worker: swaps a directory for a link to another one and back, as fast as it can, until it is told to stop. */
self.onmessage = (event: MessageEvent<Swap>) => {
  const { real, aside, link } = event.data;
  const shared = new Int32Array(event.data.shared);
  self.postMessage("started");
  for (let swaps = 0; Atomics.load(shared, 0) === 0; Atomics.store(shared, 1, ++swaps)) {
    move(real, aside);
    move(link, real);
    move(real, link);
    move(aside, real);
    // Rests of ever other lengths, so that swaps fall on every step of a call, and some calls get through.
    rest((swaps % 7) * event.data.rest);
  }
  self.postMessage("stopped");
};

function rest(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/** Renames; a directory that a tool made anew in the place meanwhile goes first. */
function move(from: string, to: string): void {
  while (true) {
    try {
      return Deno.renameSync(from, to);
    } catch {
      try {
        Deno.removeSync(to, { recursive: true });
      } catch {
        // The tool goes on making things in it: once more.
      }
    }
  }
}
