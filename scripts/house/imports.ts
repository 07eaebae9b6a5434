import { posix } from "node:path";
import type { Finding, SourceFile } from "./finding.ts";
import { type Import, importsOf, withoutComments } from "./source_text.ts";

/** Folders of src/ that each folder may import beside itself; the table of docs/architecture.md. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  store: ["domain"],
  fold: ["domain"],
  apis: ["domain"],
  transport: ["domain"],
  tools: ["domain"],
  prices: ["domain"],
  compaction: ["domain", "fold"],
  run: ["domain", "store", "fold", "compaction", "apis", "transport", "tools"],
  fixture: ["domain", "apis", "transport"],
  remote: ["domain", "store", "transport"],
  agents: ["domain", "apis", "store"],
  cli: [
    "domain",
    "store",
    "fold",
    "compaction",
    "apis",
    "transport",
    "tools",
    "run",
    "fixture",
    "prices",
    "remote",
    "agents",
  ],
};

/** Libraries that one folder wraps, so that changing the library changes one folder. */
const LIBRARY_HOME: Readonly<Record<string, string>> = {
  "aws4fetch": "remote",
  "fzstd": "agents",
  "commander": "cli",
  "@pydantic/genai-prices": "prices",
  "diff": "cli",
  "ipaddr.js": "domain",
  "marked": "cli",
  "ws": "transport",
  "yaml": "fixture",
};

/** Checks the imports of every TypeScript file; `src/` and main.ts against the matrix, the others for form. */
export function checkImports(files: readonly SourceFile[]): Finding[] {
  return files.filter((file) => file.path.endsWith(".ts")).flatMap((file) => {
    const code = withoutComments(file.text);
    const folder = folderOf(file.path);
    const unknown: Finding[] = folder === null || folder in MAY_IMPORT ? [] : [{
      path: file.path,
      line: 1,
      message: `Folder "src/${folder}" has no row in the import matrix`,
    }];
    const broken = importsOf(code).flatMap((found) => {
      const message = judgeForm(found) ?? judgeDirection(file.path, folder, found);
      return message === null ? [] : [{ path: file.path, line: found.line, message }];
    });
    return [...unknown, ...broken, ...computedImports(file, code)];
  });
}

/** The folder of src/ that a path lies in, `""` for a file of src/ itself, `null` outside src/. */
function folderOf(path: string): string | null {
  const parts = path.split("/");
  if (parts[0] !== "src") return null;
  return parts.length > 2 ? parts[1] ?? "" : "";
}

function judgeForm(found: Import): string | null {
  if (/^(npm|jsr|https?|file):/.test(found.specifier)) {
    return `Imports "${found.specifier}": name it in the import map of deno.json`;
  }
  if (found.specifier.startsWith(".") && !/\.(ts|js|mjs|json|css)$/.test(found.specifier)) {
    return `Imports "${found.specifier}": a relative import ends with its file's extension`;
  }
  return null;
}

function judgeDirection(path: string, folder: string | null, found: Import): string | null {
  const { specifier } = found;
  if (specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(path), specifier);
    if (path === "main.ts") {
      return folderOf(target) === "cli" ? null : `main.ts imports "${target}": it may import src/cli only`;
    }
    return folder === null ? null : judgeFolders(folder, target);
  }
  const home = LIBRARY_HOME[specifier.split("/", 1)[0] ?? specifier];
  if (home === undefined || folder === null || folder === home) return null;
  return `Imports "${specifier}": only src/${home} may`;
}

function judgeFolders(folder: string, target: string): string | null {
  const to = folderOf(target);
  if (to === null) return `Imports "${target}": src/ may not import what lies outside it`;
  if (to === folder || MAY_IMPORT[folder]?.includes(to)) return null;
  const allowed = MAY_IMPORT[folder]?.join(", ") || "nothing of ours";
  return `Imports "${target}": src/${folder} may import ${allowed}`;
}

/** Imports whose specifier is not a literal: the bundler would leave them out of the binary. */
function computedImports(file: SourceFile, code: string): Finding[] {
  if (!file.path.startsWith("src/") && file.path !== "main.ts") return [];
  return code.split("\n").flatMap((text, index) =>
    /\bimport\(\s*[^"\s)]/.test(text)
      ? [{
        path: file.path,
        line: index + 1,
        message: "Imports a computed name: the binary would lack the module",
      }]
      : []
  );
}
