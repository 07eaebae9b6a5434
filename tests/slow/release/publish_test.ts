/** `scripts/release/publish_npm.sh` with a stub of npm. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Finished, outputOf, run } from "../../../scripts/process.ts";

/** Notes its arguments and what it finds in its configuration; knows the packages in the file `published`. */
const NPM = `#!/usr/bin/env bash
case $1 in
  config) echo https://packages.example/ ;;
  view) grep -qxF "$2" "$STUB/published" && echo found ;;
  publish)
    echo "$* $(cat "$NPM_CONFIG_USERCONFIG")" >> "$STUB/calls"
    tar -xzOf "$2" package/package.json | jq -r '"\\(.name)@\\(.version)"' >> "$STUB/published"
    [ ! -f "$STUB/fail" ] || exit 1
    ;;
esac
`;

class Packages implements Disposable {
  readonly directory = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-publish-" }));
  readonly folder = join(this.directory, "npm");

  constructor() {
    Deno.mkdirSync(this.folder);
    Deno.mkdirSync(join(this.directory, "bin"));
    Deno.writeTextFileSync(join(this.directory, "bin/npm"), NPM, { mode: 0o755 });
    Deno.writeTextFileSync(join(this.directory, "published"), "");
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.directory, { recursive: true });
  }

  async add(file: string, manifest: Readonly<Record<string, unknown>>): Promise<void> {
    const work = Deno.makeTempDirSync({ dir: this.directory });
    Deno.mkdirSync(join(work, "package"));
    Deno.writeTextFileSync(join(work, "package/package.json"), JSON.stringify(manifest));
    const packed = await run("tar", ["-czf", join(this.folder, file), "-C", work, "package"]);
    assert.equal(packed.code, 0, outputOf(packed));
  }

  /** Adds a launcher, whose file comes first by name, and a package for a platform. */
  async addBoth(version: string): Promise<void> {
    await this.add(`a-${version}.tgz`, {
      name: "@x/reprise",
      version,
      optionalDependencies: { "@x/reprise-linux": version },
    });
    await this.add(`a-linux-${version}.tgz`, { name: "@x/reprise-linux", version });
  }

  publish(): Promise<Finished> {
    return run("bash", ["scripts/release/publish_npm.sh", this.folder], {
      env: {
        NPM_TOKEN: "npm_none",
        PATH: `${this.directory}/bin:${Deno.env.get("PATH")}`,
        STUB: this.directory,
      },
    });
  }

  get calls(): string[] {
    try {
      return Deno.readTextFileSync(join(this.directory, "calls")).trimEnd().split("\n");
    } catch {
      return [];
    }
  }
}

Deno.test("the packages of platforms are published before the launcher, with provenance", async () => {
  using packages = new Packages();
  await packages.addBoth("1.0.0");
  const finished = await packages.publish();
  assert.equal(finished.code, 0, outputOf(finished));
  const published = Deno.readTextFileSync(join(packages.directory, "published"));
  assert.equal(published, "@x/reprise-linux@1.0.0\n@x/reprise@1.0.0\n");
  for (const call of packages.calls) {
    assert.match(
      call,
      / --provenance --access public --tag latest \/\/packages\.example\/:_authToken=\$\{NPM_TOKEN\}$/,
    );
  }
});

Deno.test("a version before a release gets the tag next, and a published one is skipped", async () => {
  using packages = new Packages();
  await packages.addBoth("1.0.0-rc.1");
  Deno.writeTextFileSync(join(packages.directory, "published"), "@x/reprise-linux@1.0.0-rc.1\n");
  const finished = await packages.publish();
  assert.equal(finished.code, 0, outputOf(finished));
  assert.match(finished.stdout, /^@x\/reprise-linux 1\.0\.0-rc\.1 is published already$/m);
  assert.equal(packages.calls.length, 1);
  assert.match(packages.calls[0] ?? "", /--tag next/);
});

Deno.test("a private package, a missing launcher, an empty folder and a failure of npm end the script", async () => {
  using packages = new Packages();
  assert.equal((await packages.publish()).code, 1);
  await packages.add("a-linux-1.0.0.tgz", { name: "@x/reprise-linux", version: "1.0.0", private: true });
  assert.match((await packages.publish()).stderr, /is private$/m);
  assert.deepEqual(packages.calls, []);
  await packages.add("a-linux-1.0.0.tgz", { name: "@x/reprise-linux", version: "1.0.0" });
  assert.match((await packages.publish()).stderr, /0 launchers/);

  using failing = new Packages();
  await failing.addBoth("1.0.0");
  Deno.writeTextFileSync(join(failing.directory, "fail"), "");
  assert.notEqual((await failing.publish()).code, 0);
  assert.equal(failing.calls.length, 1);
});
