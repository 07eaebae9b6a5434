/** Machines that are killed and continue each other's runs, against a gateway that fails meanwhile. */
import assert from "node:assert/strict";
import { Dice } from "../support/dice.ts";
import { scaled } from "../support/scale.ts";
import { startLossyProxy } from "./lossy_proxy.ts";
import { type Acknowledged, Machine } from "./machine.ts";
import { assertOneHistory, turnsOn } from "./one_history.ts";
import { environmentOf, Objects, withGateway } from "./place.ts";

const ROUNDS = scaled(10, 200);
const RACES = scaled(3, 20);
const RACERS = 8;
const SESSION = "shared-7k2m";
const SEED = Number(Deno.env.get("REPRISE_SEED") ?? 7);

withGateway(
  `two machines, killed and cut off in ${ROUNDS} rounds, lose no acknowledged turn`,
  async (place) => {
    const { gateway, sandbox } = place;
    const dice = new Dice(SEED);
    const proxy = startLossyProxy(gateway.endpoint, () => dice.chance(0.04));
    const acknowledged: Acknowledged = new Map();
    const around = {
      session: SESSION,
      directory: sandbox.workspace,
      env: { ...environmentOf(place, "s3://tests/soak"), AWS_ENDPOINT_URL: proxy.endpoint },
    };
    const [a, b] = ["a", "b"].map((name) => new Machine(name, around)) as [Machine, Machine];
    const codes = new Map<number, number>();
    const note = (code: number) => codes.set(code, (codes.get(code) ?? 0) + 1);
    try {
      const calm = async (machine: Machine) => {
        for (let tries = 1;; tries++) {
          const isThere = acknowledged.size > 0 || machine.home === b.home;
          const args = [...isThere ? [] : ["--new"], "--take-over", "Go"];
          const { code, stdout } = await machine.run(acknowledged, { args });
          if (code === 0) return;
          assert.ok(tries < 20, `exit code ${code}: ${stdout}`);
          // A first run whose answer was lost has created the session.
          if (stdout.includes("session_exists")) acknowledged.set(0, "");
        }
      };
      await calm(a);
      acknowledged.delete(0);
      for (let round = 1; round <= ROUNDS; round++) {
        const [one, other] = dice.chance(0.5) ? [a, b] : [b, a];
        const trouble = dice.chance(0.15)
          ? gateway.killGateway().then(() => gateway.startGateway()).then(() => gateway.ready())
          : dice.chance(0.25)
          ? paused(gateway, dice.count(0, 500))
          : Promise.resolve();
        const args = ["--take-over", "--timeout", "20", `Round ${round}`];
        const runs = [one.run(acknowledged, { args, killAfterMs: dice.count(40, 640) })];
        if (dice.chance(0.3)) runs.push(other.run(acknowledged, { args }));
        for (const { code } of await Promise.all(runs)) note(code);
        await trouble;
      }
      await calm(a);
      // B gets the newest turns of A, and adds the last ones.
      await calm(b);
      const there = await turnsOn(new Objects(gateway, "soak"), SESSION);
      assertOneHistory(acknowledged, [there, b.turns()]);
      for (const [number, text] of a.turns()) assert.equal(text, there.get(number), `turn ${number} of A`);
      for (const machine of [a, b]) {
        const args = ["fsck", SESSION, "--home", machine.home];
        const { code, stdout } = await sandbox.call(args);
        assert.equal(code, 0, stdout);
      }
      assert.ok(proxy.dropped() > 0, "no answer was dropped");
      assert.ok((codes.get(137) ?? 0) > 0, `no run was killed: ${JSON.stringify([...codes])}`);
    } finally {
      proxy.stop();
    }
  },
);

async function paused(
  gateway: { signalGateway(signal: "SIGSTOP" | "SIGCONT"): void },
  milliseconds: number,
): Promise<void> {
  gateway.signalGateway("SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  gateway.signalGateway("SIGCONT");
}

withGateway(`${RACERS} homes that race for one session get each turn once`, async (place) => {
  const acknowledged: Acknowledged = new Map();
  const around = {
    session: SESSION,
    directory: place.sandbox.workspace,
    env: environmentOf(place, "s3://tests/race"),
  };
  const machines = Array.from({ length: RACERS }, (_, index) => new Machine(`home-${index}`, around));
  const [first] = machines as [Machine];
  assert.equal((await first.run(acknowledged, { args: ["--new", "Go"] })).code, 0);
  for (let race = 1; race <= RACES; race++) {
    const args = ["--take-over", `Race ${race}`];
    const ended = await Promise.all(machines.map((machine) => machine.run(acknowledged, { args })));
    for (const { code, stdout } of ended) assert.ok(code === 0 || code === 5, stdout);
    assert.ok(ended.some(({ code }) => code === 5), "no race was lost");
  }
  const { code, stdout } = await first.run(acknowledged, { args: ["--take-over", "Last"] });
  assert.equal(code, 0, stdout);
  assertOneHistory(acknowledged, [first.turns()]);
});
