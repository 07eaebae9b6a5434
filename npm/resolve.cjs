"use strict";
/**
 * Path of the reprise executable on this machine.
 *
 * @module
 */
const fs = require("node:fs");
const path = require("node:path");

/**
 * Returns the absolute path of the executable: `REPRISE_BINARY_PATH` if it is set, otherwise the file in the package
 * of this platform.
 *
 * @returns {string}
 * @throws {Error} if `REPRISE_BINARY_PATH` is no file, or if the package of this platform is missing. The message
 * names the platform, the package, the likely cause and what to do.
 */
function binaryPath() {
  const configured = process.env.REPRISE_BINARY_PATH;
  if (configured !== undefined && configured !== "") return configuredPath(configured);
  const packageName = platformPackage();
  const file = process.platform === "win32" ? "reprise.exe" : "reprise";
  const found = resolveFile(`${packageName}/${file}`);
  if (found === null) throw missingPackage(packageName);
  return found;
}

function configuredPath(configured) {
  const absolute = path.resolve(configured);
  const stats = fs.statSync(absolute, { throwIfNoEntry: false });
  if (stats !== undefined && stats.isFile()) return absolute;
  const found = stats === undefined ? "there is no such file" : "it is not a file";
  throw new Error(
    `Cannot start reprise from REPRISE_BINARY_PATH="${configured}": ${found}\n` +
      "hint: set REPRISE_BINARY_PATH to a reprise executable, or unset it",
  );
}

/** Returns the name of the package for this platform. It has the name of this package as its prefix. */
function platformPackage() {
  const { name, optionalDependencies = {} } = require("./package.json");
  const wanted = `${name}-${process.platform}-${process.arch}`;
  if (Object.hasOwn(optionalDependencies, wanted)) return wanted;
  const supported = Object.keys(optionalDependencies).map((packageName) =>
    packageName.slice(name.length + 1)
  );
  throw new Error(
    `Cannot start reprise on ${platformName()}: no package has a binary for this platform\n` +
      `Supported platforms: ${supported.join(", ")}\n` +
      "hint: build reprise from its source, and set REPRISE_BINARY_PATH to the executable",
  );
}

function resolveFile(request) {
  try {
    return require.resolve(request);
  } catch {
    return null;
  }
}

function missingPackage(wanted) {
  const [cause, hint] = likelyCause();
  return new Error(
    `Cannot start reprise on ${platformName()}: package "${wanted}" is not installed\n` +
      `Likely cause: ${cause}\nhint: ${hint}`,
  );
}

/** Returns the likely cause of a missing package, and what to do. */
function likelyCause() {
  if (usesMusl()) {
    return [
      "this Linux has musl (such as Alpine), and the binary needs glibc",
      "use an image with glibc (such as node:22-slim), or set REPRISE_BINARY_PATH to another executable",
    ];
  }
  const { optionalDependencies } = require("./package.json");
  const other = Object.keys(optionalDependencies).find((name) =>
    resolveFile(`${name}/package.json`) !== null
  );
  if (other !== undefined) {
    return [
      `node_modules was copied from another system: it holds "${other}"`,
      "delete node_modules, and install again on this machine",
    ];
  }
  return [
    "optional dependencies were left out (--omit=optional, --no-optional), or the lockfile lists only those of another system",
    "install again with optional dependencies. If that does not help, remove reprise and add it again",
  ];
}

/** True on Linux without glibc. */
function usesMusl() {
  if (process.platform !== "linux") return false;
  return process.report.getReport().header.glibcVersionRuntime === undefined;
}

function platformName() {
  const name = `${process.platform}-${process.arch}`;
  return usesMusl() ? `${name} (musl)` : name;
}

module.exports = { binaryPath };
