/**
 * Disks of this machine: made, recorded and mounted. Needs root and a mount namespace of its own (`unshare -m`), so that
 * whatever happens to this process no mount and no loop device is left.
 */

/** File systems that are tried. */
export type FileSystem = "ext4" | "xfs";

const MAKE: Readonly<
  Record<FileSystem, { readonly megabytes: number; readonly command: readonly string[] }>
> = {
  // Nothing is put off until after the mount: a log of that would be long.
  ext4: {
    megabytes: 64,
    command: ["mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
  },
  xfs: { megabytes: 300, command: ["mkfs.xfs", "-q", "-f"] },
};

/** Runs a command and returns its stdout. */
export async function must(...[command, ...args]: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command as string, { args, stdin: "null" })
    .output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`${command} ${args.join(" ")}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

/** Creates an image with an empty file system. */
export async function makeImage(path: string, fileSystem: FileSystem): Promise<void> {
  const { megabytes, command } = MAKE[fileSystem];
  Deno.writeFileSync(path, new Uint8Array());
  Deno.truncateSync(path, megabytes * 1024 * 1024);
  await must(...command, path);
}

/** Mounts an image by a loop device, which goes with the mount, for as long as `body` takes. */
export async function withMounted<T>(
  { image, at }: { readonly image: string; readonly at: string },
  body: () => Promise<T>,
): Promise<T> {
  await must("mount", "-o", "loop", image, at);
  try {
    return await body();
  } finally {
    await must("umount", at);
  }
}

/** A disk that is recorded, and where programs write their marks. */
export interface RecordedDisk {
  /** Mounted file system. */
  readonly path: string;
  /** Takes what is acknowledged; in the log when a write to it returns. */
  readonly marks: string;
}

/**
 * Mounts a copy of `image` by way of disk_server.ts, runs `body`, then pulls the plug: the log ends before the file
 * system is unmounted. Returns where the log is.
 */
export async function recorded(
  { image, scratch }: { readonly image: string; readonly scratch: string },
  body: (disk: RecordedDisk) => Promise<void>,
): Promise<Uint8Array<ArrayBuffer>> {
  const [fuse, path, log] = [`${scratch}/fuse`, `${scratch}/disk`, `${scratch}/log`];
  for (const each of [fuse, path]) Deno.mkdirSync(each, { recursive: true });
  const script = "exec 0<>/dev/fuse; " +
    'mount -i -t fuse -o fd=0,rootmode=40000,user_id=0,group_id=0 disk "$1" && shift && exec "$@" 2>&0';
  const server = new Deno.Command("sh", {
    args: [
      ...["-c", script, "sh", fuse, Deno.execPath(), "run", "-A", "--no-check", "--no-lock"],
      ...[new URL("./disk_server.ts", import.meta.url).pathname, image, log],
    ],
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  try {
    await waitFor(`${fuse}/disk`);
    return await withMounted({ image: `${fuse}/disk`, at: path }, async () => {
      await body({ path, marks: `${fuse}/marks` });
      // Writes of the unmount are no longer part of it.
      return Deno.readFileSync(log);
    });
  } finally {
    await must("umount", "-l", fuse);
    await server.status;
    Deno.removeSync(log);
  }
}

async function waitFor(path: string): Promise<void> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    try {
      await Deno.stat(path);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Reason why disks cannot be made here; `null` if they can. */
export async function whyNoDisks(fileSystem: FileSystem): Promise<string | null> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return "needs root on Linux";
  const probes = [
    [MAKE[fileSystem].command[0] as string, "-V"],
    ["unshare", "-m", "true"],
    ["sh", "-c", "test -r /dev/fuse && test -r /dev/loop-control"],
  ];
  for (const [command, ...args] of probes as [string, ...string[]][]) {
    try {
      const { success } = await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output();
      if (!success) return `"${command}" does not work`;
    } catch {
      return `"${command}" is missing`;
    }
  }
  return null;
}
