/** Files of others, links and special files are refused and never followed; what is ours is for its owner alone. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { lacksRoot, needing } from "../../support/needs.ts";
import { test } from "../../support/test.ts";
import { ID, type SessionHome, withHome } from "./home.ts";
import type { SessionFiles } from "./session_files.ts";

/** Places of a session where something else may be planted. */
const FILES = ["turns/000001.json", "turns/000005.json", "manifest.json"];
const DIRECTORIES = [".", "turns", "blobs"];

const inside = (session: SessionFiles, place: string) =>
  place === "." ? session.path : `${session.path}/${place}`;

/** Calls that read or write a session. */
const VERBS = [
  ["export", ID, "file"],
  ["rename", ID, "New"],
  ["run", "--dry-run", "-s", ID, "-m", "m", "Go on"],
];

/** Readers and writers refuse the session with that finding, and `fsck` reports it. */
async function refused(home: SessionHome, finding: string): Promise<void> {
  for (const verb of VERBS) {
    const called = await home.call([...verb, "--json"], { env: { OPENAI_API_KEY: "sk-test-1" } });
    const { code, details } = JSON.parse(called.stdout.trimEnd().split("\n").at(-1) ?? "");
    assert.deepEqual([called.code, code], [12, "session_damaged"], verb[0]);
    assert.equal(details.finding ?? finding, finding, verb[0]);
  }
  assert.ok((await home.findings()).some((line) => line.startsWith(`error ${finding} `)));
}

for (const place of [...FILES, ...DIRECTORIES]) {
  withHome(`a symbolic link at ${place} is refused, even if it leads to the real thing`, async (home) => {
    const session = home.session();
    Deno.renameSync(inside(session, place), `${home.directory}/real`);
    Deno.symlinkSync(`${home.directory}/real`, inside(session, place));
    await refused(home, "symlink");
  });
}

for (const place of FILES) {
  withHome(`a FIFO at ${place} is refused without being opened, which would block for ever`, async (home) => {
    const session = home.session();
    Deno.removeSync(inside(session, place));
    const { success } = await new Deno.Command("mkfifo", { args: [inside(session, place)] }).output();
    assert.ok(success);
    await refused(home, "not_a_file");
  }, test.long);
}

for (const place of [...FILES, ...DIRECTORIES]) {
  const { name, ignore } = needing(`another owner of ${place} is refused`, lacksRoot());
  withHome(name, async (home) => {
    Deno.chownSync(inside(home.session(), place), 12345, null);
    await refused(home, "foreign_owner");
  }, (name, fn) => Deno.test({ name, ignore, fn }));
}

withHome("a link at lock is refused by a writer, and leads nowhere", async (home) => {
  const session = home.session();
  Deno.writeTextFileSync(`${home.directory}/target`, "precious");
  Deno.symlinkSync(`${home.directory}/target`, `${session.path}/lock`);
  assert.equal((await home.json(["rename", ID, "New"], 12)).code, "session_damaged");
  assert.equal(Deno.readTextFileSync(`${home.directory}/target`), "precious");
  assert.deepEqual(await home.findings(), ["error symlink lock"]);
});

/** Turns that no reader takes, whatever their seal. */
const EXCESSIVE: Record<string, [finding: string, change: (session: SessionFiles) => void]> = {
  "of more than 64 MiB": ["too_large", (session) => Deno.truncateSync(session.turn(2), 64 * 1024 * 1024 + 1)],
  "of 600 levels": ["too_deep", (session) => {
    const deep = `"turn":2,"x":${"[".repeat(600)}${"]".repeat(600)}`;
    session.edit(session.turn(2), (text) => text.replace('"turn":2', deep));
  }],
};

for (const [what, [finding, change]] of Object.entries(EXCESSIVE)) {
  withHome(`a turn ${what} is refused, and show prints the others`, async (home) => {
    change(home.session());
    assert.ok((await home.findings()).includes(`error ${finding} turns/000002.json`));
    assert.equal(await home.refuses(), true);
    const { turns } = await home.json(["show", ID], 12);
    assert.deepEqual(turns.map(({ turn }: Json) => turn), [1, 3, 4, 5]);
  });
}

/** Each file and directory below a path, as `kind mode path`. */
function modesBelow(path: string): string[] {
  const { isDirectory, mode } = Deno.lstatSync(path);
  const line = `${isDirectory ? "d" : "f"} ${((mode ?? 0) & 0o777).toString(8)} ${path}`;
  return isDirectory
    ? [line, ...Array.from(Deno.readDirSync(path)).flatMap(({ name }) => modesBelow(`${path}/${name}`))]
    : [line];
}

for (const umask of [0o000, 0o277]) {
  withHome(`under umask ${umask.toString(8)} directories are 0700 and files 0600`, async (home) => {
    home.session();
    const { stdout } = await home.call(["export", ID]);
    const args = ["--home", `${home.directory}/new/store`];
    const before = Deno.umask(umask);
    try {
      assert.equal((await home.call(["import", "-", ...args], { stdin: stdout })).code, 0);
      Deno.removeSync(`${home.directory}/new/store/sessions/${ID}/turns/000003.json`);
      await home.json(["repair", ID, ...args]);
      Deno.writeFileSync(`${home.directory}/new/store/sessions/${ID}/turns/000003.json`, new Uint8Array());
      await home.json(["repair", ID, ...args]);
    } finally {
      Deno.umask(before);
    }
    const seen = modesBelow(`${home.directory}/new`);
    for (const name of ["/lock", "/manifest.json", "/turns/000006.json", "/blobs/", "/quarantine/"]) {
      assert.ok(seen.some((line) => line.includes(name)), `${name} in ${seen}`);
    }
    assert.deepEqual(seen.filter((line) => !/^(d 700|f 600) /.test(line)), []);
  });
}
