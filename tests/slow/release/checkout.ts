/**
 * A copy of this checkout with a git history of its own, ready for a release.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { type Finished, outputOf, run } from "../../../scripts/process.ts";
import { binaryName, type Target, TARGETS } from "../../../scripts/compile/targets.ts";

/** The version in deno.json. */
export const { version: VERSION } = JSON.parse(Deno.readTextFileSync("deno.json")) as {
  readonly version: string;
};

/** Seconds since 1970 of every commit in a copy. */
export const COMMITTED_AT = 1_700_000_000;

/** The copy, in a temporary directory. Its files are those that git tracks or would add. */
export class Checkout implements Disposable {
  readonly directory = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-release-" }));
  readonly root = join(this.directory, "checkout");
  readonly binaries = join(this.directory, "binaries");
  readonly out = join(this.directory, "out");

  /** Copies the checkout, with a changelog that has a section for its version, commits and tags it. */
  static async create(): Promise<Checkout> {
    const checkout = new Checkout();
    Deno.mkdirSync(checkout.root);
    const copy = 'git -c "safe.directory=*" ls-files -z --cached --others --exclude-standard |' +
      ' xargs -0 ls -d 2> /dev/null | tar -cf - -T - | tar -xf - -C "$ROOT"';
    const copied = await run("sh", ["-c", copy], { cwd: resolve("."), env: { ROOT: checkout.root } });
    if (copied.code !== 0) throw new Error(outputOf(copied));
    checkout.write(
      "CHANGELOG.md",
      changelog(`## [${VERSION}] - 2026-01-31\n\n### Added\n\n- A first thing.\n`),
    );
    await checkout.git("init", "-q");
    await checkout.commit();
    await checkout.tag();
    return checkout;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.directory, { recursive: true });
  }

  write(path: string, text: string): void {
    Deno.writeTextFileSync(join(this.root, path), text);
  }

  async git(...args: readonly string[]): Promise<void> {
    const date = `${COMMITTED_AT} +0000`;
    const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    const config = [
      "-c",
      "user.name=Alice",
      "-c",
      "user.email=alice@example.com",
      "-c",
      "init.defaultBranch=main",
    ];
    const finished = await run("git", [...config, "-C", this.root, ...args], { env });
    if (finished.code !== 0) throw new Error(outputOf(finished));
  }

  async commit(): Promise<void> {
    await this.git("add", "-A");
    await this.git("commit", "-q", "--allow-empty", "-m", "State");
  }

  /** Moves the tag of the version to HEAD. */
  async tag(): Promise<void> {
    await this.git("tag", "-f", "-a", `v${VERSION}`, "-m", VERSION);
  }

  /** Writes a script that prints `printed` as each target's executable. */
  addStubs(printed = VERSION): void {
    Deno.mkdirSync(this.binaries, { recursive: true });
    for (const target of Object.keys(TARGETS) as Target[]) {
      const script = `#!/bin/sh\n# ${target}\necho ${printed}\n`;
      Deno.writeTextFileSync(join(this.binaries, binaryName(target)), script, { mode: 0o755 });
    }
  }

  /** Runs the release script of the copy. */
  release(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
    const script = join(this.root, "scripts/release.ts");
    return run(Deno.execPath(), ["run", "-A", "--no-check", script, ...args], { cwd: this.root, env });
  }

  /** Runs the release script with the stubs, for the repository alice/reprise. */
  releaseStubs(out = this.out, env: Readonly<Record<string, string>> = {}): Promise<Finished> {
    const args = ["--binaries", this.binaries, "--repository", "alice/reprise", "--out", out];
    return this.release(args, env);
  }
}

/** Returns a changelog with `section` between an empty section and an older version. */
export function changelog(section: string): string {
  return `# Changelog\n\n## [Unreleased]\n\n${section}\n## [0.0.1] - 2025-01-01\n\n- An older thing.\n`;
}
