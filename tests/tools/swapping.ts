import { join } from "node:path";
import type { Workspace } from "./workspace.ts";

/** What the swapping worker is told. */
export interface Swap {
  /** The directory that is swapped. */
  readonly real: string;
  /** Where it goes meanwhile. */
  readonly aside: string;
  /** The link that takes its place. */
  readonly link: string;
  /** Two `Int32`: not 0 once the worker is to stop, and how many swaps it has done. */
  readonly shared: SharedArrayBuffer;
  /** A seventh of the longest rest between two swaps, in milliseconds. */
  readonly rest: number;
}

/**
 * Runs `body` while another thread swaps `directory` of the workspace for a link to the directory outside and
 * back, thousands of times a second.
 */
export async function whileSwapping(
  workspace: Workspace,
  directory: string,
  body: (swaps: () => number) => void | Promise<void>,
  options: { readonly rest: number } = { rest: 0 },
): Promise<void> {
  workspace.write("link", { link: workspace.outside });
  const worker = new Worker(new URL("./swapper.ts", import.meta.url), { type: "module" });
  const said = () => new Promise<void>((resolve) => worker.onmessage = () => resolve());
  const inRoot = (name: string) => join(workspace.root, name);
  const swap: Swap = {
    real: inRoot(directory),
    aside: inRoot("aside"),
    link: inRoot("link"),
    shared: new SharedArrayBuffer(8),
    rest: options.rest,
  };
  const shared = new Int32Array(swap.shared);
  const started = said();
  worker.postMessage(swap);
  await started;
  try {
    await body(() => Atomics.load(shared, 1));
  } finally {
    const stopped = said();
    Atomics.store(shared, 0, 1);
    await stopped;
    worker.terminate();
  }
}
