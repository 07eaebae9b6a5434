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
  /** One `Int32`: not 0 once the worker is to stop. */
  readonly stop: SharedArrayBuffer;
}

/**
 * Runs `body` while another thread swaps `directory` of the workspace for a link to the directory outside and
 * back, thousands of times a second.
 */
export async function whileSwapping(
  workspace: Workspace,
  directory: string,
  body: () => void | Promise<void>,
): Promise<void> {
  workspace.write("link", { link: workspace.outside });
  const worker = new Worker(new URL("./swapper.ts", import.meta.url), { type: "module" });
  const said = () => new Promise<void>((resolve) => worker.onmessage = () => resolve());
  const inRoot = (name: string) => join(workspace.root, name);
  const swap: Swap = {
    real: inRoot(directory),
    aside: inRoot("aside"),
    link: inRoot("link"),
    stop: new SharedArrayBuffer(4),
  };
  const started = said();
  worker.postMessage(swap);
  await started;
  try {
    await body();
  } finally {
    const stopped = said();
    Atomics.store(new Int32Array(swap.stop), 0, 1);
    await stopped;
    worker.terminate();
  }
}
