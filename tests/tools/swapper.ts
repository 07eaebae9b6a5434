/// <reference lib="deno.worker" />
import type { Swap } from "./swapping.ts";

/** Worker: swaps a directory for a link to another one and back, as fast as it can, until it is told to stop. */
self.onmessage = (event: MessageEvent<Swap>) => {
  const { real, aside, link } = event.data;
  const stop = new Int32Array(event.data.stop);
  self.postMessage("started");
  while (Atomics.load(stop, 0) === 0) {
    Deno.renameSync(real, aside);
    Deno.renameSync(link, real);
    Deno.renameSync(real, link);
    Deno.renameSync(aside, real);
  }
  self.postMessage("stopped");
};
