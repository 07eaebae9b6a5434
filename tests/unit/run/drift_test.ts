/** Changes that a resume finds, and their effects. */
import assert from "node:assert/strict";
import type { Pins } from "../../../src/domain/turn.ts";
import { type PinChange, pinChanges } from "../../../src/run/pins.ts";
import { pinsFor } from "../store/support.ts";
import { answer, message } from "../../support/responses_server.ts";
import { refusedSession } from "./refusing.ts";
import { textsBelow } from "../../support/files.ts";
import { test } from "../../support/test.ts";

const BEFORE: Pins = pinsFor();

/** A change of each pin alone. */
const CHANGES: Readonly<Record<Exclude<PinChange["pin"], "provider">, Pins>> = {
  endpoint: { ...BEFORE, fingerprint: { ...BEFORE.fingerprint, endpoint: "00000000" } },
  model: { ...BEFORE, model: "gpt-5.6-mini" },
  effort: { ...BEFORE, effort: "high" },
  summary: { ...BEFORE, summary: "auto" },
  instructions: { ...BEFORE, instructions: "1".repeat(64) },
  tools: { ...BEFORE, tools: "2".repeat(64) },
  permissions: { ...BEFORE, permissions: ["read", "write"] },
  workspace: { ...BEFORE, workspace: "/elsewhere" },
};

Deno.test("each pin that differs is reported alone, with before, now and its effect", () => {
  for (const [pin, now] of Object.entries(CHANGES)) {
    const [drift, ...more] = pinChanges(BEFORE, now);
    assert.equal(drift?.pin, pin);
    assert.deepEqual(more, []);
    assert.notDeepEqual(drift?.before, drift?.now);
    assert.match(String(drift?.effect), /reasoning|replay/);
    assert.match(String(drift?.effect), /cache/);
  }
});

Deno.test("another provider is reported as such", () => {
  const fingerprint = { ...BEFORE.fingerprint, provider: "other" } as unknown as Pins["fingerprint"];
  assert.deepEqual(pinChanges(BEFORE, { ...BEFORE, fingerprint }).map(({ pin }) => pin), ["provider"]);
});

Deno.test("pins that are the same are no drift, and an account that is not known yet is none either", () => {
  assert.deepEqual(pinChanges(BEFORE, structuredClone(BEFORE)), []);
  const known = { ...BEFORE, fingerprint: { ...BEFORE.fingerprint, account: "7be1000000000000" } };
  assert.deepEqual(pinChanges(known, BEFORE), []);
});

Deno.test("drift of several pins comes in one fixed order", () => {
  const now: Pins = {
    ...CHANGES.workspace,
    model: "other",
    tools: "2".repeat(64),
    instructions: "1".repeat(64),
  };
  assert.deepEqual(pinChanges(BEFORE, now).map(({ pin }) => pin), [
    "model",
    "instructions",
    "tools",
    "workspace",
  ]);
});

test.long("strict drift refuses before anything is written: no turn, no blob, no request", async () => {
  const script = () => answer([message("Done.")]);
  await refusedSession({ script }, async ({ run, path, server, turns }) => {
    await run("One");
    // As a kill leaves it: the run is open, and closing it would be a write.
    Deno.removeSync(`${path}/turns/${String(turns().length).padStart(6, "0")}.json`);
    Deno.removeSync(`${path}/manifest.json`);
    const before = textsBelow(path, "lock");
    for (const changed of [{ instructions: "Be loud." }, { model: "other" }, { workspaceRoot: "/usr" }]) {
      await assert.rejects(run("Two", { ...changed, strictDrift: true }), {
        code: "drifted",
        exitCode: 2,
        message: /since its last run these differ: (instructions|model|workspace)$/,
      });
    }
    assert.deepEqual(textsBelow(path, "lock"), before);
    assert.equal(server.requests.length, 1);
    assert.equal((await run("Two", { strictDrift: true })).ended.state, "completed", "nothing differs");
  });
});
