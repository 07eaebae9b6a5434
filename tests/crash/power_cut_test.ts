/**
 * Power cuts: the compiled binary works on a file system whose block device is recorded, write by write and flush by
 * flush; the power is cut at every moment of it, and the disk that is left is mounted and looked at.
 */
import assert from "node:assert/strict";
import { lacksBinary, lacksProgram, needing } from "../support/needs.ts";
import { type FileSystem, whyNoDisks } from "./power/machine.ts";
import { type SimulationOptions, type SimulationReport } from "./power/simulate.ts";
import { IS_SOAK, scaled } from "../support/scale.ts";

const binary = Deno.env.get("REPRISE_BIN") ?? "";
const SIMULATE = new URL("./power/simulate.ts", import.meta.url).pathname;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

/** Cuts in the gate, of more than a thousand: all of them are for a soak. */
const GATE_CUTS = 20;

/** Runs a simulation in a mount namespace of its own. */
async function simulated(options: Omit<SimulationOptions, "binary">): Promise<SimulationReport> {
  const { success, stdout, stderr } = await new Deno.Command("unshare", {
    args: [
      ...["-m", Deno.execPath(), "run", "-A", "--no-check", "--no-lock", "--config", CONFIG],
      ...[SIMULATE, JSON.stringify({ ...options, binary })],
    ],
    stdin: "null",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** Swallows fsyncs before the kernel sees them. */
function without(which: "every fsync" | "every second fsync"): readonly string[] {
  const when = which === "every fsync" ? "" : ":when=2+2";
  return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", `inject=fsync,fdatasync:retval=0${when}`];
}

// XFS takes a package that a gate must not ask for.
const fileSystems: readonly FileSystem[] = IS_SOAK ? ["ext4", "xfs"] : ["ext4"];

for (const fileSystem of fileSystems) {
  const whyNot = await whyNoDisks(fileSystem);
  if (whyNot !== null && IS_SOAK) throw new Error(`Cannot cut the power under ${fileSystem}: ${whyNot}`);

  const lacks = [lacksBinary(), lacksProgram("strace"), whyNot];
  Deno.test(
    needing(
      `after a power cut at any moment, ${fileSystem} holds every acknowledged turn, and the next run works`,
      ...lacks,
    ),
    async () => {
      const report = await simulated({
        fileSystem,
        cuts: scaled(GATE_CUTS, Number.MAX_SAFE_INTEGER),
        through: [],
      });
      assert.deepEqual(report.bad, []);
      assert.ok(report.acknowledged >= 25, `${report.acknowledged} turns`);
      assert.ok(report.flushes >= 100 && report.possible >= 500, JSON.stringify(report));
      assert.equal(report.cuts, scaled(GATE_CUTS, report.possible));
    },
  );

  for (const which of ["every fsync", "every second fsync"] as const) {
    Deno.test(
      needing(
        `without ${which}, the same cuts on ${fileSystem} lose turns: the simulation notices`,
        ...lacks,
      ),
      async () => {
        const { bad } = await simulated({ fileSystem, cuts: scaled(4, 40), through: without(which) });
        assert.match(bad.join("\n"), /turn \d+ of crash, which was acknowledged, is not there/);
      },
    );
  }
}
