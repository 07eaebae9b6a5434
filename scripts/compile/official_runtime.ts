/** Looks whether Deno's server has the runtime: a build that cannot reach it should know soon, and not after all retries. */
import { outputOf, run } from "../process.ts";
import { RUNTIME_VERSION } from "./runtime_from_npm.ts";
import { type Target, TARGETS } from "./targets.ts";

/** Longest wait for the server, in milliseconds. */
export const TRY_MS = 5000;

/** Returns where `deno compile` downloads the runtime of a platform from. */
export function officialUrl(target: Target): string {
  return `https://dl.deno.land/release/v${RUNTIME_VERSION}/denort-${TARGETS[target]}.zip`;
}

/** Returns the reason why nothing can be downloaded from `url`, in words; `null` if it can. Waits {@linkcode TRY_MS} at most. */
export async function whyUnreachable(url: string, waitMs: number = TRY_MS): Promise<string | null> {
  const code = `try {
    const { ok, status } = await fetch(${
    JSON.stringify(url)
  }, { method: "HEAD", signal: AbortSignal.timeout(${waitMs}) });
    if (!ok) throw new Error("status " + status);
  } catch (error) {
    console.error(error.cause?.message ?? error.message);
    Deno.exit(1);
  }`;
  // With the authorities of the compiler, which downloads next. Nothing is left over: the wait ends in there.
  const tried = await run(Deno.execPath(), ["eval", "--quiet", code], {
    env: { NO_COLOR: "1", DENO_TLS_CA_STORE: "mozilla,system" },
  });
  if (tried.code === 0) return null;
  return outputOf(tried).split("\n", 1)[0]?.replace(/^error sending request for url \([^)]*\): /, "") ?? "";
}
