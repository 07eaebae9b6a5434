/** Recordings with conflict markers: what `fixture seal` takes from both sides, what it refuses, and what verbs say until then. */
import assert from "node:assert/strict";
import { bytesBelow, type Json, sha256 } from "../../support/files.ts";
import { test } from "../../support/test.ts";
import { type RecordingHome, withHome } from "./home.ts";
import { lists, pruned, useOf } from "./prune_lists.ts";
import { edit, exchangesOf, type GivenExchange, headerOf, printed, seal, write } from "./recording_files.ts";

/** Both sides of a file, as git writes them without a line in common. */
function marked(own: string, other: string): string {
  return `<<<<<<< HEAD\n${own}=======\n${other}>>>>>>> other\n`;
}

const asking = (input: string, recording?: string): GivenExchange => ({
  request: {
    ...(recording === undefined ? {} : { recording }),
    body_sha256: sha256(JSON.stringify({ model: "gpt-5.6", input })),
    body: { model: "gpt-5.6", input },
  },
  response: { headers: { "content-type": "application/json" } },
  body: JSON.stringify({ id: `resp_${input}` }),
});

const [FIRST, SECOND, THIRD] = ["2026-11-01", "2026-11-11", "2026-11-12"].map((day) =>
  `${day}T00:00:00.000Z`
);

/**
 * Writes a fixture as a merge leaves it: exchange `a` is on both sides, `own` and `other` are on one each, and have one
 * number. Returns its path, and the members of `fixture.json` of each side.
 */
function unmerged(home: RecordingHome, own: Json = {}, other: Json = {}, hasStarts = true): string {
  const path = home.fixture(
    "f",
    ["a", "own", "other"].map((input, index) =>
      asking(input, hasStarts ? [FIRST, THIRD, SECOND][index] : undefined)
    ),
  );
  const [a, b, c] = ["0001-aaaaaaaa", "0002-bbbbbbbb", "0002-cccccccc"];
  for (const [index, to] of [a, b, c].entries()) {
    Deno.renameSync(`${path}/exchanges/000${index + 1}`, `${path}/exchanges/${to}`);
  }
  seal(path);
  const { files, ...header } = headerOf(path);
  const side = (left: string | undefined, created: string | undefined, more: Json) => {
    const kept = Object.entries(files).filter(([name]) => !name.includes(left as string));
    const recordings = [{ created: FIRST, exchanges: [1, 1] }, { created, exchanges: [2, 2] }];
    return printed({ ...header, created: FIRST, recordings, ...more, files: Object.fromEntries(kept) });
  };
  write(`${path}/fixture.json`, marked(side(c, THIRD, own), side(b, SECOND, other)));
  return path;
}

withHome(
  "exchanges with one number have the order of their recordings, and keep it when one is pruned or added",
  async (home) => {
    const path = unmerged(home);
    await home.json(["seal", "f"]);
    assert.deepEqual(headerOf(path).order, ["0001-aaaaaaaa", "0002-cccccccc", "0002-bbbbbbbb"]);
    const shown = await home.json(["show", "f"]);
    assert.deepEqual(shown.exchanges.map(({ number }: Json) => number), [1, 2, 3]);
    await using recorder = await home.record("http://127.0.0.1:9", { out: "f", flags: ["--missing"] });
    assert.match((await recorder.ask("/v1/responses", { model: "gpt-5.6", input: "other" })).text, /other/);
    await recorder.end(0);
    // Without the order nothing says which is first.
    edit(`${path}/fixture.json`, (text) => text.replace('"order"', '"disorder"'));
    await home.refused(["show", "f"], "bad_fixture", /two exchanges have one number/, /fixture seal/);
    const { merged } = await home.json(["seal", "f"]);
    assert.deepEqual(merged.sides, []);
    assert.equal(headerOf(path).order.length, 3);
    // A prune keeps the order of the others; one exchange alone needs none.
    const afterUse = async (...used: number[]) => {
      await pruned(home, "f", lists(home, [[useOf(path, ...used)]]));
      return headerOf(path).order;
    };
    assert.deepEqual(await afterUse(2, 3), ["0002-cccccccc", "0002-bbbbbbbb"]);
    assert.equal(await afterUse(2), undefined);
  },
);

withHome(
  "older exchanges, which do not name their recordings, have those of the ranges of their side",
  async (home) => {
    const path = unmerged(home, {}, {}, false);
    await home.json(["seal", "f"]);
    const { order, recordings } = headerOf(path);
    assert.deepEqual(order, ["0001-aaaaaaaa", "0002-cccccccc", "0002-bbbbbbbb"]);
    assert.deepEqual(recordings.map(({ created }: Json) => created), [FIRST, SECOND, THIRD]);
  },
);

withHome(
  "numbers that a merge without a conflict left wrong are corrected from what the exchanges say",
  async (home) => {
    const path = home.fixture("f", [asking("a", FIRST), asking("b", SECOND)], {
      created: FIRST,
      recordings: [{ created: FIRST, exchanges: [1, 2] }, { created: SECOND, exchanges: [4, 4] }],
    });
    await home.refused(["show", "f"], "bad_fixture", /no recording begins with exchange 3/, /fixture seal/);
    const { merged } = await home.json(["seal", "f", "--dry-run"]);
    assert.deepEqual(merged, { sides: [], left_out: [], notes: [] });
    await home.json(["seal", "f"]);
    assert.deepEqual(headerOf(path).recordings.map(({ exchanges }: Json) => exchanges), [[1, 1], [2, 2]]);
    assert.deepEqual(await home.findings("f"), []);
  },
);

/** Members that differ on the sides, and what `seal` makes of them: the value, or the reason to refuse. */
const MEMBERS: Readonly<
  Record<string, readonly [own: Json, other: Json, becomes: Json | RegExp, note?: RegExp]>
> = {
  models: [["gpt-5.6"], ["gpt-5.6", "o9"], ["gpt-5.6", "o9"]],
  not_secret: [["A_KEY"], ["B_KEY"], ["A_KEY", "B_KEY"]],
  match: [
    { normalize: ["cwd"] },
    { normalize: ["date"], ignore: ["metadata"] },
    { normalize: ["cwd", "date"], ignore: ["metadata"] },
    /rules differ/,
  ],
  redactions: [
    { known: 3 },
    { known: 2, token: 1 },
    { known: 3, token: 1 },
    /how many both sides share is not known/,
  ],
  obsolete: [[2], [1], [1, 3]],
  note: ["of mine", "of yours", "of mine\nof yours"],
  provider: ["openai", "compatible", /differ in "provider": "openai" in HEAD, "compatible" in other/],
  base_url: ["https://a/v1", "https://b/v1", /differ in "base_url"/],
  upstreams: [
    { A_BASE_URL: { base_url: "https://a/v1", provider: "openai" } },
    { A_BASE_URL: { base_url: "https://b/v1", provider: "openai" } },
    /differ in "upstreams"/,
  ],
  later_member: [1, 2, /differ in "later_member"/],
};
for (const [name, [own, other, becomes, note]] of Object.entries(MEMBERS)) {
  withHome(`sides that differ in ${name}`, async (home) => {
    const path = unmerged(home, { [name]: own }, { [name]: other });
    const before = bytesBelow(path);
    if (becomes instanceof RegExp) {
      await home.refused(["seal", "f"], "bad_fixture", becomes, /take one side/);
      assert.deepEqual(bytesBelow(path), before);
      return;
    }
    const { merged } = await home.json(["seal", "f"]);
    assert.deepEqual(headerOf(path)[name], becomes);
    assert.match(merged.notes.join("\n"), note ?? /^$/);
  });
}

withHome("a recording has the values of its own machine after a merge", async (home) => {
  const path = unmerged(home, { context: { cwd: "/own" } }, { context: { cwd: "/own" } });
  edit(
    `${path}/fixture.json`,
    (text) => text.replace(/("exchanges": \[\s+2,\s+2\s+\])/, '"context": {"user": "ada"}, $1'),
  );
  await home.json(["seal", "f"]);
  const { context, recordings } = headerOf(path);
  assert.deepEqual(context, { cwd: "/own" });
  assert.deepEqual(recordings.map(({ context }: Json) => context), [undefined, undefined, { user: "ada" }]);
});

/** Merges that `seal` refuses, with what it says. */
const REFUSED: Readonly<
  Record<string, readonly [change: (path: string) => void, says: RegExp, hint?: RegExp]>
> = {
  "markers that are not in pairs": [
    (path) => edit(`${path}/fixture.json`, (text) => text.replace(/^=======\n/m, "")),
    /not in pairs/,
  ],
  "a side that is not JSON": [
    (path) => edit(`${path}/fixture.json`, (text) => text.replace("=======\n{", "=======\n")),
    /fixture\.json \(other\)": it is not JSON/,
  ],
  "an exchange that no side lists": [
    (path) => write(`${path}/exchanges/0003-dddddddd/body`, "data: {}\n\n"),
    /0003-dddddddd": no side of the merge lists it/,
  ],
  "an exchange that is there in part": [
    (path) => Deno.removeSync(`${path}/exchanges/0002-bbbbbbbb/response.json`),
    /0002-bbbbbbbb\/response\.json": nothing is there, and other files of the exchange are/,
    /One branch removed the exchange/,
  ],
  "markers in an exchange": [
    (path) => edit(`${path}/exchanges/0002-bbbbbbbb/body`, (text) => marked(text, "data: {}\n")),
    /0002-bbbbbbbb\/body": a merge left conflict markers in it; take one side/,
  ],
  "the recording of a run": [
    (path) =>
      edit(
        `${path}/fixture.json`,
        (text) => text.replaceAll('"provider"', '"tools": "recorded", "provider"'),
      ),
    /cannot have both sides/,
  ],
};
for (const [what, [change, says, hint]] of Object.entries(REFUSED)) {
  withHome(`seal refuses ${what}, and writes nothing`, async (home) => {
    const path = unmerged(home);
    change(path);
    const before = bytesBelow(path);
    await home.refused(["seal", "f"], "bad_fixture", says, hint);
    assert.deepEqual(bytesBelow(path), before);
  });
}

withHome(
  "every verb names the cure of a recording with conflict markers, and changes nothing",
  async (home) => {
    const path = unmerged(home);
    home.fixture("g", [asking("a")]);
    const before = bytesBelow(path);
    const cure = /reprise fixture seal (?:\S*\/)?f["\\ ].*both sides/;
    const calls = [
      ["fixture", "ls", "f"],
      ["fixture", "show", "f"],
      ["fixture", "lint", "f"],
      ["fixture", "redact", "f"],
      ["fixture", "diff", "f", "g"],
      ["fixture", "diff", "g", "f"],
      ["serve", "f", "--", "true"],
      ["record", "--missing", "--out", "f", "--", "true"],
      ["record", "--append", "--out", "f", "--", "true"],
      ["run", "--fixture", "f", "Hello"],
    ];
    for (const args of calls) {
      const { code, stdout, stderr } = await home.call(args, { cwd: home.directory });
      assert.match(stdout + stderr, cure, args.join(" "));
      assert.notEqual(code, args[1] === "ls" ? 2 : 0, args.join(" "));
      assert.deepEqual(bytesBelow(path), before, args.join(" "));
    }
    // A lock that a killed process left does not stand in the way.
    write(`${path}/.recording/1/body`, "unfinished");
    await home.json(["seal", "f"]);
    assert.equal(exchangesOf(path).length, 3);
    assert.deepEqual([...bytesBelow(path).keys()].filter((name) => name.startsWith(".recording")), []);
  },
  test.long,
);

withHome("every verb names an exchange in which a merge left markers", async (home) => {
  const path = home.fixture("f", [asking("a")]);
  edit(`${path}/exchanges/0001/body`, (text) => marked(`${text}\n`, "{}\n"));
  for (const verb of ["show", "redact", "seal"]) {
    await home.refused([verb, "f"], "bad_fixture", /left conflict markers/);
  }
  assert.match((await home.findings("f")).join("\n"), /exchanges\/0001\/body: a merge left conflict markers/);
});

withHome("a sound body with a line like a marker is no conflict", async (home) => {
  home.fixture("f", [{ ...asking("a"), body: "<<<<<<< HEAD\n" }]);
  assert.equal((await home.json(["show", "f"])).exchanges.length, 1);
  assert.equal((await home.json(["seal", "f"])).merged, null);
});

withHome("an exchange that a side lists and that the merge removed is left out, and named", async (home) => {
  const path = unmerged(home);
  Deno.removeSync(`${path}/exchanges/0002-bbbbbbbb`, { recursive: true });
  const { merged, removed } = await home.json(["seal", "f"]);
  assert.deepEqual([merged.left_out, removed], [["exchanges/0002-bbbbbbbb"], []]);
  assert.deepEqual(exchangesOf(path).map(({ request }) => request.body.input), ["a", "other"]);
});

/** Exchanges whose recording is not known: their own is missing, or is that of two. */
const UNKNOWN: Readonly<
  Record<string, readonly [starts: readonly (string | undefined)[], recordings: Json]>
> = {
  "one names no recording": [[FIRST, undefined], [
    { created: FIRST, exchanges: [1, 1] },
    { created: SECOND, exchanges: [3, 3] },
  ]],
  "two recordings began at its time": [[FIRST, SECOND], [
    { created: FIRST, exchanges: [1, 1] },
    { created: SECOND, exchanges: [3, 3] },
    { created: SECOND, exchanges: [4, 4], context: { cwd: "/b" } },
  ]],
};
for (const [what, [starts, recordings]] of Object.entries(UNKNOWN)) {
  withHome(`seal guesses the recording of no exchange: ${what}`, async (home) => {
    const path = home.fixture("f", starts.map((start, index) => asking(`${index}`, start)), { recordings });
    const before = bytesBelow(path);
    await home.refused(["seal", "f"], "bad_fixture", /not known to which of them exchanges\/0002 belongs/);
    assert.deepEqual(bytesBelow(path), before);
  });
}

withHome("a file that both sides changed is named, with the side that git kept", async (home) => {
  const path = unmerged(home);
  const body = "exchanges/0001-aaaaaaaa/body";
  const sums = ["mine", "yours"].map(sha256);
  edit(
    `${path}/fixture.json`,
    (text) => text.replace(new RegExp(`("${body}": )"\\w+"`, "g"), (_, name) => `${name}"${sums.shift()}"`),
  );
  for (const [text, whose] of [["mine", "HEAD"], ["yours", "other"], ["neither", "none of them"]] as const) {
    write(`${path}/${body}`, text);
    const { merged, changed } = await home.json(["seal", "f", "--dry-run"]);
    assert.deepEqual(merged.notes, [
      `the sides have different versions of ${body}: the file is that of ${whose}`,
    ]);
    assert.deepEqual(changed, text === "neither" ? [body] : []);
  }
});
