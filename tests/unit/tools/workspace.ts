import { join } from "node:path";
import { canonicalRoot } from "../../../src/tools/sandbox_path.ts";
import type { ToolContext } from "../../../src/tools/tool.ts";

/** Content of a file in a test workspace: its bytes, or the target of a symbolic link. */
export type Content = string | Uint8Array | { readonly link: string };

/** A workspace in a temporary directory, and a directory beside it that no tool may reach. */
export class Workspace implements Disposable {
  readonly #base: string;
  /** The canonical workspace. */
  readonly root: string;
  /** The canonical directory beside it. */
  readonly outside: string;

  constructor(files: Readonly<Record<string, Content>> = {}) {
    this.#base = canonicalRoot(Deno.makeTempDirSync({ prefix: "reprise-tools-" }));
    this.root = join(this.#base, "project");
    this.outside = join(this.#base, "project-secrets");
    Deno.mkdirSync(this.root);
    Deno.mkdirSync(this.outside);
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  /** Writes a file or link, with the directories on the way. */
  write(path: string, content: Content): void {
    const full = join(this.root, path);
    Deno.mkdirSync(join(full, ".."), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(full, content);
    else if (content instanceof Uint8Array) Deno.writeFileSync(full, content);
    else Deno.symlinkSync(content.link, full);
  }

  /** Writes a file that no tool may read. */
  writeOutside(path: string, content: string): string {
    const full = join(this.outside, path);
    Deno.mkdirSync(join(full, ".."), { recursive: true });
    Deno.writeTextFileSync(full, content);
    return full;
  }

  makeFifo(path: string): void {
    const { success } = new Deno.Command("mkfifo", { args: [join(this.root, path)] }).outputSync();
    if (!success) throw new Error(`mkfifo ${path} failed`);
  }

  /** Returns the context of a call. */
  context(options: Partial<ToolContext> = {}): ToolContext {
    return {
      root: this.root,
      signal: new AbortController().signal,
      protectedPaths: [],
      env: () => undefined,
      isHidden: () => false,
      ...options,
    };
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#base, { recursive: true });
  }
}
