/** Damaged transcripts of real agents are refused, or become sound sessions whose requests the APIs accept. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { importAgentSession } from "../../../src/agents/import.ts";
import { splitLines } from "../../../src/agents/lines.ts";
import { readerOf } from "../../../src/agents/readers.ts";
import { apiOf, foldNeedsOf } from "../../../src/apis/apis.ts";
import { RepriseError } from "../../../src/domain/errors.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { requestOf } from "../../../src/run/next_request.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import type { Home } from "../../../src/store/home.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { Dice } from "../fold/dice.ts";
import { spyFiles } from "../store/spy_files.ts";
import { portsOn, withHome } from "../store/support.ts";
import { damaged } from "./mutations.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";
import { checkMessagesRequest, checkResponsesRequest } from "../../support/rule_checks.ts";

const DIRECTORY = new URL("transcripts/", import.meta.url);
const TRANSCRIPTS = [...Deno.readDirSync(DIRECTORY)].map(({ name }) => name).sort()
  .map((name) => ({ name, text: Deno.readTextFileSync(new URL(name, DIRECTORY)) }));
const LINES = TRANSCRIPTS.flatMap(({ text }) => text.trimEnd().split("\n"));
const GRADES = ["wire", "types", "docs", "third_party"] as const;
/** The endpoint that the imports trust. */
const TRUSTED = "1f3a9c02";

/** The refusals of the request that continues a history with another prompt. */
function refusals(turns: readonly Turn[], provider: "openai" | "anthropic" | "compatible"): string[] {
  const api = apiOf(provider);
  const model = provider === "anthropic" ? "claude-opus-4-8" : "gpt-5.6";
  const fingerprint = { provider, endpoint: TRUSTED, account: null };
  const { entries } = foldHistory(turns, {
    fingerprint,
    needs: foldNeedsOf(provider),
    model,
    replay: "exact",
  });
  const prompt = { kind: "user_message", content: [{ type: "input_text", text: "And now?" }] } as const;
  const settings = { api, model, instructions: "Help.", tools: [], cacheKey: "one" };
  const { body, headers } = requestOf(settings, [...entries, prompt]);
  const json = JSON.parse(body);
  const sent = { "anthropic-version": "2023-06-01", ...headers };
  const found = provider === "anthropic"
    ? checkMessagesRequest(json, sent, { refuse: GRADES }).refusals
    : checkResponsesRequest(json, { mode: "openai", refuse: GRADES }).refusals;
  return found
    // The server that issued an item gets its id back verbatim, also one that the damage changed.
    .filter(({ rule }) => rule !== "id_prefix" || provider !== "compatible")
    .map(({ rule, body }) => `${provider}: ${rule}: ${body.error.message}`);
}

/** Imports a source, checks each session, and returns their number; 0 if it was refused. */
async function imported(bytes: Uint8Array, { home, name }: { home: Home; name: string }): Promise<number> {
  const reader = readerOf(bytes);
  if (reader === null) return 0;
  const outside: string[] = [];
  const ports = portsOn(spyFiles(({ path }) => {
    if (!path.startsWith(home.path)) outside.push(path);
  }, { syncs: false }));
  const { lines, torn, times } = splitLines(bytes, { name: "x.jsonl", isRecord: reader.isRecord });
  let sessions;
  try {
    ({ sessions } = await importAgentSession(ports, home, {
      ...{ id: parseSessionId(name), session: reader.read(lines), torn, times, dryRun: false },
      trusted: { endpoint: TRUSTED },
      pins: { permissions: ["read"], workspace: "/srv/shop" },
      texts: { instructions: "Help.", tools: "[]" },
    }));
  } catch (error) {
    assert.ok(error instanceof RepriseError && error.code === "bad_import", String(error));
    assert.equal(error.cause, undefined, "readers give only entries that a turn can hold");
    return 0;
  }
  // The directory that holds the home is synced.
  assert.deepEqual(outside.filter((path) => path !== dirname(home.path)), []);
  for (const { id } of sessions) {
    const { findings } = await fsckSession(ports, home, id);
    assert.deepEqual(findings.filter(({ severity }) => severity !== "info"), []);
    const { turns } = readSession(ports, home, id);
    for (const provider of ["openai", "anthropic", "compatible"] as const) {
      assert.deepEqual(refusals(turns, provider), []);
    }
  }
  return sessions.length;
}

for (const { name, text } of TRANSCRIPTS) {
  test.long(`the transcript ${name} is imported, and a damaged one is refused or sound`, async () => {
    await withHome(async (home) => {
      assert.equal(await imported(new TextEncoder().encode(text), { home, name: "whole" }), 1);
      let kept = 0;
      const all = samples(1000);
      for (let seed = 0; seed < all; seed++) {
        const bytes = damaged(text, new Dice(seed), LINES);
        try {
          if (await imported(bytes, { home, name: `seed-${seed}` }) > 0) kept++;
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error });
        }
      }
      assert.ok(kept > all / 3, `only ${kept} of ${all} were imported`);
    });
  });
}

/** Damage of the line at `at` that changes no record. */
const DAMAGE: Readonly<Record<string, (lines: readonly string[], at: number) => readonly string[]>> = {
  "NULs after it": (lines, at) => lines.with(at, `${lines[at]}${"\0".repeat(600)}`),
  "NULs before it": (lines, at) => lines.with(at, `\0\0${lines[at]}`),
  "a torn record before it": (lines, at) => lines.with(at, `${lines[0]?.slice(0, 60)}${lines[at]}`),
  "a torn record with an open string before it": (lines, at) => lines.with(at, `{"a\\\\${lines[at]}`),
  "a torn record after it": (lines, at) => lines.with(at, `${lines[at]}{"type":"user","message":{"a":"b"}`),
  "no line end after it": (lines, at) => lines.toSpliced(at, 2, lines.slice(at, at + 2).join("")),
  "NULs for its line end": (lines, at) => lines.toSpliced(at, 2, lines.slice(at, at + 2).join("\0\0")),
};

for (const [damage, change] of Object.entries(DAMAGE)) {
  Deno.test(`a whole record is kept with ${damage}`, () => {
    for (const { name, text } of TRANSCRIPTS) {
      const lines = text.trimEnd().split("\n");
      const read = (from: readonly string[]) => {
        const bytes = new TextEncoder().encode(`${from.join("\n")}\n`);
        const reader = readerOf(bytes);
        assert.ok(reader !== null);
        const { main } = reader.read(splitLines(bytes, { name, isRecord: reader.isRecord }).lines);
        return main.map(({ line: _line, ...entry }) =>
          "keptFrom" in entry ? { ...entry, keptFrom: null } : entry
        );
      };
      const whole = read(lines);
      for (const at of [0, 3, lines.length >> 1, lines.length - 2]) {
        assert.deepEqual(read(change(lines, at)), whole, `${name}, line ${at + 1}`);
      }
    }
  });
}
