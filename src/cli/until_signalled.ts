/** How a server of ours is asked to end. */
const ENDING = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const satisfies Partial<
  Record<Deno.Signal, number>
>;

/**
 * Waits for SIGINT, SIGTERM or SIGHUP, which are the ordinary end of a server: 0. `arm` is given a function that ends
 * the waiting too. A second signal ends the process at once: what was published is whole.
 */
export async function untilSignalled(arm: (end: () => void) => void): Promise<0> {
  const ended = Promise.withResolvers<void>();
  let asked = false;
  for (const [name, exitCode] of Object.entries(ENDING)) {
    Deno.addSignalListener(name as keyof typeof ENDING, () => {
      if (asked) Deno.exit(exitCode);
      asked = true;
      ended.resolve();
    });
  }
  arm(() => ended.resolve());
  await ended.promise;
  return 0;
}
