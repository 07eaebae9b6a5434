import { join } from "node:path";
import type { GraphPackage } from "./bundled_packages.ts";

/** Names of files with a license or a notice. */
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

const RULE = "-".repeat(80);

/** Writes the licenses of packages to a text file. */
export function writeLicenses(packages: readonly GraphPackage[], out: string): void {
  const sorted = packages.toSorted((a, b) => headingOf(a) < headingOf(b) ? -1 : 1);
  const sections = sorted.map((details) => `${RULE}\n${headingOf(details)}\n\n${licenseOf(details)}\n`);
  Deno.writeTextFileSync(
    out,
    `The reprise binary contains these npm packages. The Deno runtime in it has the MIT license.\n\n${
      sections.join("\n")
    }`,
  );
}

function headingOf({ name, version }: GraphPackage): string {
  return `${name} ${version}`;
}

/** Returns the text of a package's license files; without any, the license that its package.json names. */
function licenseOf({ localPath }: GraphPackage): string {
  const files = Array.from(Deno.readDirSync(localPath), ({ name }) => name).filter((name) =>
    LICENSE_FILE.test(name)
  );
  if (files.length > 0) {
    return files.sort().map((name) => Deno.readTextFileSync(join(localPath, name)).trim()).join("\n\n");
  }
  const { license, author } = JSON.parse(Deno.readTextFileSync(join(localPath, "package.json"))) as {
    readonly license?: string;
    readonly author?: string | { readonly name: string };
  };
  const holder = typeof author === "object" ? author.name : author;
  return `License: ${license ?? "none named"}${holder === undefined ? "" : `, by ${holder}`}`;
}
