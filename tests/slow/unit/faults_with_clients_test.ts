/** The table of docs/faults.md says what clients do: each cell is held against a client that meets the fault. */
import assert from "node:assert/strict";
import { type Fault, FAULT_FORMS, parseFault } from "../../../src/fixture/faults/fault.ts";
import { parseFaults } from "../../../src/fixture/faults/plan.ts";
import { createPlaybook } from "../../../src/fixture/serve/replayer.ts";
import { type ServeEvent, startReplayServer } from "../../../src/fixture/serve/server.ts";
import {
  after,
  type Observed,
  officialClient,
  officialOutcome,
  ownClient,
} from "../../unit/fixture/faults/observed.ts";
import { type Api, recorded } from "../../unit/fixture/faults/recorded.ts";
import { fixture } from "../../unit/fixture/serve/given.ts";
import { realClock } from "../../unit/transport/support.ts";

const TEXT = Deno.readTextFileSync(new URL("../../../docs/faults.md", import.meta.url));

/** Lines with their four cells. */
const ROWS = TEXT.slice(TEXT.indexOf("## What clients do")).split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))
  .map(([fault = "", ...cells]) => ({ fault: fault.slice(1, -1), cells }));

/** A server asks for the wait; without that, it is shorter. */
const ASKED: Readonly<Record<string, number>> = { "429 retry-after 1": 1000, "429 retry-after-ms 900": 900 };

const CLIENTS: readonly ((plan: ReturnType<typeof parseFaults>) => Promise<Observed>)[] = [
  (plan) => ownClient("responses", plan),
  (plan) => ownClient("messages", plan),
  (plan) => officialClient("responses", plan),
  (plan) => officialClient("messages", plan),
];

/** What makes a fault another kind of fault; numbers and words do not. */
function kindOf(fault: Fault): string {
  const { kind } = fault;
  if ("at" in fault) return `${kind} ${"unit" in fault.at ? fault.at.unit : fault.at.inside}`;
  if (kind === "error") return `${kind} ${fault.shape}`;
  if (kind === "noise") return fault.noise;
  return kind === "status" ? `${kind} ${fault.status} ${Object.keys(fault.headers)}` : kind;
}

Deno.test("docs/faults.md tells of every form of a fault what clients make of it", () => {
  const told = ROWS.flatMap(({ fault }) =>
    fault.replace(/^[^:]*:/, "").split(",").filter((one) => one.trim() !== "ok")
      .map((one) => kindOf(parseFault(one)).split(" ")[0])
  );
  const forms = FAULT_FORMS.map(({ example }) => kindOf(parseFault(example)).split(" ")[0]);
  assert.deepEqual(forms.filter((form) => !told.includes(form)), []);
  const kinds = ROWS.map(({ fault }) => fault);
  for (
    const line of ["cut mid-line", "cut mid-utf8", "error flat", "error nested", "429", "500", "503", "529"]
  ) {
    assert.ok(kinds.includes(line), line);
  }
});

Deno.test("every client ends as docs/faults.md says, waits for as long as a server asks, and none hangs", async () => {
  assert.ok(ROWS.length > 30);
  await Promise.all(ROWS.map(async ({ fault, cells }) => {
    const plan = parseFaults(fault);
    const observed = await Promise.all(CLIENTS.map((client) => client(plan)));
    assert.deepEqual(observed.map(({ words }) => words), cells, fault);
    const asked = ASKED[fault];
    for (const [first] of observed.map(({ waits }) => waits)) {
      // Timers may fire a little early. Nothing asked: 375 to 500 ms.
      if (asked !== undefined) assert.ok((first ?? 0) >= asked - 20, `${fault}: waited ${first} ms`);
    }
  }));
});

/** Faults that each API writes in a shape of its own. */
const IN_SHAPE_OF_API = /^(?:\d-\d: )?(?:error|failed|incomplete|no terminal|unknown|keepalives|fail|\d{3})/;

Deno.test("in a fixture of both APIs each answer breaks as those of its own API do, whatever provider the fixture names", async () => {
  const given = (["responses", "messages"] as const).map((api) => ({
    path: `/v1/${api}`,
    request: {},
    response: new TextDecoder().decode(recorded(api).body),
  }));
  const lines = ROWS.filter(({ fault }) => IN_SHAPE_OF_API.test(fault));
  assert.ok(lines.length > 15);
  const served = async (provider: "openai" | "anthropic", api: Api, fault: string) => {
    const events: ServeEvent[] = [];
    const server = startReplayServer({
      playbook: createPlaybook([fixture(given, { provider })], { match: "sequence", rules: null }),
      faults: parseFaults(fault),
      pace: Infinity,
      clock: realClock,
      port: 0,
      onEvent: (event) => events.push(event),
    });
    try {
      const outcome = await officialOutcome(api, server.origin);
      const requests = events.filter(({ type }) => type === "played" || type === "faulted");
      assert.ok("fault" in (requests[0] ?? {}), fault);
      return `${outcome}${after(requests.length - 1)}`;
    } finally {
      await server.stop();
    }
  };
  await Promise.all(lines.map(async ({ fault, cells: [, , ...cells] }) => {
    for (const provider of ["openai", "anthropic"] as const) {
      const outcomes = [
        await served(provider, "responses", fault),
        await served(provider, "messages", fault),
      ];
      assert.deepEqual(outcomes, cells, `${fault} (${provider})`);
    }
  }));
});
