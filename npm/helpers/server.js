/**
 * Servers that play and record the tests of this process. A server is started for its first test, shared by all later
 * ones, and ends with this process, even if that is killed: then its stdin ends. The gateway is started when this module
 * is loaded, and gets the requests of clients that do not know their test.
 *
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";
import resolve from "../resolve.cjs";
import { leadRequests } from "./network.js";

/** Servers by their arguments. Test runners may load this module several times into one process. */
const servers = globalThis[Symbol.for("reprise.servers")] ??= new Map();

// Tests may replace these by a simulated clock.
const { setInterval, clearInterval } = globalThis;

/**
 * Returns the server with these arguments, which is started if it does not run.
 *
 * @param {readonly string[]} args Arguments of reprise.
 * @param {NodeJS.ProcessEnv} env Its environment.
 * @returns {Promise<Server>}
 * @throws {Error} with the message of reprise if it cannot be started.
 */
export function serverFor(args, env) {
  const key = JSON.stringify(args);
  const known = servers.get(key);
  if (known !== undefined) return known;
  const server = start(args, env, () => servers.delete(key));
  servers.set(key, server);
  return server;
}

async function start(args, env, onEnd) {
  try {
    const child = spawn(resolve.binaryPath(), args, { env, stdio: ["pipe", "pipe", "inherit"] });
    const server = new Server(child, onEnd);
    await held(server.ready);
    server.unref();
    return server;
  } catch (error) {
    onEnd();
    throw error;
  }
}

/** Running server. */
class Server {
  #child;
  /** Functions that take the answers about a test, or the error that ended the server, by the name of the test. */
  #waiting = new Map();
  /** @type {Error | null} */
  #ended = null;
  #unfinished = "";
  #started = Promise.withResolvers?.() ?? withResolvers();

  constructor(child, onEnd) {
    this.#child = child;
    const over = (error) => {
      onEnd();
      this.#ended ??= error;
      this.#started.reject(this.#ended);
      for (const { reject } of [...this.#waiting.values()].flat()) reject(this.#ended);
      this.#waiting.clear();
    };
    child.on("error", (error) => over(new Error(`Cannot start reprise: ${error.message}`, { cause: error })));
    // After "exit", stdout may still hold the message of an error; after "close", all of it was read.
    child.on(
      "close",
      (code, signal) => over(new Error(`reprise ended with ${signal ?? `exit code ${code}`}`)),
    );
    // Deno creates no streams for a program that does not start.
    child.stdin?.on("error", () => {/* its exit is reported */});
    child.stdout?.setEncoding("utf8");
    child.stdout?.on("data", (text) => this.#read(text));
  }

  /** Lets the process of tests end when its tests have ended. */
  unref() {
    const child = this.#child;
    for (const each of [child, child.stdin, child.stdout]) each.unref?.();
  }

  /** Resolves when the server listens. */
  get ready() {
    return this.#started.promise;
  }

  /**
   * Variables that lead clients to the server, and keys for clients that do not start without one.
   *
   * @type {Readonly<Record<string, string>>}
   */
  environment = {};

  /**
   * Base URLs of known APIs; of the gateway only.
   *
   * @type {readonly { variable: string, url: string }[]}
   */
  upstreams = [];

  /**
   * Begins or ends a test, or asks for the requests without a test.
   *
   * @param {{ type: "begin" | "end", test: string } | { type: "strays" }} line With the name of the test's recording.
   * @returns {Promise<any>} the answer; the report of a test that ends.
   */
  ask(line) {
    const waiting = Promise.withResolvers?.() ?? withResolvers();
    if (this.#ended !== null) waiting.reject(this.#ended);
    else {
      this.#waiting.set(line.test, [...this.#waiting.get(line.test) ?? [], waiting]);
      this.#child.stdin.write(`${JSON.stringify(line)}\n`);
    }
    return held(waiting.promise);
  }

  #read(text) {
    const lines = (this.#unfinished + text).split("\n");
    this.#unfinished = lines.pop();
    for (const line of lines) this.#take(JSON.parse(line));
  }

  #take(event) {
    if (event.type === "ready") {
      this.environment = event.environment;
      this.upstreams = event.upstreams ?? [];
      this.#started.resolve();
    } else if (event.type === "error") {
      const { message, hint } = event;
      this.#ended = new Error(hint === undefined ? message : `${message}\nhint: ${hint}`);
    } else {
      this.#waiting.get(event.test)?.shift()?.resolve(event);
    }
  }
}

/** Waits for a promise. The server alone does not keep this process running. */
async function held(promise) {
  const timer = setInterval(() => {}, 60_000);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function withResolvers() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
}

/** Gateway. The variables of this process lead clients there before application code can create any. */
export const gateway = await (globalThis[Symbol.for("reprise.gateway")] ??= lead());

async function lead() {
  const server = await serverFor(["serve", "--suite", "--json"], process.env);
  Object.assign(process.env, server.environment);
  leadRequests(server.upstreams, server.environment);
  return server;
}
