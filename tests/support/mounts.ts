/** File systems made for a test: only where the process may mount, as root of a machine or a virtual one can. */
import { type Lack, lacksRoot } from "./needs.ts";

/** Mounts on `directory`, which must exist, run `body`, and takes the mount away. */
export async function withMount<T>(
  directory: string,
  { type, options }: { readonly type: "tmpfs" | "overlay"; readonly options: string },
  body: () => Promise<T>,
): Promise<T> {
  await asRoot("mount", ["-t", type, "-o", options, type, directory]);
  try {
    return await body();
  } finally {
    await asRoot("umount", ["-l", directory]);
  }
}

async function asRoot(command: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args: [...args] }).output();
  if (!success) throw new Error(`${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

/** Tries to mount `type`. Where that is not possible, the tests with injected errors show the same promise. */
export async function lacksMount(type: "tmpfs" | "overlay"): Promise<Lack> {
  if (lacksRoot() !== null) return lacksRoot();
  const root = await Deno.makeTempDir({ prefix: "reprise-mount-" });
  try {
    for (const name of ["lower", "upper", "work", "at"]) await Deno.mkdir(`${root}/${name}`);
    const options = type === "tmpfs" ? "size=64k" : overlayOptions(root);
    return await withMount(`${root}/at`, { type, options }, () => Promise.resolve(null));
  } catch {
    return `cannot mount ${type}`;
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** The options of an overlay whose layers lie below `root` as `lower`, `upper` and `work`. */
export function overlayOptions(root: string): string {
  // As on kernels and in containers where a directory of the lower layer cannot be renamed.
  return `lowerdir=${root}/lower,upperdir=${root}/upper,workdir=${root}/work,redirect_dir=off`;
}

/** Fills a file system to its last byte with a file at `path`. */
export function fill(path: string): void {
  using file = Deno.openSync(path, { write: true, createNew: true });
  for (let size = 64 * 1024; size >= 1; size = Math.floor(size / 2)) {
    const block = new Uint8Array(size);
    try {
      while (file.writeSync(block) > 0);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
}
