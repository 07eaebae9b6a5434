/** Registers tests that do not run in every suite. `Deno.test` itself is for tests that are quick everywhere. */
type Register = typeof Deno.test;

const SUITE = Deno.env.get("REPRISE_SUITE");
const SAMPLES = (Deno.env.get("REPRISE_BIN") ?? "") !== "" && Deno.env.get("REPRISE_SOAK") !== "1";
const ONE_IN = 10;

/** Registers a test if `runs` is true for its name. */
function only(runs: (name: string) => boolean): Register {
  const register = (...args: unknown[]) => {
    const [first] = args as [string | { readonly name: string }];
    if (runs(typeof first === "string" ? first : first.name)) Reflect.apply(Deno.test, Deno, args);
  };
  return Object.assign(register, Deno.test) as unknown as Register;
}

/** Returns true if a call that runs in this process runs on the binary too: one in ten, always the same ones. */
function isSampled(name: string): boolean {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  return sum % ONE_IN === 0;
}

const isFast = SUITE === "fast";
const row = only((name) => !SAMPLES || isSampled(name));

/** See the module. The test itself calls the program in this process, and one in ten on the binary. */
export const test = Object.assign(row, {
  /**
   * Registers a test that takes long, starts a process or waits for a timer. The suite `fast` leaves it out, and `unit`
   * runs it.
   */
  long: only((name) => !isFast && (!SAMPLES || isSampled(name))),
  /** Registers a test that needs the program as a process: the suite `cli` runs it, `fast` and `unit` do not. */
  process: only(() => SUITE === undefined),
});
