/**
 * Requests of this process. Those to known APIs are led to the server of their test, whatever base URL the code has. A
 * connection that leads past it is refused, and so is, with `blockNetwork`, every other connection to another machine.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import http from "node:http";
import https from "node:https";
import * as modules from "node:module";
import net from "node:net";
import process from "node:process";
import tls from "node:tls";

/**
 * Test that runs.
 *
 * @typedef {object} RunningTest
 * @property {Record<string, string>} overrides Base URLs of its server, by variable.
 * @property {readonly Upstream[]} upstreams APIs of its recording.
 * @property {boolean} blockNetwork
 * @property {readonly string[]} allowNetwork
 * @property {string[]} refused Messages about connections to known APIs that were refused.
 */

/**
 * Base URL of a known API, and the variable that leads to it.
 *
 * @typedef {{ variable: string, url: string }} Upstream
 */

// Tests may replace it by a simulated clock.
const { nextTick } = process;

const PATCHED = Symbol.for("reprise.patched");

/** Test runners may load this module several times into one thread, where the sockets are patched once. */
const state = net.Socket.prototype[Symbol.for("reprise.network")] ??= {
  /** @type {readonly Upstream[]} */
  upstreams: [],
  /** @type {Record<string, string>} */
  gateway: {},
  /** @type {Set<RunningTest>} */
  tests: new Set(),
  /** Messages about refused connections while no test ran. */
  refused: [],
  store: new AsyncLocalStorage(),
};

/** Leads the requests of this process; `gateway` has the base URLs for requests of no known test. */
export function leadRequests(upstreams, gateway) {
  Object.assign(state, { upstreams, gateway });
  patchFetch();
  const { connect } = net.Socket.prototype;
  if (connect[PATCHED] === true) return;
  for (const module of [http, https]) patchModule(module);
  patchTls();
  modules.syncBuiltinESMExports?.();
  const patched = function (...args) {
    const refused = refusalOf(targetOf(args));
    if (refused === null) return connect.apply(this, args);
    nextTick(() => this.destroy(refused));
    return this;
  };
  net.Socket.prototype.connect = Object.assign(patched, { [PATCHED]: true });
}

/** Leads requests to the server of a test until it ends. */
export function beginRequests(running) {
  state.tests.add(running);
}

export function endRequests(running) {
  state.tests.delete(running);
}

/** Runs a test, so that its requests are known to be its own while other tests run. */
export function runAs(running, run) {
  return state.store.run(running, run);
}

/** Returns the messages about connections that were refused while no test ran, and forgets them. */
export function takeRefused() {
  return state.refused.splice(0);
}

/** Returns the test that sends a request; `undefined` if none or several may have. */
function sender() {
  const known = state.store.getStore();
  if (state.tests.has(known)) return known;
  return state.tests.size === 1 ? [...state.tests][0] : undefined;
}

/** Returns the URL to which a request is led; `null` for a URL of no known API. */
function led(href) {
  if (!URL.canParse(href)) return null;
  const url = new URL(href);
  if (isAllowed(url.hostname, portOf(url))) return null;
  const running = sender();
  const [found] = knownAt(url.hostname, portOf(url)).flatMap(({ variable, url: known }) => {
    const base = running?.overrides[variable] ?? state.gateway[variable];
    const rest = restBelow(url.pathname, new URL(known).pathname);
    return base === undefined ? [] : [{ base, rest, rank: rankOf(variable, rest) }];
  }).sort((one, other) => other.rank - one.rank);
  if (found === undefined) return null;
  const { base, rest } = found;
  const { origin, pathname } = new URL(base);
  // A path that is not below that of the API stays whole; the gateway refuses it, and a recording decides by it.
  const path = rest === null
    ? `${/^\/t\/[^/]+/.exec(pathname)?.[0] ?? ""}${url.pathname}`
    : pathname.replace(/\/$/, "") + rest;
  return new URL(`${origin}${path}${url.search}`);
}

/** Prefers APIs of the recording, then those whose base URL begins the path, the longest first. */
function rankOf(variable, rest) {
  const isRecorded = [...state.tests].some(({ overrides }) => overrides[variable] !== undefined);
  return (isRecorded ? 1e6 : 0) + (rest === null ? 0 : 1e5 - rest.length);
}

/** Returns what follows the path of a base URL; `null` if nothing of it does. */
function restBelow(path, base) {
  const start = base.replace(/\/$/, "");
  return path === start || path.startsWith(`${start}/`) ? path.slice(start.length) : null;
}

/** Returns the known APIs at a host: those of the test that runs first. */
function knownAt(host, port) {
  const ofTests = [...state.tests].flatMap(({ upstreams }) => upstreams);
  return [...ofTests, ...state.upstreams].filter(({ url }) => {
    const known = new URL(url);
    return bare(known.hostname) === bare(host) && portOf(known) === port;
  });
}

function isAllowed(host, port) {
  const names = [bare(host), `${bare(host)}:${port}`];
  return [...state.tests].some(({ allowNetwork }) => names.some((name) => allowNetwork.includes(name)));
}

/** Returns the error of a connection that may not be made; `null` if it may. */
function refusalOf({ host, port }) {
  if (host === null || isLoopback(host) || isAllowed(host, port)) return null;
  const cannot = `Cannot connect to "${bare(host)}"`;
  if (knownAt(host, port).length > 0) {
    const message =
      `${cannot}: requests to it are recorded and played. Give the client the base URL of its test; ` +
      `allowNetwork: ["${bare(host)}"] allows it`;
    const tests = state.tests.size === 0 ? [state] : state.tests;
    for (const { refused } of tests) if (!refused.includes(message)) refused.push(message);
    return new Error(message);
  }
  if (![...state.tests].some(({ blockNetwork }) => blockNetwork)) return null;
  return new Error(
    `${cannot}: blockNetwork refuses other machines. allowNetwork: ["${bare(host)}"] allows it`,
  );
}

/** True for addresses that do not leave this machine. */
function isLoopback(host) {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|::1|::ffff:127(\.\d+){3}|0\.0\.0\.0|::)$/.test(bare(host));
}

/** Host without brackets. */
function bare(host) {
  return host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
}

function portOf({ protocol, port }) {
  return Number(port) || (protocol === "https:" || protocol === "wss:" ? 443 : 80);
}

/** Returns the host and port that a socket connects to; the host is `null` for a socket of this machine. */
function targetOf(args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof first === "object" && first !== null) {
    const { path = null, host = "localhost", port } = first;
    return { host: path === null || port !== undefined ? host ?? "localhost" : null, port: Number(port) };
  }
  const isPath = typeof first === "string" && !/^\d+$/.test(first);
  return { host: isPath ? null : typeof second === "string" ? second : "localhost", port: Number(first) };
}

/** Leads the requests of `fetch`. Runtimes whose `fetch` has no sockets of `node:net` are refused here too. */
function patchFetch() {
  const { fetch } = globalThis;
  // A context of its own may have the `fetch` of another, so only the new function is marked.
  if (typeof fetch !== "function" || fetch[PATCHED] === true) return;
  const patched = async function (input, init) {
    const isRequest = typeof input === "object" && input !== null && "url" in input;
    const href = isRequest ? input.url : String(input);
    const to = led(href);
    // A proxy is for the other host.
    const { dispatcher: _dispatcher, client: _client, proxy: _proxy, ...options } = init ?? {};
    if (to !== null) return await fetch(isRequest ? new Request(to, input) : to, options);
    const url = URL.canParse(href) ? new URL(href) : null;
    const refused = url === null || !/^https?:$/.test(url.protocol)
      ? null
      : refusalOf({ host: url.hostname, port: portOf(url) });
    if (refused !== null) throw refused;
    return await fetch(input, init);
  };
  globalThis.fetch = Object.assign(
    Object.defineProperties(patched, Object.getOwnPropertyDescriptors(fetch)),
    {
      [PATCHED]: true,
    },
  );
}

/** Refuses connections through the tunnel of a proxy, where only the name of the server tells the host. */
function patchTls() {
  const { connect } = tls;
  tls.connect = function (...args) {
    const socket = connect.apply(this, args);
    const options = args.find((arg) => typeof arg === "object" && arg !== null);
    const { socket: tunnel, servername = null, port = 443 } = options ?? {};
    const refused = tunnel === undefined ? null : refusalOf({ host: servername, port: Number(port) });
    if (refused !== null) nextTick(() => socket.destroy(refused));
    return socket;
  };
}

/** Leads the requests of `node:http` or `node:https`. */
function patchModule(module) {
  const { request } = module;
  const plain = http.request;
  module.request = function (...args) {
    const { href, options, callback } = askedOf(args, module === https ? "https:" : "http:");
    const to = href === null ? null : led(href);
    if (to === null) return request.apply(this, args);
    // An agent and a way to connect are for the other scheme or host.
    const { agent: _agent, createConnection: _create, headers, ...rest } = options;
    const { hostname, port } = to;
    const target = { protocol: "http:", host: hostname, hostname, port, path: to.pathname + to.search };
    return plain.call(http, { ...rest, ...target, headers: withoutHost(headers) }, callback);
  };
  module.get = function (...args) {
    const sent = module.request(...args);
    sent.end();
    return sent;
  };
}

/** Returns the URL, the options and the callback in the arguments of `http.request`; no URL for a local socket. */
function askedOf(args, scheme) {
  const [first] = args;
  // What `url.parse` returns is an object of options with a URL in it.
  const isUrl = typeof first === "string" || typeof first?.searchParams === "object";
  const given = args[isUrl ? 1 : 0];
  const options = typeof given === "object" && given !== null ? given : {};
  const callback = args.find((arg) => typeof arg === "function");
  const url = isUrl && URL.canParse(String(first)) ? new URL(String(first)) : null;
  if (options.socketPath !== undefined || isUrl && url === null) return { href: null, options, callback };
  const host = options.hostname ?? options.host ?? url?.hostname ?? "localhost";
  const port = options.port ?? options.defaultPort ?? url?.port ?? "";
  const path = options.path ?? (url === null ? "/" : url.pathname + url.search);
  const authority = net.isIPv6(host) ? `[${host}]` : host;
  const href = `${options.protocol ?? url?.protocol ?? scheme}//${authority}${
    port === "" ? "" : `:${port}`
  }${path}`;
  return { href, options, callback };
}

function withoutHost(headers = {}) {
  if (Array.isArray(headers)) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "host"));
}
