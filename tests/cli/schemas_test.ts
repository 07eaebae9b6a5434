/** The contract with programs: a schema for every JSON document, and documents that fit. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { documentFaults, fittingDocuments } from "../support/json_documents.ts";
import { foldersIn } from "../doors/recordings/recording_files.ts";
import { S3Server } from "../support/s3_server.ts";
import { assertError, KEY, ok, Place, readsThenAnswers } from "./harness.ts";

const DOCS = new URL("../../docs/schemas/", import.meta.url);
const LONG = `Look at a.txt. ${"It matters a lot. ".repeat(300)}`;

/** Calls of each verb, in an order that lets each of them succeed. `--json` is added. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  "run": ["Look", "-s s More --dry-run", "-s s"],
  "interrupt": ["s", "s --dry-run"],
  "compact": [
    ...["s --tail-events 0 --dry-run", "s --tail-events 0", "short"],
    ...["s --undo --dry-run", "s --undo"],
  ],
  "omit": ["s --seq 2 --dry-run", "s --seq 2", "s --undo"],
  "fork": ["s --dry-run", "s"],
  "ls": ["", "--tree", "--remote s3://sessions"],
  "search": ["matters"],
  "show": ["s", "s --turns", "s --events", "s --html s.html", "s.jsonl"],
  "explain": ["s"],
  "stats": ["", "s"],
  "doctor": [""],
  "repair": ["s", "s --dry-run", "--all", "--all --dry-run", "s --lift-quarantine"],
  "fsck": ["--all", "s --requests"],
  "rename": ["s Title --dry-run", "s Title"],
  "export": ["gone gone.jsonl", "s --dry-run --redact", "s --to pi -o s.pi.jsonl"],
  "rm": [
    ...["gone --dry-run", "gone --yes", "--keep 3 --dry-run", "--keep 3 --yes"],
    ...["--unused --dry-run", "--unused"],
  ],
  "import": ["gone.jsonl --dry-run", "gone.jsonl"],
  "sync": [
    ...["s --remote s3://sessions", "--remote s3://sessions"],
    "--dry-run --remote s3://sessions",
  ],
  "config": ["set model gpt-5.6 --dry-run", "set model gpt-5.6", "list", "path"],
  "record": ["--out new --upstream http://127.0.0.1:1 --dry-run"],
  "serve": [],
  "test": ["recorded"],
  "completions": ["bash"],
  "schema": ["", "ls"],
  "fixture ls": ["recorded"],
  "fixture show": ["recorded", "recorded --html f.html"],
  "fixture lint": ["recorded"],
  "fixture redact": ["recorded --dry-run", "recorded"],
  "fixture seal": ["recorded --dry-run", "recorded"],
  "fixture import": ["answer.sse imported --dry-run", "answer.sse imported"],
  "fixture diff": ["recorded recorded"],
  "fixture prune": ["proxied --events used.jsonl --dry-run", "proxied --events used.jsonl"],
};

/** Exit codes of these calls that are no error of theirs. */
const NOT_ZERO: Readonly<Record<string, number>> = { "run -s s": 2 };

/** A place with an object store. */
class Stored extends Place {
  readonly store = new S3Server();

  override get env(): Record<string, string> {
    const { REPRISE_REMOTE: _, ...keys } = this.store.env;
    return { ...super.env, ...keys };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}

async function prepared(): Promise<Place> {
  const place = new Stored(readsThenAnswers);
  const { sandbox: { workspace } } = place;
  for (const id of ["s", "gone"]) await place.session(id, LONG);
  await place.session("short");
  const calls = [["run", "--record", "recorded", "Look at a.txt"], ["export", "s", "s.jsonl"], ["fork", "s"]];
  for (const args of calls) await ok(place, args);
  const [exchange] = foldersIn(`${workspace}/recorded`);
  Deno.copyFileSync(`${workspace}/recorded/${exchange}/body`, `${workspace}/answer.sse`);
  return place;
}

/** The stdout of a server that has answered a request. */
async function served(place: Place, args: readonly string[], path: string, body = "{}"): Promise<string> {
  const server = place.start([...args, "--json"]);
  await server.printed('"ready"');
  const { origin } = JSON.parse(server.stdout.split("\n")[0] ?? "");
  const response = await fetch(`${origin}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
    body,
  });
  await response.arrayBuffer();
  server.process.kill("SIGTERM");
  return (await server.ended()).stdout;
}

test.process("the real output of every verb, dry runs and errors included, fits its schemas, and shows a document of each schema", async () => {
  await using place = await prepared();
  const seen = new Set<string>(["dry-run"]);
  const take = (verb: string, stdout: string, shown: string) => {
    const lines = stdout.trimEnd().split("\n");
    for (const line of lines) {
      const value = JSON.parse(line);
      const names = fittingDocuments(verb, value);
      assert.ok(names.length > 0, `${shown}: ${line}`);
      for (const name of names) seen.add(name);
      if (value.type === "dry_run") assert.deepEqual(documentFaults("dry-run", value), [], shown);
    }
  };
  const [exchange] = foldersIn(`${place.sandbox.workspace}/recorded`);
  const recorded = `${place.sandbox.workspace}/recorded/${exchange}/request.json`;
  const body = JSON.stringify(JSON.parse(Deno.readTextFileSync(recorded)).body);
  const recording = ["record", "--out", "proxied", "--upstream", place.server.baseUrl];
  take("record", await served(place, recording, "/responses", body), "record");
  const played = await served(place, ["serve", "proxied"], "/v1/responses", body);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/used.jsonl`, played);
  take("serve", played, "serve");
  take("serve", await served(place, ["serve", "proxied"], "/v1/models"), "serve, a miss");
  const asks = 'const url = `${Deno.env.get("OPENAI_BASE_URL")}/responses`; ' +
    `await (await fetch(url, { method: "POST", body: ${JSON.stringify(body)} })).text()`;
  const cell = ["certify", "proxied", "--json", "--faults", "500", "--", Deno.execPath(), "eval", asks];
  take("certify", (await place.sandbox.call(cell)).stdout, "certify");
  const ended = await place.sandbox.call(["serve", "proxied", "--suite", "--json"], {
    stdin: '{"type":"end","test":"a"}\n',
  });
  take("serve", ended.stdout, "serve --suite");
  for (const [verb, calls] of Object.entries(CALLS)) {
    for (const args of calls) {
      const shown = `${verb} ${args}`.trim();
      const called = await place.call([...shown.split(" "), "--json"]);
      assert.equal(called.code, NOT_ZERO[shown] ?? 0, `${shown}: ${called.stdout}${called.stderr}`);
      take(verb, called.stdout, shown);
    }
    const wrong = await place.call([...verb.split(" "), "--nonsense", "--json"]);
    assert.deepEqual(documentFaults("error", assertError(wrong, { code: "usage", exit: 2 })), [], verb);
  }
  const listed = await ok(place, ["schema"]);
  const names = listed.trimEnd().split("\n").map((line) => line.split(" ")[0] as string);
  assert.deepEqual(names.filter((name) => !seen.has(name)), []);
  const docs = [...Deno.readDirSync(DOCS)].map(({ name }) => name).sort();
  assert.deepEqual(docs, names.map((name) => `${name}.json`).sort());
});

test("schema prints one schema as in docs/schemas, and refuses other names", async () => {
  await using place = new Place(readsThenAnswers);
  const printed = await ok(place, ["schema", "run-event"]);
  assert.equal(printed, Deno.readTextFileSync(new URL("run-event.json", DOCS)));
  assert.equal(JSON.parse(printed).$id, "urn:reprise:run-event:1");
  const wrong = await place.call(["schema", "nonsense", "--json"]);
  assertError(wrong, { code: "usage", exit: 2, hint: /reprise schema/ });
});
