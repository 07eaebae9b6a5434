/** Two homes with the gateway as their remote: its pages, refusals and outages. Other verbs are in tests/cli. */
import assert from "node:assert/strict";
import { events } from "../support/reprise.ts";
import { environmentOf, Objects, withGateway } from "./place.ts";

const SECRETS = /reprise-test-secret|REPRISETEST/;

withGateway("two homes share a session: runs, titles, forks, outages, pages, refusals", async (place) => {
  const { gateway, model, sandbox } = place;
  const call = async (home: string, args: readonly string[], env: Record<string, string> = {}) => {
    const called = await sandbox.call([...args, "--home", `${sandbox.directory}/${home}`], {
      env: { ...environmentOf(place, "s3://tests/verbs"), ...env },
    });
    assert.doesNotMatch(called.stdout + called.stderr, SECRETS);
    return called;
  };
  const ends = async (code: number, home: string, ...args: readonly string[]) => {
    const called = await call(home, args);
    assert.equal(called.code, code, called.stdout + called.stderr);
    return called;
  };

  const first = await ends(0, "a", "run", "--json", "--new", "-s", "shared", "One");
  const saved = events(first).flatMap((event) => event.type === "turn.saved" ? [event.remote] : []);
  assert.deepEqual(saved, ["stored", "stored", "stored"]);
  await ends(0, "b", "run", "-s", "shared", "Two");
  assert.equal(model.requests.at(-1)?.input.length, 4, "the run of A is continued");
  await ends(2, "c", "run", "--new", "-s", "shared", "One");
  await ends(2, "c", "run", "-s", "shar", "Go");

  await ends(0, "a", "rename", "shared", "From A");
  const fork = (await ends(0, "a", "fork", "shared")).stdout.trim();
  await ends(0, "b", "run", "-s", "shared", "Three");
  assert.match((await ends(0, "b", "ls", "--json")).stdout, /From A/);
  await ends(0, "b", "run", "-s", fork, "On the fork");
  await ends(0, "b", "fsck", "--all");

  await gateway.killGateway();
  await ends(10, "a", "run", "-s", "shared", "--timeout", "2", "Away");
  gateway.startGateway();
  await gateway.ready();
  await ends(0, "a", "run", "-s", "shared", "Back");
  await ends(0, "a", "fsck", "shared");

  const objects = new Objects(gateway, "many");
  const names = Array.from({ length: 1200 }, (_, index) => `s-${String(index).padStart(4, "0")}`);
  for (let from = 0; from < names.length; from += 50) {
    const page = names.slice(from, from + 50);
    await Promise.all(page.map((name) => objects.put(`${name}/turns/000001.json`, new Uint8Array(1))));
  }
  assert.equal((await objects.keys()).length, names.length);
  const { stdout } = await ends(0, "a", "ls", "--json", "--remote", "s3://tests/many");
  const listed: string[] = JSON.parse(stdout).sessions.map(({ id }: { readonly id: string }) => id);
  assert.deepEqual(listed.sort(), names);

  const fixture = new URL("../../fixtures/demo/first", import.meta.url).pathname;
  const { stderr } = await ends(2, "a", "run", "--remote", "s3://tests/x", "--fixture", fixture, "Go");
  assert.match(stderr, /Cannot use --remote with a fixture/);
  assert.equal((await call("d", ["run", "Go"], { AWS_SECRET_ACCESS_KEY: "another" })).code, 8);
  await ends(2, "d", "run", "--remote", "s3://not-there", "Go");
});
