/** Two branches that record, merged by git: what conflicts, and what `fixture seal` makes of it. */
import assert from "node:assert/strict";
import { bytesBelow, type Json } from "../../support/files.ts";
import { lacksProgram, needing } from "../../support/needs.ts";
import { answering, RawUpstream } from "../../support/raw_upstream.ts";
import { test } from "../../support/test.ts";
import { RecordingHome } from "./home.ts";
import { edit, exchangesOf, foldersIn, headerOf, write } from "./recording_files.ts";

/** A repository with recordings, whose API answers with a number that rises. */
class Repository extends RecordingHome {
  readonly #upstream: RawUpstream;
  #answers = 0;

  constructor() {
    super();
    this.#upstream = new RawUpstream((...request) =>
      answering(
        "200 OK\r\ncontent-type: application/json",
        JSON.stringify({ id: `resp_${++this.#answers}`, object: "response" }),
      )(...request)
    );
    Deno.mkdirSync(`${this.directory}/repo`);
    this.git("init", "-q", "-b", "main");
    this.git("commit", "-q", "--allow-empty", "-m", "Begin");
  }

  get path(): string {
    return `${this.directory}/repo`;
  }

  /** Runs git, which must end with one of `codes`; returns what it printed. */
  git(...args: readonly string[]): string {
    const settings = ["user.name=Ada", "user.email=ada@example.com", "gc.auto=0", "core.autocrlf=false"];
    const { code, stdout, stderr } = new Deno.Command("git", {
      args: [...settings.flatMap((setting) => ["-c", setting]), ...args],
      cwd: this.path,
      env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
    }).outputSync();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.ok(code === 0 || args[0] === "merge", `git ${args.join(" ")}: ${text}`);
    return text;
  }

  /** Records one request for each text into a folder of the repository, and commits. */
  async recorded(
    texts: readonly string[],
    { out = "suite", test = "", flags = ["--missing"] }: {
      readonly out?: string;
      readonly test?: string;
      readonly flags?: readonly string[];
    } = {},
  ): Promise<void> {
    await using recorder = await this.record(this.#upstream.origin, { out: `repo/${out}`, flags });
    for (const input of texts) {
      const { status } = await recorder.ask(`${test}/v1/responses`, { model: "gpt-5.6", input });
      assert.equal(status, 200);
    }
    await recorder.end(0);
    this.commit(`Record ${texts.join(", ")}`);
  }

  commit(message: string): void {
    this.git("add", "-A");
    this.git("commit", "-q", "-m", message);
  }

  /** Lets each branch do its own from here; then merges the second into the first, and returns what git says. */
  async merged(
    own: () => Promise<void> | void,
    other: () => Promise<void> | void,
    ...flags: readonly string[]
  ): Promise<string> {
    this.git("checkout", "-q", "-b", "other");
    await other();
    this.git("checkout", "-q", "main");
    await own();
    return this.git("merge", ...flags, "other");
  }

  /** Paths of the files with a conflict. */
  get conflicts(): string[] {
    return this.git("diff", "--name-only", "--diff-filter=U").split("\n").filter((name) => name !== "");
  }

  /** Texts that the exchanges of a recording asked, in order. */
  asked(out = "suite"): string[] {
    return exchangesOf(`${this.path}/${out}`).map(({ request }) => request.body.input);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#upstream[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }

  /** Seals a folder of the repository; returns the report. */
  async sealed(out = "suite"): Promise<Json> {
    return await this.json(["seal", `repo/${out}`]);
  }
}

/** Registers a test with a repository, for which git is needed. */
function merging(name: string, fn: (repo: Repository) => Promise<void>): void {
  test.long({
    ...needing(name, lacksProgram("git")),
    async fn() {
      await using repo = new Repository();
      await fn(repo);
    },
  });
}

merging(
  "two branches that add to a suite conflict in fixture.json alone, and seal takes both sides",
  async (repo) => {
    await repo.recorded(["a", "b"], { flags: [] });
    const said = await repo.merged(
      () => repo.recorded(["a", "b", "own", "both"]),
      () => repo.recorded(["a", "b", "other", "both", "more"]),
    );
    assert.match(said, /CONFLICT/);
    assert.deepEqual(repo.conflicts, ["suite/fixture.json"]);
    const before = bytesBelow(`${repo.path}/suite`);
    const { merged, ...report } = await repo.sealed();
    assert.deepEqual(report, {
      path: "repo/suite",
      added: [],
      changed: [],
      removed: [],
      refitted: [],
      dry_run: false,
    });
    assert.deepEqual(merged.sides, [{ name: "HEAD", exchanges: 2 }, { name: "other", exchanges: 3 }]);
    assert.deepEqual(merged.notes, [
      "exchanges 4 and 7 have the same request: a test that sends it once leaves one unused",
    ]);
    // The other branch recorded first.
    assert.deepEqual(repo.asked(), ["a", "b", "other", "both", "more", "own", "both"]);
    const { recordings } = headerOf(`${repo.path}/suite`);
    assert.deepEqual(recordings.map(({ exchanges }: Json) => exchanges), [[1, 2], [3, 5], [6, 7]]);
    const after = bytesBelow(`${repo.path}/suite`);
    after.delete("fixture.json");
    before.delete("fixture.json");
    assert.deepEqual(after, before);
    // Later recordings continue from here, and lint has nothing to say.
    await repo.recorded(["a", "b", "other", "both", "more", "own", "both", "later"]);
    assert.deepEqual(repo.asked().slice(-2), ["both", "later"]);
    assert.match(foldersIn(`${repo.path}/suite`).at(-1) ?? "", /^exchanges\/0006-[0-9a-f]{8}$/);
    assert.deepEqual(await repo.findings("repo/suite"), []);
  },
);

merging(
  "recordings of tests merge one by one: one that both began, one that both continued, and one of each branch",
  async (repo) => {
    const out = "tests";
    const record = (name: string, ...texts: string[]) => repo.recorded(texts, { out, test: `/t/${name}` });
    await record("old", "a");
    await repo.merged(
      async () => {
        await record("old", "a", "own");
        await record("new", "first of own");
        await record("mine", "m");
      },
      async () => {
        await record("old", "a", "other");
        await record("new", "first of other");
        await record("yours", "y");
      },
    );
    assert.deepEqual(repo.conflicts, ["tests/new/fixture.json", "tests/old/fixture.json"]);
    for (const name of ["old", "new"]) await repo.sealed(`${out}/${name}`);
    repo.commit("Merge");
    assert.deepEqual(repo.asked("tests/old"), ["a", "other", "own"]);
    assert.deepEqual(repo.asked("tests/new"), ["first of other", "first of own"]);
    assert.deepEqual([repo.asked("tests/mine"), repo.asked("tests/yours")], [["m"], ["y"]]);
    assert.deepEqual(await repo.findings("repo/tests"), []);
  },
);

/** Forms of the markers, by settings of git and by what editors do to the file. */
const FORMS: Readonly<
  Record<string, readonly [style: string | null, after: (text: string) => string]>
> = {
  "with the base (diff3)": ["diff3", (text) => text],
  "with the base (zdiff3)": ["zdiff3", (text) => text],
  "with a base that was in conflict itself": [
    "diff3",
    (text) =>
      text.replace(
        /^\|{7}.*\n/m,
        (line) =>
          `${line}<<<<<<<<< Temporary merge branch 1\n1\n=========\n2\n>>>>>>>>> Temporary merge branch 2\n`,
      ),
  ],
  "with CRLF": [null, (text) => text.replaceAll("\n", "\r\n")],
  "without names": [null, (text) => text.replaceAll(/^([<>]{7}).*$/gm, "$1")],
};
for (const [what, [style, after]] of Object.entries(FORMS)) {
  merging(`seal takes both sides of markers ${what}`, async (repo) => {
    await repo.recorded(["a", "b", "c"], { flags: [] });
    repo.git("checkout", "-q", "-b", "other");
    await repo.recorded(["a", "b", "c", "other"]);
    repo.git("checkout", "-q", "main");
    await repo.recorded(["a", "b", "c", "own", "own 2"]);
    if (style !== null) repo.git("config", "merge.conflictStyle", style);
    repo.git("merge", "other");
    assert.deepEqual(repo.conflicts, ["suite/fixture.json"]);
    const marked = Deno.readTextFileSync(`${repo.path}/suite/fixture.json`);
    assert.equal(/^\|{7}/m.test(marked), style !== null);
    write(`${repo.path}/suite/fixture.json`, after(marked));
    const { merged } = await repo.sealed();
    assert.deepEqual(merged.sides.map(({ exchanges }: Json) => exchanges), [2, 1]);
    assert.deepEqual(repo.asked(), ["a", "b", "c", "other", "own", "own 2"]);
  });
}

merging(
  "a conflict inside a conflict is taken whole: a third branch was merged before the first was sealed",
  async (repo) => {
    await repo.recorded(["a"], { flags: [] });
    const header = `${repo.path}/suite/fixture.json`;
    await repo.merged(() => repo.recorded(["a", "own"]), () => repo.recorded(["a", "other"]));
    const inner = Deno.readTextFileSync(header);
    repo.git("checkout", "-q", "-f", "main");
    repo.git("reset", "-q", "--hard", "main");
    await repo.recorded(["a", "own", "third"]);
    const third = Deno.readTextFileSync(header);
    // Back to the unfinished merge, as another merge on top of it nests the markers.
    write(header, `<<<<<<< HEAD\n${inner}=======\n${third}>>>>>>> third\n`);
    repo.git("checkout", "other", "--", ...foldersOn(repo, "other"));
    const { merged } = await repo.sealed();
    assert.deepEqual(merged.sides.map(({ name }: Json) => name), ["HEAD / HEAD", "HEAD / other", "third"]);
    assert.deepEqual(repo.asked(), ["a", "other", "own", "third"]);
  },
);

/** Folders of exchanges that a branch has. */
function foldersOn(repo: Repository, branch: string): string[] {
  const names = repo.git("ls-tree", "-r", "--name-only", branch).split("\n");
  return [
    ...new Set(
      names.filter((name) => name.includes("/exchanges/")).map((name) => name.replace(/\/[^/]+$/, "")),
    ),
  ];
}

merging(
  "one branch prunes and the other records: what was pruned stays away, and the numbers fit",
  async (repo) => {
    await repo.recorded(["a", "b", "c"], { flags: [] });
    await repo.recorded(["a", "b", "c", "d"]);
    const [first] = foldersIn(`${repo.path}/suite`);
    await repo.merged(
      () => {
        Deno.removeSync(`${repo.path}/suite/${first}`, { recursive: true });
        edit(`${repo.path}/suite/fixture.json`, (text) => {
          const { files, ...header } = JSON.parse(text);
          for (const name of Object.keys(files)) if (name.startsWith(`${first}/`)) delete files[name];
          header.recordings[0].exchanges = [1, 2];
          header.recordings[1].exchanges = [3, 3];
          return `${
            JSON.stringify({ ...header, files }, null, 2).replace(/\[\n\s+(\d),\n\s+(\d)\n\s+\]/g, "[$1, $2]")
          }\n`;
        });
        repo.commit("Prune");
      },
      () => repo.recorded(["a", "b", "c", "d", "other"]),
    );
    await repo.sealed();
    assert.deepEqual(repo.asked(), ["b", "c", "d", "other"]);
    const { recordings } = headerOf(`${repo.path}/suite`);
    assert.deepEqual(recordings.map(({ exchanges }: Json) => exchanges), [[1, 2], [3, 3], [4, 4]]);
    assert.deepEqual(await repo.findings("repo/suite"), []);
  },
);

merging(
  "both branches replace one exchange by another: git calls that a rename, and no file gets markers",
  async (repo) => {
    await repo.recorded(["a", "b"], { flags: [] });
    const replaced = async (text: string) => {
      const removed = foldersIn(`${repo.path}/suite`)[1] as string;
      const { files, ...header } = headerOf(`${repo.path}/suite`);
      Deno.removeSync(`${repo.path}/suite/${removed}`, { recursive: true });
      const kept = Object.entries(files).filter(([name]) => !name.startsWith(`${removed}/`));
      write(
        `${repo.path}/suite/fixture.json`,
        `${JSON.stringify({ ...header, files: Object.fromEntries(kept) }, null, 2)}\n`,
      );
      await repo.recorded(["a", text]);
    };
    const said = await repo.merged(() => replaced("own"), () => replaced("other"));
    assert.match(said, /CONFLICT/);
    for (const [name, bytes] of bytesBelow(`${repo.path}/suite/exchanges`)) {
      assert.doesNotMatch(new TextDecoder().decode(bytes), /^<{7}/m, name);
    }
    await repo.sealed();
    assert.deepEqual(repo.asked(), ["a", "other", "own"]);
  },
);

merging(
  "one branch records everything again and the other adds: each exchange has the recording that it names",
  async (repo) => {
    await repo.recorded(["a"], { flags: [] });
    await repo.merged(
      () => repo.recorded(["a", "own"]),
      () => repo.recorded(["a", "other"], { flags: ["--mode", "all"] }),
    );
    const { merged } = await repo.sealed();
    assert.deepEqual(merged.sides.map(({ exchanges }: Json) => exchanges), [1, 2]);
    assert.deepEqual(repo.asked().toSorted(), ["a", "other", "own"]);
    const { recordings } = headerOf(`${repo.path}/suite`);
    const starts = exchangesOf(`${repo.path}/suite`).map(({ request }) => request.recording);
    assert.equal(recordings.length, 2);
    for (const { created, exchanges: [first, last] } of recordings) {
      assert.deepEqual(new Set(starts.slice(first - 1, last)), new Set([created]));
    }
    assert.deepEqual(await repo.findings("repo/suite"), []);
  },
);

merging(
  "branches that were merged into each other before: diff3 shows a cut merge as their base",
  async (repo) => {
    await repo.recorded(["a"], { flags: [] });
    await repo.merged(() => repo.recorded(["a", "own"]), () => repo.recorded(["a", "other"]));
    await repo.sealed();
    repo.commit("Merge other");
    const before = repo.git("rev-parse", "main^1").trim();
    repo.git("checkout", "-q", "other");
    repo.git("merge", before);
    await repo.sealed();
    repo.commit("Merge main");
    await repo.recorded(["a", "own", "other", "more"]);
    repo.git("checkout", "-q", "main");
    await repo.recorded(["a", "own", "other", "most"]);
    repo.git("config", "merge.conflictStyle", "diff3");
    repo.git("merge", "other");
    assert.match(Deno.readTextFileSync(`${repo.path}/suite/fixture.json`), /^>{8,} /m);
    await repo.sealed();
    assert.deepEqual(repo.asked(), ["a", "other", "own", "more", "most"]);
  },
);
