/**
 * The `package.json` files of the npm packages: one launcher, and one package with a binary for each platform. No package
 * has a script.
 */
import { RepriseError } from "../../src/domain/errors.ts";
import { executableName, type Target } from "../compile/targets.ts";

/** Facts that all packages of a version share. */
export interface PackageFacts {
  /** Scoped name of the launcher, and prefix of the names of the platform packages. */
  readonly name: string;
  readonly version: string;
  /** True for packages that npm must refuse to publish. */
  readonly isPrivate: boolean;
}

/** Content of a `package.json`. */
export type Manifest = Readonly<Record<string, unknown>> & { readonly name: string };

/** Platforms in npm's terms, by the target that their binary is compiled for. */
const PLATFORMS: Readonly<
  Record<Target, { readonly os: string; readonly cpu: string; readonly libc?: readonly string[] }>
> = {
  "linux-x64": { os: "linux", cpu: "x64", libc: ["glibc"] },
  "linux-arm64": { os: "linux", cpu: "arm64", libc: ["glibc"] },
  "macos-x64": { os: "darwin", cpu: "x64" },
  "macos-arm64": { os: "darwin", cpu: "arm64" },
  "windows-x64": { os: "win32", cpu: "x64" },
};

/** File with the licenses of the packages in the executable. */
export const LICENSES = "THIRD_PARTY_LICENSES.txt";

/**
 * Reads the name and the version of the launcher from the text of `deno.json`.
 *
 * @throws {RepriseError} `usage` if the name has no scope: without one, anybody could own it on npm.
 */
export function identityOf(denoJson: string): { readonly name: string; readonly version: string } {
  const { name, version } = JSON.parse(denoJson) as { readonly name?: string; readonly version?: string };
  if (name !== undefined && version !== undefined && /^@[a-z0-9-]+\/[a-z0-9-]+$/.test(name)) {
    return { name, version };
  }
  throw new RepriseError("usage", "Cannot pack: deno.json has no scoped name and version", {
    hint: 'Set "name" to "@scope/name" and "version" in deno.json',
  });
}

/**
 * Returns the manifest of the launcher, which alone depends on the platform packages. `targets` are the platforms that
 * are packed with it: `npm ci` refuses a lockfile that lacks a dependency because no registry has it.
 */
export function launcherManifest(facts: PackageFacts, targets: readonly Target[]): Manifest {
  const helpers = ["vitest", "node", "deno"].map((name) => [`./${name}`, moduleAt(`./helpers/${name}`)]);
  return {
    ...common(facts, facts.name, "Record, replay and test LLM traffic"),
    type: "module",
    engines: { node: ">=18" },
    bin: { reprise: "bin/reprise.cjs" },
    files: ["bin", "helpers", "resolve.*", "python/*.py"],
    exports: {
      ".": moduleAt("./helpers/index"),
      ...Object.fromEntries(helpers),
      "./resolve": { types: "./resolve.d.cts", default: "./resolve.cjs" },
      "./package.json": "./package.json",
    },
    // Without these, package managers with strict folders do not let the adapter find the runner.
    peerDependencies: { vitest: "*" },
    peerDependenciesMeta: { vitest: { optional: true } },
    optionalDependencies: Object.fromEntries(
      targets.map((target) => [platformName(facts, target), facts.version]),
    ),
  };
}

/** Returns the manifest of the package with the binary for `target`. */
export function platformManifest(facts: PackageFacts, target: Target): Manifest {
  const { os, cpu, libc } = PLATFORMS[target];
  return {
    ...common(facts, platformName(facts, target), `The reprise executable for ${os} on ${cpu}`),
    files: [executableName(target), LICENSES],
    os: [os],
    cpu: [cpu],
    ...(libc === undefined ? {} : { libc }),
  };
}

function platformName({ name }: PackageFacts, target: Target): string {
  return `${name}-${PLATFORMS[target].os}-${PLATFORMS[target].cpu}`;
}

function moduleAt(path: string) {
  return { types: `${path}.d.ts`, default: `${path}.js` };
}

/** `preferUnplugged` has Yarn unpack the files: an executable cannot start from an archive. */
function common({ version, isPrivate }: PackageFacts, name: string, description: string): Manifest {
  const publishing = isPrivate ? { private: true } : { publishConfig: { access: "public" } };
  return { name, version, description, license: "MIT", preferUnplugged: true, ...publishing };
}
