/** Rules about the tree as a whole: homes of names, circles of imports, and rooms that pages name. */
import { posix } from "node:path";
import { withoutComments } from "./source_text.ts";
import type { SourceFile } from "./tree.ts";

/** A match of `find` in a file breaks the rule if `check` returns a message. */
export interface Rule {
  readonly files: RegExp;
  /** The part of a file that is searched; all of its text by default. */
  readonly view?: (text: string) => string;
  readonly find: RegExp;
  readonly check: (match: RegExpExecArray, path: string) => string | null;
}

const SOURCES = /^src\/.*\.ts$/;
const EXPORT =
  /^export (?:declare |abstract )*(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;
const IMPORT = /^(?:import|export)\s[^"';]*?\sfrom\s+"(\.[^"\n]+)"/gm;

/** Names that have several homes for a reason: each script of the executable is run by its export `start`. */
const SHARED_NAMES: ReadonlySet<string> = new Set(["start"]);

/** An exported name, also of a type, has one home: a reader who looks for it finds one. */
export function homes(files: readonly SourceFile[]): Rule {
  const homesOf = new Map<string, Set<string>>();
  for (const { path, text } of files.filter(({ path }) => SOURCES.test(path))) {
    for (const [, name = ""] of withoutComments(text).matchAll(EXPORT)) {
      homesOf.set(name, (homesOf.get(name) ?? new Set()).add(path));
    }
  }
  return {
    files: SOURCES,
    view: withoutComments,
    find: EXPORT,
    check: ([, name = ""], path) => {
      const [other] = [...homesOf.get(name) ?? []].filter((each) => each !== path);
      if (other === undefined || SHARED_NAMES.has(name)) return null;
      return `Exports ${name}, which ${other} exports too`;
    },
  };
}

/** Another file uses an exported name: a reader of `export` looks for it. */
export function exports(files: readonly SourceFile[]): Rule {
  const usersOf = new Map<string, Set<string>>();
  for (const { path, text } of files.filter(({ path }) => path.endsWith(".ts"))) {
    for (const [word] of withoutComments(text).matchAll(/\w+/g)) {
      usersOf.set(word, (usersOf.get(word) ?? new Set()).add(path));
    }
  }
  return {
    files: SOURCES,
    view: withoutComments,
    find: EXPORT,
    check: ([, name = ""]) =>
      (usersOf.get(name)?.size ?? 0) > 1 ? null : `Exports ${name}, which no other file uses`,
  };
}

/** Modules do not import each other in a circle, types included. A module that is loaded when it is needed may lead back. */
export function circles(files: readonly SourceFile[]): Rule {
  const imports = new Map(
    files.filter(({ path }) => SOURCES.test(path)).map(({ path, text }) => [
      path,
      [...withoutComments(text).matchAll(IMPORT)].map(([, specifier = ""]) => targetOf(path, specifier)),
    ]),
  );
  const known = new Map<string, ReadonlySet<string>>();
  const reached = (path: string): ReadonlySet<string> => {
    const found = known.get(path) ?? new Set<string>();
    if (known.has(path)) return found;
    const open = [...imports.get(path) ?? []];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (found.has(next)) continue;
      (found as Set<string>).add(next);
      open.push(...imports.get(next) ?? []);
    }
    known.set(path, found);
    return found;
  };
  return {
    files: SOURCES,
    view: withoutComments,
    find: IMPORT,
    check: ([, specifier = ""], path) => {
      const target = targetOf(path, specifier);
      return reached(target).has(path) ? `Imports "${target}", which leads back here` : null;
    },
  };
}

function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}

/** Folders and files that docs/architecture.md and CONTRIBUTING.md name exist; those of `src/` are also named without it. */
export function rooms(files: readonly SourceFile[]): Rule {
  const paths = files.map(({ path }) => `/${path}/`);
  const tops = new Set(
    files.flatMap(({ path }) => path.split("/").slice(0, path.startsWith("src/") ? 2 : 1)),
  );
  return {
    files: /^(?:docs\/architecture|CONTRIBUTING)\.md$/,
    find:
      /`(?<file>[a-z][\w-]*(?:\/[\w.-]+)+)\/?`|^(?<top>[a-z][\w./]+)(?= {2,})|(?<=[ :])(?<room>[a-z_]+)\/(?=[ ,:;.\n])/gm,
    check: ({ groups: { file, top, room } = {} }) => {
      // Words in capitals are placeholders.
      const name = (file ?? top ?? room ?? "").replace(/\/(?:[A-Z]+(?:\/.*)?)?$/, "");
      if (file !== undefined && !tops.has(name.split("/")[0] ?? "")) return null;
      return paths.some((path) => path.includes(`/${name}/`)) ? null : `Names ${name}, which does not exist`;
    },
  };
}
