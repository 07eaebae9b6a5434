/**
 * The `package.json` files of the npm packages: one launcher, and one package with a binary for each platform.
 *
 * @module
 */
import { RepriseError } from "../../src/domain/errors.ts";
import { executableName, type Target } from "../compile/targets.ts";

/** Name and version of the launcher, from `deno.json`, and facts that all packages share. */
export interface PackageFacts {
  /** Scoped name of the launcher, and prefix of the names of the platform packages. */
  readonly name: string;
  readonly version: string;
  /** URL of the git repository, as npm wants it for provenance; `null` leaves it out. */
  readonly repository: string | null;
  /** True for packages that npm must refuse to publish. */
  readonly isPrivate: boolean;
}

/** Content of a `package.json`. */
export type PackageManifest = Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly version: string;
};

/** Platform in npm's terms. */
interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly libc?: readonly string[];
}

/** The platforms of the packages, by the target that their binary is compiled for. */
export const PLATFORMS: Readonly<Record<Target, Platform>> = {
  "linux-x64": { os: "linux", cpu: "x64", libc: ["glibc"] },
  "linux-arm64": { os: "linux", cpu: "arm64", libc: ["glibc"] },
  "macos-x64": { os: "darwin", cpu: "x64" },
  "macos-arm64": { os: "darwin", cpu: "arm64" },
  "windows-x64": { os: "win32", cpu: "x64" },
};

/** Oldest Node that starts the launcher. */
const NODE = ">=18";

/** Modules that the launcher package exports, by subpath. Each has types in a file beside it. */
const MODULES: Readonly<Record<string, { readonly types: string; readonly default: string }>> = {
  ".": { types: "./helpers/index.d.ts", default: "./helpers/index.js" },
  "./vitest": { types: "./helpers/vitest.d.ts", default: "./helpers/vitest.js" },
  "./node": { types: "./helpers/node.d.ts", default: "./helpers/node.js" },
  "./deno": { types: "./helpers/deno.d.ts", default: "./helpers/deno.js" },
  "./resolve": { types: "./resolve.d.cts", default: "./resolve.cjs" },
};

/** File with the licenses of the packages in the executable, in its package and in each archive of a release. */
export const LICENSES = "THIRD_PARTY_LICENSES.txt";

/** Executable of the launcher, in its package. */
const LAUNCHER = "bin/reprise.cjs";

/** Files and folders that the launcher package cannot do without, relative to its root. */
export const LAUNCHER_FILES: readonly string[] = [
  LAUNCHER,
  ...Object.values(MODULES).flatMap((module) => [module.types, module.default]).map((path) => path.slice(2)),
];

/**
 * Reads the name and the version of the launcher from the text of `deno.json`.
 *
 * @throws {RepriseError} `usage` if the name has no scope: without one, anybody could own it on npm.
 */
export function identityOf(denoJson: string): { readonly name: string; readonly version: string } {
  const { name, version } = JSON.parse(denoJson) as { readonly name?: string; readonly version?: string };
  if (name === undefined || version === undefined || !/^@[a-z0-9-]+\/[a-z0-9-]+$/.test(name)) {
    throw new RepriseError(
      "usage",
      `Cannot pack ${name ?? "a package"}: deno.json has no scoped name and version`,
      {
        hint: 'Set "name" to "@scope/name" and "version" in deno.json',
      },
    );
  }
  return { name, version };
}

/** Returns the name of the package with the binary for `target`. */
function platformPackageName(name: string, target: Target): string {
  const { os, cpu } = PLATFORMS[target];
  return `${name}-${os}-${cpu}`;
}

/**
 * Returns the manifest of the launcher, which alone depends on the platform packages. `targets` are the platforms that
 * are packed with it: `npm ci` refuses a lockfile that lacks a dependency because no registry has it.
 */
export function launcherManifest(facts: PackageFacts, targets: readonly Target[]): PackageManifest {
  const platforms = targets.map((target) => [
    platformPackageName(facts.name, target),
    facts.version,
  ]);
  return {
    ...common(facts, "Record, replay and test LLM traffic"),
    type: "module",
    engines: { node: NODE },
    bin: { reprise: LAUNCHER },
    exports: { ...MODULES, "./package.json": "./package.json" },
    optionalDependencies: Object.fromEntries(platforms),
  };
}

/** Returns the manifest of the package with the binary for `target`. */
export function platformManifest(facts: PackageFacts, target: Target): PackageManifest {
  const { os, cpu, libc } = PLATFORMS[target];
  const name = platformPackageName(facts.name, target);
  return {
    ...common({ ...facts, name }, `The reprise executable for ${os} on ${cpu}`),
    files: [executableName(target), LICENSES],
    os: [os],
    cpu: [cpu],
    ...(libc === undefined ? {} : { libc }),
  };
}

/** `preferUnplugged` has Yarn unpack the files: an executable cannot start from an archive. */
function common(
  { name, version, repository, isPrivate }: PackageFacts,
  description: string,
): PackageManifest {
  return {
    name,
    version,
    ...(isPrivate ? { private: true } : {}),
    description,
    license: "MIT",
    ...(repository === null ? {} : { repository: { type: "git", url: repository } }),
    preferUnplugged: true,
    ...(isPrivate ? {} : { publishConfig: { access: "public" } }),
  };
}
