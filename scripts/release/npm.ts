import { RepriseError } from "../../src/domain/errors.ts";
import { outputOf, run } from "../process.ts";
import type { Release } from "./assets.ts";

/**
 * Packs the npm packages of all targets into `out` with `deno task pack`.
 *
 * @param binaries The folder of the executables.
 * @param licenses The file with the licenses of the packages in them.
 * @throws {RepriseError} `unexpected` if packing fails.
 */
export async function packForNpm(
  release: Release,
  binaries: string,
  licenses: string,
  out: string,
): Promise<void> {
  const url = `git+https://github.com/${release.repository}.git`;
  const args = [
    "--target",
    "all",
    "--binaries",
    binaries,
    "--licenses",
    licenses,
    "--repository",
    url,
    "--out",
    out,
  ];
  const packed = await run(Deno.execPath(), ["task", "pack", ...args], { cwd: release.root });
  if (packed.code !== 0) throw new RepriseError("unexpected", `Cannot pack for npm: ${outputOf(packed)}`);
}
