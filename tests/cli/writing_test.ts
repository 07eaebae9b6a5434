/** Files that the writing tools change, and files that they leave unchanged. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, reasoning } from "../support/responses_server.ts";
import type { ScriptedItem } from "../support/responses_server/script.ts";
import { HELLO, Place } from "./harness.ts";
import { calling, content, edit, eventsOf, names, NEW_RUN, read, statuses, write } from "./changes.ts";

test("writes land in the workspace, with the right bytes and mode, and nowhere else: a new file, a replaced one and an edited one", async () => {
  const text = "größer als\tfünf\r\n\u{1f600}\n";
  await using place = new Place(
    calling(write("sub/new.txt", text), write("b.txt", ""), edit("run.sh", "echo one", "echo two")),
  );
  const { workspace } = place.sandbox;
  Deno.writeTextFileSync(`${workspace}/b.txt`, "before");
  Deno.chmodSync(`${workspace}/b.txt`, 0o640);
  Deno.writeTextFileSync(`${workspace}/run.sh`, "#!/bin/sh\necho one\n");
  Deno.chmodSync(`${workspace}/run.sh`, 0o755);
  const called = await place.call([...NEW_RUN, "--allow", "write", "Go"]);
  assert.deepEqual(statuses(place), ["ok", "ok", "ok"], called.stdout);
  assert.equal(content(place, "sub/new.txt"), text);
  assert.equal(content(place, "b.txt"), "");
  assert.equal(content(place, "run.sh"), "#!/bin/sh\necho two\n");
  const mode = (name: string) => ((Deno.statSync(`${workspace}/${name}`).mode ?? 0) & 0o777).toString(8);
  assert.deepEqual(["sub/new.txt", "b.txt", "run.sh"].map(mode), ["644", "640", "755"]);
  assert.deepEqual(names(place), ["a.txt", "b.txt", "run.sh", "sub"], "no temporary file is left");
});

test("writes land in the workspace, with the right bytes and mode, and nowhere else: protected names are refused, whatever is allowed, even when they do not exist yet", async () => {
  const protectedNames = [
    ...[".git/hooks/pre-commit", ".GIT/config", "sub/.git/config", ".env", ".env.production", ".envrc"],
    ...[
      ".ssh/authorized_keys",
      ".bashrc",
      ".github/workflows/ci.yml",
      ".gitlab-ci.yml",
      ".vscode/tasks.json",
    ],
  ];
  await using place = new Place(calling(...protectedNames.map((name) => write(name, "x"))));
  const called = await place.call([...NEW_RUN, "--allow", "write", "Go"]);
  assert.equal(called.code, 0, called.stdout);
  assert.deepEqual(statuses(place), Array(protectedNames.length).fill("error"));
  assert.deepEqual(names(place), ["a.txt"]);
});

test("writes land in the workspace, with the right bytes and mode, and nowhere else: our own home is not written, even when it lies in the workspace", async () => {
  await using place = new Place(calling(write("home/sessions/s/planted", "x"), write("home/x", "x")));
  const { workspace } = place.sandbox;
  const home = `${workspace}/home`;
  const called = await place.call([...NEW_RUN, "--home", home, "--allow", "write", "Go"]);
  const outputs = place.server.requests[1]?.input.filter(({ type }) => type === "function_call_output") ??
    [];
  assert.equal(outputs.length, 2, called.stdout);
  assert.throws(() => Deno.statSync(`${home}/x`), Deno.errors.NotFound);
  assert.throws(() => Deno.statSync(`${home}/sessions/s/planted`), Deno.errors.NotFound);
});

test("writes land in the workspace, with the right bytes and mode, and nowhere else: a canary outside is neither read nor written, by any path that leads there", async () => {
  const canary = "canary-6f1e: stays where it is\n";
  const ways = ["../canary", "link/canary", "canary-link", "sub/../../canary"];
  const items: ScriptedItem[] = [write("link/new", "x")];
  await using place = new Place(({ input }) =>
    input.at(-1)?.type === "message" ? answer([reasoning("Hm"), ...items]) : HELLO
  );
  for (const path of [...ways, `${place.sandbox.directory}/canary`]) {
    items.push(read(path), write(path, "gone"), edit(path, "canary", "gone"));
  }
  const { directory, workspace } = place.sandbox;
  Deno.mkdirSync(`${workspace}/sub`);
  Deno.writeTextFileSync(`${directory}/canary`, canary);
  Deno.symlinkSync(directory, `${workspace}/link`);
  Deno.symlinkSync(`${directory}/canary`, `${workspace}/canary-link`);
  const called = await place.call([...NEW_RUN, "--allow", "write", "Go"]);
  assert.equal(called.code, 0, called.stdout);
  assert.deepEqual(new Set(statuses(place)), new Set(["error"]));
  assert.equal(eventsOf(place, "tool_result").length, 16);
  assert.equal(Deno.readTextFileSync(`${directory}/canary`), canary);
  assert.deepEqual([...Deno.readDirSync(directory)].map(({ name }) => name).sort(), [
    "canary",
    "home",
    "work",
  ]);
  assert.ok(place.server.requests.every(({ text }) => !text.includes("canary-6f1e")), "never sent");
  const kept = JSON.stringify(place.sandbox.turns("s"));
  assert.ok(!kept.includes("canary-6f1e"), "never kept");
});
