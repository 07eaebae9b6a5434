#!/usr/bin/env node
"use strict";
/**
 * Starts the reprise executable with the same arguments, streams and environment, and ends as it ends.
 *
 * @module
 */
const fs = require("node:fs");
const { binaryPath } = require("../resolve.cjs");

/** Signals that this process passes on. A second equal signal from a terminal counts once in reprise. */
const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGBREAK"];

/** Signals that do not end Node: it ignores the first and starts its debugger at the second. */
const KEPT_BY_NODE = ["SIGPIPE", "SIGUSR1"];

/** Loaders of executables for glibc. Without its loader an executable cannot start. */
const LOADERS = { x64: "/lib64/ld-linux-x86-64.so.2", arm64: "/lib/ld-linux-aarch64.so.1" };

function main() {
  const args = process.argv.slice(2);
  let binary;
  try {
    binary = binaryPath();
  } catch (error) {
    return fail(error.message);
  }
  if (canReplaceProcess(binary)) process.execve(binary, [binary, ...args], process.env);
  else startChild(binary, args);
}

/**
 * True if Node can replace this process by the executable, which then gets all signals itself. Node aborts if that
 * fails, so an executable that may not start runs as a child.
 */
function canReplaceProcess(binary) {
  if (typeof process.execve !== "function" || process.env.REPRISE_BINARY_PATH) return false;
  if (process.platform === "linux" && !fs.existsSync(LOADERS[process.arch])) return false;
  try {
    fs.accessSync(binary, fs.constants.X_OK);
    return process.platform !== "win32";
  } catch {
    return false;
  }
}

function startChild(binary, args) {
  const { spawn } = require("node:child_process");
  let child = null;
  for (const signal of PASSED_ON) {
    try {
      process.on(signal, () => child?.kill(signal));
    } catch {
      // This system does not have the signal.
    }
  }
  child = spawn(binary, args, { stdio: "inherit" });
  child.on("error", (error) => fail(startFailure(binary, error)));
  child.on("exit", (code, signal) => signal === null ? process.exit(code) : endBy(signal));
}

/** Ends this process by the signal that ended the executable, or with the exit code that a shell gives for it. */
function endBy(signal) {
  process.exitCode = 128 + require("node:os").constants.signals[signal];
  if (KEPT_BY_NODE.includes(signal)) return;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

function startFailure(binary, error) {
  const reasons = {
    EACCES: ["it is not executable", `make it executable: chmod +x "${binary}"`],
    ENOENT: [
      "its loader is missing; the binary needs glibc",
      "use a system with glibc, not musl (such as Alpine)",
    ],
    ENOEXEC: [
      "it is no executable of this system",
      "set REPRISE_BINARY_PATH to a reprise executable, or unset it",
    ],
  };
  const [reason, hint] = reasons[error.code] ?? [error.message, "install the package again"];
  return `Cannot start ${binary}: ${reason}\nhint: ${hint}`;
}

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exitCode = 1;
}

main();
