/**
 * The grid of docs/certify.md says what clients do on a bad day of their API: each cell is compared with the client itself.
 * Cells that take minutes, such as stalls, are run by the soak only.
 */
import assert from "node:assert/strict";
import { LACKS_AGENTS } from "./npm_packages.ts";
import { needing } from "../support/needs.ts";
import { sectionOf } from "../support/page.ts";
import { said } from "../support/reprise.ts";
import { IS_SOAK } from "../support/scale.ts";
import { CERTIFIED, type Certified, CertifiedSandbox, OVER_SOCKET } from "./certifying.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/certify.md", import.meta.url));
/** Rows of the grid: names of faults, then the cells of each client. */
const [HEADER = [], , ...ROWS] = sectionOf(PAGE, "Clients").split("\n").filter((line) => line.startsWith("|"))
  .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));

/** Verdicts of a client as its column has them, by fault: of call and answer, or one for both. */
async function column(client: Certified, faults: readonly string[]): Promise<Record<string, string>> {
  await using sandbox = await CertifiedSandbox.recorded(client);
  const called = await sandbox.certify(["--faults", faults.join(",")]);
  assert([0, 7].includes(called.code), said(called));
  const { cells } = JSON.parse(called.stdout);
  const shown = (verdict: string | undefined, bad: boolean) =>
    verdict === undefined ? "-" : bad ? verdict.toUpperCase() : verdict;
  return Object.fromEntries(faults.map((fault) => {
    // deno-lint-ignore no-explicit-any
    const found = cells.filter((cell: any) => cell.fault === fault);
    const [call, answer] = ["call", "answer"].map((kind) => {
      // deno-lint-ignore no-explicit-any
      const cell = found.find((each: any) => each.kind === kind);
      return shown(cell?.verdict, cell?.bad);
    });
    return [fault, call === answer ? call : `${call} / ${answer}`];
  })) as Record<string, string>;
}

/** Faults with which every client may wait for minutes. */
const SLOW = ["stall", "429-hour"];
const isSlow = ({ slow = [] }: Certified, fault: string) => [...SLOW, ...slow].includes(fault);
const faultsOf = (client: Certified, slow: boolean) =>
  ROWS.map(([fault = ""]) => fault).filter((fault) => isSlow(client, fault) === slow);

async function assertColumn(client: Certified, slow: boolean): Promise<void> {
  const place = HEADER.indexOf(client.name);
  assert(place > 0, `no column ${client.name}`);
  const faults = faultsOf(client, slow);
  const expected = ROWS.filter(([fault = ""]) => faults.includes(fault)).map((row) => [row[0], row[place]]);
  assert.deepEqual(await column(client, faults), Object.fromEntries(expected), client.name);
}

for (const client of CERTIFIED) {
  Deno.test({
    ...needing(`certify: ${client.name} meets the faults as docs/certify.md says`, LACKS_AGENTS),
    fn: () => assertColumn(client, false),
  });
}

Deno.test({
  ...needing(
    "certify: all clients meet stalls, long waits and outages as docs/certify.md says",
    LACKS_AGENTS,
    IS_SOAK ? null : "only in the soak",
  ),
  fn: async () => void await Promise.all(CERTIFIED.map((client) => assertColumn(client, true))),
});

Deno.test(`certify: ${OVER_SOCKET.name} has no bad cell`, async () => {
  await using sandbox = await CertifiedSandbox.recorded(OVER_SOCKET);
  const called = await sandbox.certify(["--faults", faultsOf(OVER_SOCKET, false).join(",")]);
  assert.equal(called.code, 0, said(called));
  assert(JSON.parse(called.stdout).cells.length >= 25);
});
