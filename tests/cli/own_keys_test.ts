/** Keys of this process: no command gets them, no turn and no request holds them, and whatever masks secrets masks them. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { bytesBelow, textsBelow } from "../support/files.ts";
import { events } from "../support/reprise.ts";
import { functionCall, type ScriptedItem } from "../support/scripted_api/responses_script.ts";
import { S3Server } from "../support/s3_server.ts";
import { calling, eventsOf, NEW_RUN, read, shellArgv, shellLine } from "./changes.ts";
import { KEY, Place } from "./harness.ts";

/** Values without the shape of a secret: only the names of the variables show that they are secrets. */
const VALUES = {
  AWS_ACCESS_KEY_ID: "plainidofsomebody",
  AWS_SECRET_ACCESS_KEY: "/plain+secret/of/a+user=",
  AWS_SESSION_TOKEN: "plaintokenofsomebody//",
};

const SEARCH = { pattern: "never-printed", path: null, glob: null, ignore_case: null };

function assertNone(text: string, where: string): void {
  for (const [name, value] of Object.entries(VALUES)) {
    for (const form of [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]) {
      assert.ok(!text.includes(form), `${where} holds ${name}`);
    }
  }
}

test.long("no command gets a variable of AWS, also while the run saves to a remote", async () => {
  await using server = new S3Server();
  await using place = new Place(calling(shellArgv("env")));
  const more = { AWS_PROFILE: "", AWS_REGION: "xx-plain-1", AWS_ENDPOINT_URL: "http://127.0.0.1:1" };
  const env = { ...server.env, ...more, ...VALUES };
  const called = await place.call([...NEW_RUN, "--allow", "shell", "Go"], { env });
  assert.equal(called.code, 0, called.stdout + called.stderr);
  assert.ok([...server.objects.keys()].some((key) => key.includes("/turns/")), "the run had no remote");
  const [{ status, output }] = eventsOf(place, "tool_result");
  assert.deepEqual([status, /^PATH=/m.test(output), /^AWS_|REPRISE/m.test(output)], ["ok", true, false]);
  for (const [key, bytes] of server.objects) assertNone(new TextDecoder().decode(bytes), key);
  assertNone(called.stdout + called.stderr, "the output");
});

const OPENAI = ["OPENAI_API_KEY"];

/** Calls that meet keys, and what of them. The workspace has the key of the API in `key.txt`. */
const MEETING: Readonly<Record<string, readonly [call: ScriptedItem, keys: readonly string[]]>> = {
  "the environment of the process above": [
    shellLine("cat /proc/$PPID/environ"),
    [...Object.keys(VALUES), "OPENAI_API_KEY"],
  ],
  "a file": [read("key.txt"), OPENAI],
  "a file that is searched": [functionCall("search_text", SEARCH), OPENAI],
  "base64": [shellLine("base64 -w0 key.txt"), OPENAI],
  "a key where a long output is cut": [
    shellLine('for i in $(seq 1 4000); do echo "$i $(head -c 60 key.txt)"; done'),
    OPENAI,
  ],
};

for (const [name, [call, keys]] of Object.entries(MEETING)) {
  // The keys of a call in the tests' process are not in that process's own environment.
  const isProcess = name.startsWith("the environment");
  const register = isProcess ? test.process : test.long;
  register(`a call that meets keys of the process neither saves, shows nor sends them: ${name}`, async () => {
    await using place = new Place(calling(call));
    Deno.writeTextFileSync(`${place.sandbox.workspace}/key.txt`, KEY);
    const args = [...NEW_RUN, "--allow", "shell", "Go"];
    const called = isProcess
      ? await place.start(args, { env: VALUES }).ended()
      : await place.call(args, { env: VALUES });
    assert.equal(called.code, 0, called.stdout + called.stderr);
    const [{ output }] = eventsOf(place, "tool_result");
    assert.match(output, /REDACTED|UkVEQUNURUQ|[A-Za-z0-9+/=]{30}/, "the call met nothing");
    const sent = place.server.requests.map(({ text }) => text);
    assert.equal(sent.length, 2);
    const texts = [called.stdout, called.stderr, ...sent, ...textsBelow(place.sandbox.home).values()];
    for (const text of texts) {
      for (const value of [...Object.values(VALUES), KEY]) {
        for (const form of [value, btoa(value).slice(0, -4)]) {
          assert.ok(!text.includes(form), `${value} in ${text}`);
        }
      }
    }
    const notices = events(called).flatMap((event) =>
      event.type === "notice" && event.kind === "keys_replaced" ? [event.keys] : []
    );
    assert.deepEqual(notices.map((names) => names.toSorted()), [keys.toSorted()]);
  });
}

test("people read which keys were replaced, and --not-secret keeps the value of a variable", async () => {
  await using place = new Place(calling(read("key.txt")));
  Deno.writeTextFileSync(`${place.sandbox.workspace}/key.txt`, KEY);
  const told = await place.call(["run", "Go"]);
  assert.match(
    told.stderr,
    /^notice: 1 key of this process replaced in the output of read_file: OPENAI_API_KEY$/m,
  );
  const MY_TOKEN = "plaintokenofsomebody/123";
  Deno.writeTextFileSync(`${place.sandbox.workspace}/key.txt`, `${KEY} ${MY_TOKEN}`);
  const open = ["--not-secret", "MY_TOKEN", "--not-secret", "OPENAI_API_KEY"];
  const kept = await place.call([...NEW_RUN, ...open, "Go"], { env: { MY_TOKEN } });
  assert.equal(kept.code, 0);
  const [{ output }] = eventsOf(place, "tool_result");
  assert.ok(output.includes(MY_TOKEN) && !output.includes(KEY), "the key in force is always one");
});

test("keys of AWS that a tool read are masked in recordings, exports and pages", async () => {
  await using place = new Place(calling(read("notes.txt")));
  const { workspace, directory } = place.sandbox;
  Deno.writeTextFileSync(`${workspace}/notes.txt`, `Found: ${Object.values(VALUES).join(" and ")}\n`);
  const call = async (...args: readonly string[]) => {
    const called = await place.call(args, { env: VALUES });
    assert.equal(called.code, 0, called.stdout + called.stderr);
    return called.stdout;
  };
  await call(...NEW_RUN, ...Object.keys(VALUES).flatMap((name) => ["--not-secret", name]), "Go");
  const [{ output }] = eventsOf(place, "tool_result");
  assert.ok(output.includes(VALUES.AWS_SECRET_ACCESS_KEY), "the tool did not read them");
  await call("run", "--json", "--new", "-s", "r", "--record", `${directory}/recording`, "Go");
  for (const [path, bytes] of bytesBelow(`${directory}/recording`)) {
    assertNone(new TextDecoder().decode(bytes), path);
  }
  assertNone(await call("export", "s", "--redact"), "the export");
  await call("fixture", "lint", `${directory}/recording`);
});
