/**
 * Mutants of sessions: store, fold, compaction and remotes.
 *
 * @module
 */
import type { Mutant } from "./mutants.ts";

/** See the module. */
export const SESSION_MUTANTS: readonly Mutant[] = [
  {
    file: "src/store/read/validate.ts",
    text: "else if (answered.has(call.seq) || this.#answered.has(call.seq))",
    replacement: "else if (answered.has(call.seq))",
    promise: "format.md: a call has at most one result, also in a later turn",
    area: ["doors/sessions"],
  },
  {
    file: "src/store/write/publish.ts",
    text: "  orSyncFailed(() => ports.files.syncDirectory(to.directory));\n",
    replacement: "",
    promise: "format.md: a turn is acknowledged after the directory that holds its name is synced",
    area: ["crash/order_test.ts"],
  },
  {
    file: "src/store/write/writer.ts",
    text: "if (error instanceof SyncFailed) return this.#dead = storageError(error, tried, path);",
    replacement: "if (error instanceof SyncFailed) return storageError(error, tried, path);",
    promise: "format.md: after a failed fsync the writer stops",
    area: ["unit/store"],
  },
  {
    file: "src/store/read/session.ts",
    text: "inForce !== null && inForce.to_turn >= from.to_turn",
    replacement: "inForce !== null",
    promise: "format.md: opening begins again if the turns leave a checkpoint in force that reaches less far",
    area: ["doors/sessions"],
  },
  {
    file: "src/store/read/safe_open.ts",
    text: "facts.owner !== null && facts.owner !== user",
    replacement: "facts.owner !== null && facts.owner !== 0 && facts.owner !== user",
    promise: "format.md: a reader refuses a file of another owner",
    area: ["doors/sessions"],
  },
  {
    file: "src/store/lifecycle/fork.ts",
    text: 'seq <= toSeq && action !== "left_out"',
    replacement: "seq <= toSeq",
    promise: "format.md: a fork repeats every refusal but `left_out`, which was for one run only",
    area: ["doors/sessions"],
  },
  {
    file: "src/store/lifecycle/remove.ts",
    text: "of [paths.quarantine, paths.pending]",
    replacement: "of [paths.quarantine]",
    promise: "keep.md: a waiting turn is decided later, so gc keeps its blobs",
    area: ["doors/sessions"],
  },
  {
    file: "src/store/repair/plan.ts",
    text: "...(there.has(path) ? this.#quarantine(path, this.keep) : {}),",
    replacement: "...(there.has(path) && made === null ? this.#quarantine(path, this.keep) : {}),",
    promise: "guarantees.md: every byte that repair replaces is in quarantine",
    area: ["doors/sessions"],
  },
  {
    file: "src/fold/guard.ts",
    text: "const accounts = [fingerprint.account, target.fingerprint.account];",
    replacement: "const accounts = [fingerprint.account, fingerprint.account];",
    promise: "reasoning.md: reasoning goes to the account that made it",
    area: ["doors/wire"],
  },
  {
    file: "src/fold/guard.ts",
    text: 'if (target.replay !== "family") return false;',
    replacement: 'if (target.replay === "none") return false;',
    promise: "reasoning.md: by default reasoning goes to its own model only, not to its family",
    area: ["doors/wire"],
  },
  {
    file: "src/fold/response_plan.ts",
    text: "followed = !dropped.has(event.seq) && !isOutput(event);",
    replacement: "followed = !isOutput(event);",
    promise: "reasoning.md: reasoning whose following item is left out stays out too",
    area: ["doors/wire"],
  },
  {
    file: "src/fold/history_fold.ts",
    text: "if (callId === original || !this.#uses.has(callId)) break;",
    replacement: "break;",
    promise: "guarantees.md: every call has exactly one output, so call ids in a request are distinct",
    area: ["doors/wire"],
  },
  {
    file: "src/fold/overrides.ts",
    text: "mayBeSameEndpoint(scope, target) && mayBeSameAccount(scope, target)",
    replacement: "mayBeSameEndpoint(scope, target)",
    promise: "format.md: a quarantine holds for the account that refused only",
    area: ["doors/wire"],
  },
  {
    file: "src/fold/fold.ts",
    text: "seq < lastUser && (reason === null || REFUSED.has(reason))",
    replacement: "seq < lastUser && reason === null",
    promise: "reasoning.md: a retry without a refused item does not send older reasoning instead",
    area: ["doors/wire"],
  },
  {
    file: "src/compaction/cut.ts",
    text: "groups.find(({ call, result }) => call <= last && last < result)",
    replacement: "groups.find(({ call, result }) => call < last && last < result)",
    promise: "keep.md: a cut is never between a call and its result",
    area: ["doors/sessions"],
  },
  {
    file: "src/compaction/plan.ts",
    text: "...(notices.length === 0 ? {} : { endpoint_notices: notices }),",
    replacement: "",
    promise: "format.md: a checkpoint carries the endpoint notices from before it",
    area: ["doors/sessions", "doors/wire"],
  },
  {
    file: "src/compaction/deterministic.ts",
    text: "Math.floor(replacedLength(turns, scope) / 2)",
    replacement: "replacedLength(turns, scope)",
    promise: "keep.md: a checkpoint by rule has less than half of what it replaces, if it can",
    area: ["doors/sessions"],
  },
  {
    file: "src/remote/session_remote.ts",
    text: 'return checkSeal(there.bytes) === turn.sum ? "stored" : "lost";',
    replacement: 'return checkSeal(there.bytes) === null ? "lost" : "stored";',
    promise: "keep.md: another turn under the number means that this machine lost it",
    area: ["unit/remote"],
  },
  {
    file: "src/remote/open_run.ts",
    text: "!isOpenAfter(ports, paths, newest) || isSavedHere(ports, paths, localTurn(ports, paths, newest))",
    replacement: "!isOpenAfter(ports, paths, newest)",
    promise: "keep.md: a home continues its own open run at once",
    area: ["unit/remote"],
  },
  {
    file: "src/remote/fetch.ts",
    text: "if (fetched.length === 0) forgetSaves(ports, paths);",
    replacement: "",
    promise: "keep.md: a home that fetched a turn does not take the open run for its own",
    area: ["unit/remote"],
  },
  {
    file: "src/remote/fetch.ts",
    text: "found !== null && sha256Hex(found.bytes) === sha256",
    replacement: "found !== null",
    promise: "keep.md: a fetch checks each turn and blob",
    area: ["unit/remote"],
  },
];
