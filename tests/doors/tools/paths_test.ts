/** Paths of calls: what lies in the workspace, ways out of it, names that no tool writes, and places that change. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { samples } from "../../support/scale.ts";
import { whileSwapping } from "../../support/swapping.ts";
import { test } from "../../support/test.ts";
import { BLANK_ENDINGS, FREE_NAMES, GIT_DIRECTORIES, PROTECTED_NAMES } from "./names.ts";
import { type Call, Workplace } from "./workplace.ts";

const CANARY = "canary-7f3a";
const WRITE = ["--allow", "write"];

/** A workspace with every kind of way out. */
function withWaysOut(): Workplace {
  const place = new Workplace({
    "a.txt": "inside",
    "dir/b.txt": "inside too",
    "dir/deeper/c.txt": "inside as well",
    "to-dir": { link: "dir" },
    "to-file": { link: "dir/b.txt" },
    "self": { link: "self" },
    "nowhere": { link: "missing" },
    "zero": { link: "/dev/zero" },
    "up": { link: ".." },
    "etc": { link: "/etc" },
    "../work-secrets/canary.txt": CANARY,
    "../work-secrets/sub/canary.txt": CANARY,
  });
  place.write("out", { link: place.outside });
  place.write("dir/out-file", { link: `${place.outside}/canary.txt` });
  place.write("chain", { link: "dir/out-file" });
  return place;
}

/** One call of each tool about a path. */
function callsOn(path: string): Call[] {
  return [
    ["read_file", { path, offset: null, limit: null }],
    ["list_files", { path, pattern: null, depth: null }],
    ["search_text", { pattern: "canary", path, glob: null, ignore_case: null }],
    ["write_file", { path, content: "INTRUDER" }],
    ["edit_file", { path, old_text: "canary", new_text: "INTRUDER" }],
  ];
}

Deno.test("a path inside is found through links, dots and its full name", async () => {
  await using place = withWaysOut();
  const paths = [
    "a.txt",
    "./dir//deeper/../b.txt",
    "to-dir/deeper/c.txt",
    "to-file",
    `${place.workspace}/a.txt`,
  ];
  const read = await place.run(paths.map((path) => ["read_file", { path }]));
  const texts = ["inside", "inside too", "inside as well", "inside too", "inside"];
  assert.deepEqual(read.map(({ output }) => output), texts.map((text) => `1\t${text}`));
  const [listed] = await place.run([["list_files", { path: "to-dir/deeper/.." }]]);
  assert.match(listed?.output ?? "", /^dir\/b\.txt$/m);
});

// CVE-2025-54794, CVE-2026-120313, CVE-2026-39861.
Deno.test("no tool follows a way out, nor names what lies there", async () => {
  await using place = withWaysOut();
  const ways = [
    ...["..", "../work-secrets/canary.txt", "dir/../../work-secrets/canary.txt", "/etc/passwd", "/", "out"],
    ...["out/canary.txt", "out/sub/canary.txt", "dir/out-file", "chain", "up/work-secrets/canary.txt"],
    ...["etc/passwd", "self", "nowhere", "zero", "a.txt\0.png", "", "x".repeat(5000)],
    // Shares its first letters with the workspace: a comparison of prefixes would let it in.
    `${place.outside}/canary.txt`,
  ];
  const before = place.names(place.outside);
  const calls = ways.flatMap(callsOn);
  for (const [index, { status, output }] of (await place.run(calls, WRITE)).entries()) {
    const what = JSON.stringify(calls[index]).slice(0, 200);
    assert.equal(status, "error", `${what}: ${output}`);
    assert.ok(!output.includes(CANARY) && !output.includes(place.workspace + "/"), `${what}: ${output}`);
  }
  assert.deepEqual(place.names(place.outside), before);
  assert.equal(Deno.readTextFileSync(`${place.outside}/canary.txt`), CANARY);
});

Deno.test("things outside that exist and things that do not get the same answer", async () => {
  await using place = withWaysOut();
  const pairs = [
    ["../work-secrets/canary.txt", "../work-secrets/missing.txt"],
    ["out/canary.txt", "out/missing.txt"],
    ["etc/passwd", "etc/no-such-file"],
  ];
  const said = (await place.run(pairs.flat().map((path) => ["read_file", { path }])))
    .map(({ output }, index) => output.replaceAll(pairs.flat()[index] as string, "PATH"));
  for (let pair = 0; pair < said.length; pair += 2) assert.equal(said[pair], said[pair + 1]);
});

Deno.test("a path that cannot be opened is refused with the reason", async () => {
  await using place = withWaysOut();
  const rows: [string, RegExp][] = [
    ["a.txt\0.png", /holds a NUL character/],
    ["x".repeat(5000), /path of 5000 characters/],
    ["dir/deeper/no/such.txt", /no such file or directory \(the nearest that exists is "dir\/deeper"\)/],
    ["a.txt/b", /nearest that exists is "\."/],
  ];
  const outcomes = await place.run(rows.map(([path]) => ["read_file", { path }]));
  for (const [index, [, says]] of rows.entries()) assert.match(outcomes[index]?.output ?? "", says);
});

Deno.test("write_file refuses what is no regular file of the workspace, and changes nothing", async () => {
  await using place = withWaysOut();
  const rows: [string, RegExp][] = [
    ["dir", /it is a directory/],
    ["dir/", /cannot end with a slash/],
    [".", /it is the workspace itself/],
    ["to-file", /symbolic link; name the file itself/],
    ["nowhere", /symbolic link/],
    ["out/new/deep.txt", /leads outside the workspace, or nowhere/],
    ["nowhere/x.txt", /leads outside the workspace, or nowhere/],
    ["dir/b.txt/c.txt", /"dir\/b.txt" is not a directory/],
    ["../new.txt", /outside the workspace/],
    ["", /empty path/],
    ["x".repeat(300), /too long/],
  ];
  const before = place.names();
  const outcomes = await place.run(rows.map(([path]) => ["write_file", { path, content: "x" }]), WRITE);
  for (const [index, [path, says]] of rows.entries()) assert.match(outcomes[index]?.output ?? "", says, path);
  assert.deepEqual(place.names(), before);
});

test.long("no tool waits for a FIFO", async () => {
  await using place = new Workplace({ "a.txt": "a" });
  place.makeFifo("pipe");
  const outcomes = await place.run(callsOn("pipe"), WRITE);
  for (const { status, output } of outcomes) {
    assert.deepEqual([status, /FIFO|not a regular file/.test(output)], ["error", true], output);
  }
  const [listed, searched] = await place.run([["list_files", {}], ["search_text", { pattern: "a" }]]);
  assert.deepEqual([listed?.output, searched?.output], ["a.txt\npipe [special]", "a.txt:1:a"]);
});

Deno.test("a rule about writes judges the place where a link leads", async () => {
  await using place = new Workplace({ "real/x": "", "way": { link: "real" }, "hooks": { link: ".git" } });
  place.write(".git/x", "");
  const [way, hooks] = await place.run([
    ["write_file", { path: "way/new/a.txt", content: "a" }],
    ["write_file", { path: "hooks/pre-commit", content: "x" }],
  ], ["--allow", "write:real/**"]);
  assert.equal(way?.output, "Wrote real/new/a.txt: 1 bytes (a new file)");
  assert.match(hooks?.output ?? "", /"\.git" is a protected name/);
});

const spelled = (names: readonly string[]) =>
  names.map((path): Call => ["write_file", { path, content: "x" }]);
const namesIn = (groups: Readonly<Record<string, string>>) =>
  Object.values(groups).flatMap((names) => names.split(" "));

// CVE-2026-25725, CVE-2025-59944.
Deno.test("protected names are refused in every spelling that some file system takes for the same name", async () => {
  await using place = new Workplace();
  const names = [...namesIn(PROTECTED_NAMES), ...BLANK_ENDINGS];
  const outcomes = await place.run(spelled(names), WRITE);
  assert.deepEqual(names.filter((_, index) => !/protected name/.test(outcomes[index]?.output ?? "")), []);
  assert.deepEqual(place.names(), []);
});

Deno.test("other names may be written", async () => {
  await using place = new Workplace();
  const names = namesIn(FREE_NAMES);
  const outcomes = await place.run(spelled(names), WRITE);
  assert.deepEqual(names.filter((_, index) => outcomes[index]?.status !== "ok"), []);
});

Deno.test("no write reaches the home of reprise, even if that lies in the workspace", async () => {
  await using place = new Workplace({ "data/sessions/x": "", "way": { link: "data" } });
  const paths = ["data/new", "data/sessions/x", "DATA/new", "way/new", "database/x"];
  const { args } = place.script(spelled(paths), WRITE);
  const home = `${place.workspace}/data`;
  Deno.chmodSync(home, 0o700);
  const { code, stdout } = await place.call(args, { env: { REPRISE_HOME: home } });
  assert.equal(code, 0, stdout);
  const said = JSON.stringify([...Deno.readDirSync(home)].map(({ name }) => name).sort());
  assert.ok(!said.includes("new"), said);
  assert.deepEqual(place.names().filter((name) => name.startsWith("database")), ["database", "database/x"]);
});

for (const [name, { has = {}, writes, refused }] of Object.entries(GIT_DIRECTORIES)) {
  Deno.test(`no write makes or changes a directory that git takes its configuration from: ${name}`, async () => {
    await using place = new Workplace(has);
    const outcomes = await place.run(spelled(writes), WRITE);
    assert.deepEqual(
      writes.filter((_, index) => outcomes[index]?.status !== "ok"),
      refused,
      outcomes.map(({ output }) => output).join("\n"),
    );
    for (const { status, output } of outcomes) if (status !== "ok") assert.match(output, /git directory/);
  });
}

const SEGMENTS = [
  ...["..", ".", "", "a.txt", "dir", "deeper", "b.txt", "c.txt", "to-dir", "to-file", "out", "out-file"],
  ...["chain", "up", "etc", "self", "nowhere", "zero", "work", "work-secrets", "canary.txt", "sub", "passwd"],
  ...["...", "\\..\\", "%2e%2e", "..\0", "C:", "CON", "A.TXT", "e\u0301", "\u202e", "a\\b", "~", "*", "new"],
];

test.long("no generated path leads a read or a write out of the workspace", async () => {
  await using place = withWaysOut();
  const starts = ["", "", "", "/", "//", "./", "~/", "file://", `${place.workspace}/`, `${place.outside}/`];
  const path = fc.tuple(fc.constantFrom(...starts), fc.array(fc.constantFrom(...SEGMENTS), { maxLength: 6 }))
    .map(([first, rest]) => first + rest.join("/"));
  let done = 0;
  for (let round = 0; round < samples(10); round++) {
    const calls = fc.sample(path, 200).flatMap((each): Call[] => [
      ["read_file", { path: each }],
      ["write_file", { path: each, content: "inside" }],
    ]);
    for (const { status, output } of await place.run(calls, WRITE)) {
      assert.ok(!output.includes(CANARY), output);
      if (status === "ok") done++;
    }
  }
  assert.ok(done > samples(10) * 10, `only ${done} paths led anywhere`);
  assert.deepEqual(place.names(place.outside), ["canary.txt", "sub", "sub/canary.txt"]);
  for (const name of ["canary.txt", "sub/canary.txt"]) {
    assert.equal(Deno.readTextFileSync(`${place.outside}/${name}`), CANARY);
  }
  const beside = [...Deno.readDirSync(place.directory)].map(({ name }) => name);
  assert.deepEqual(beside.filter((name) => !/^(model-s\d+|home|work|work-secrets)$/.test(name)), []);
});

test.long("no call reads, lists or changes anything outside while a directory is swapped for a link", async () => {
  await using place = new Workplace({
    "dir/name.txt": "inside race",
    "../work-secrets/name.txt": `${CANARY} race`,
  });
  place.write("../work-secrets/secret-name.txt", CANARY);
  const calls = Array.from({ length: 150 }, (_, index): Call[] => [
    ["read_file", { path: "dir/name.txt" }],
    ["list_files", { path: "dir" }],
    ["search_text", { path: "dir", pattern: "a" }],
    ["write_file", { path: "dir/name.txt", content: `inside race ${index}` }],
    ["write_file", { path: `dir/sub/${index}/new.txt`, content: "inside" }],
    ["edit_file", { path: "dir/name.txt", old_text: "race", new_text: "race" + index }],
  ]).flat();
  const count = { ok: 0, error: 0 };
  await whileSwapping({ root: place.workspace, outside: place.outside }, "dir", async (swaps) => {
    while (count.error < 100 || count.ok < 100 || swaps() < 500) {
      for (const { status, output } of await place.run(calls, WRITE)) {
        count[status as keyof typeof count]++;
        assert.ok(!/canary|secret-name/.test(output), output);
      }
    }
  }, { rest: 0.1 });
  assert.deepEqual(place.names(place.outside), ["name.txt", "secret-name.txt"]);
  assert.equal(Deno.readTextFileSync(`${place.outside}/name.txt`), `${CANARY} race`);
});
