import { RepriseError } from "../../src/domain/errors.ts";
import { counted } from "../../src/domain/text.ts";
import { outputOf, run } from "../process.ts";

/** The commit of a release. */
export interface Commit {
  /** Its full hash. */
  readonly hash: string;
  /** Seconds since 1970. */
  readonly time: number;
}

/**
 * Checks that the checkout at `root` is a released commit: no changed or untracked file, and the tag on `HEAD`.
 *
 * @throws {RepriseError} `usage` if it is not, `unexpected` if git fails.
 */
export async function checkCheckout(root: string, tag: string): Promise<Commit> {
  const changed = (await git(root, ["status", "--porcelain"])).split("\n").filter((line) => line !== "");
  if (changed.length > 0) {
    throw new RepriseError("usage", `Cannot release: ${counted(changed.length, "file")} not committed`, {
      hint: `Commit or remove ${changed.slice(0, 5).map((line) => line.slice(3)).join(", ")}`,
    });
  }
  const [hash = "", time = ""] = (await git(root, ["log", "-1", "--format=%H %ct"])).trim().split(" ");
  const tagged = (await git(root, ["tag", "--points-at", "HEAD"])).split("\n");
  if (!tagged.includes(tag)) {
    throw new RepriseError("usage", `Cannot release: the tag ${tag} is not on HEAD (${hash.slice(0, 12)})`, {
      hint: `Create it: git tag -a ${tag} -m ${tag}`,
    });
  }
  return { hash, time: Number(time) };
}

async function git(root: string, args: readonly string[]): Promise<string> {
  // In a container the checkout often belongs to another user.
  const finished = await run("git", ["-c", "safe.directory=*", "-C", root, ...args]);
  if (finished.code === 0) return finished.stdout;
  throw new RepriseError("unexpected", `Cannot read the checkout at ${root}: ${outputOf(finished)}`);
}
