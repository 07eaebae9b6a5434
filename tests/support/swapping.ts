import { join } from "node:path";

/** Input of the swapping worker. */
export interface Swap {
  /** The directory that is swapped. */
  readonly real: string;
  /** Its place while the link has its name. */
  readonly aside: string;
  /** The link that takes its place. */
  readonly link: string;
  /** Two `Int32`: not 0 once the worker is to stop, and how many swaps it has done. */
  readonly shared: SharedArrayBuffer;
  /** A seventh of the longest rest between two swaps, in milliseconds. */
  readonly rest: number;
  /** Swaps by `renameat2(RENAME_EXCHANGE)`, without a rest. Linux only. */
  readonly exchange: boolean;
}

/** The two directories of a race. */
export interface Places {
  readonly root: string;
  /** The directory that the link leads to. */
  readonly outside: string;
}

/**
 * Runs `body` while another thread swaps `directory` of the workspace for a link to the directory outside and
 * back: thousands of times a second, with `exchange` more than a hundred thousand times.
 */
export async function whileSwapping(
  { root, outside }: Places,
  directory: string,
  body: (swaps: () => number) => void | Promise<void>,
  options: { readonly rest?: number; readonly exchange?: boolean } = {},
): Promise<void> {
  Deno.symlinkSync(outside, join(root, "link"));
  const worker = new Worker(new URL("./swapper.ts", import.meta.url), { type: "module" });
  const said = () => new Promise<void>((resolve) => worker.onmessage = () => resolve());
  const inRoot = (name: string) => join(root, name);
  const swap: Swap = {
    real: inRoot(directory),
    aside: inRoot("aside"),
    link: inRoot("link"),
    shared: new SharedArrayBuffer(8),
    rest: options.rest ?? 0,
    exchange: options.exchange === true,
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
