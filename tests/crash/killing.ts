/** Parts of the harnesses that kill processes at many points. */
import assert from "node:assert/strict";
import type { Started } from "../support/reprise.ts";

/** Sends a signal to a process; one that was quicker has a point after its end. */
export function signal({ process }: Started, name: Deno.Signal): void {
  try {
    process.kill(name);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Calls `act` for each item, `lanes` at a time; fails with the failures of all. Returns the results. */
export async function inLanes<T, R>(
  lanes: number,
  items: Iterable<T>,
  act: (item: T) => Promise<R>,
): Promise<R[]> {
  const queue = [...items];
  const results: R[] = [];
  const wrong: string[] = [];
  await Promise.all(Array.from({ length: lanes }, async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        results.push(await act(item));
      } catch (error) {
        wrong.push(`${JSON.stringify(item)}: ${error}`);
      }
    }
  }));
  assert.deepEqual(wrong, []);
  return results;
}

/** Resolves after this time. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
