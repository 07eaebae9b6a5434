/** Registers tests of `tests/unit` that are not for the fast suite. */
export const test = {
  /**
   * Registers a test that takes long, starts a process or waits for a timer. The suite `fast` leaves it out, and `unit`
   * runs it.
   */
  long: Deno.env.get("REPRISE_SUITE") === "fast" ? Object.assign(() => {}, Deno.test) : Deno.test,
} as const;
