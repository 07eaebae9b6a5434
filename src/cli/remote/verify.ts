/** `verify --remote`: checks copies on a remote as a home that fetches them would, and their requests. */
import { asRepriseError, type ExitCode, RepriseError } from "../../domain/errors.ts";
import { parseSessionId, type SessionId } from "../../domain/ids.ts";
import { fetchTurns } from "../../remote/fetch.ts";
import type { ObjectStore } from "../../remote/object_store.ts";
import { missing } from "../../remote/remove.ts";
import { remoteSessions } from "../../remote/sessions.ts";
import { orFileError } from "../../store/fs_errors.ts";
import { openHome } from "../../store/home.ts";
import type { Context } from "../context.ts";
import type { VerifyFlags } from "../inspection/command.ts";
import { exitCodeOf, printVerified, verified, type VerifiedSession } from "../inspection/verify.ts";
import { SCRATCH_PREFIX, temporaryDirectory } from "../test/scratch.ts";
import { givenRemote } from "./given_remote.ts";

/** Performs `verify --remote`. With `--all`, a damaged session does not keep back the others. */
export async function verifyRemote(
  context: Context,
  given: string | undefined,
  flags: VerifyFlags,
): Promise<ExitCode> {
  const { output } = context;
  if ((given === undefined) !== (flags.all === true)) {
    throw new RepriseError("usage", "Cannot tell what to verify: give a session or --all", {
      hint: "reprise verify ID --remote, or reprise verify --all --remote",
    });
  }
  const store = await givenRemote(context, flags, null);
  const there = await remoteSessions(store);
  const wanted = given === undefined ? there : there.filter(({ id }) => id === given);
  if (given !== undefined && wanted.length === 0) throw missing(parseSessionId(given), store.name);
  const sessions: VerifiedSession[] = [];
  const failures: RepriseError[] = [];
  for (const { id, turns } of wanted) {
    try {
      const session = await verifiedThere(context, store, { id, last: turns });
      sessions.push(session);
      if (!output.options.json) printVerified(context, session);
    } catch (error) {
      const failure = asRepriseError(error);
      if (given !== undefined || failure.code !== "session_damaged") throw failure;
      failures.push(failure);
      output.note(`${id}: ${failure.message}`);
    }
  }
  const exitCode = failures[0]?.exitCode ?? exitCodeOf(sessions);
  if (output.options.json) {
    const damaged = failures.map(({ code, message, details }) => ({ code, message, details }));
    output.json<"verify">({
      ...{ ok: exitCode === 0, exit_code: exitCode, sessions },
      ...{ remote: store.name, damaged },
    });
  }
  return exitCode;
}

/** Fetches a session into a home of its own, which is removed at the end: nothing of it comes into this home. */
async function verifiedThere(
  { ports }: Context,
  store: ObjectStore,
  { id, last }: { readonly id: SessionId; readonly last: number },
): Promise<VerifiedSession> {
  const parent = temporaryDirectory(ports);
  const root = orFileError(
    "create a scratch directory (TMPDIR names where)",
    parent,
    () => Deno.realPathSync(Deno.makeTempDirSync({ dir: parent, prefix: SCRATCH_PREFIX })),
  );
  try {
    const home = openHome(ports, root, { create: true });
    await fetchTurns(ports, home, store, { id, last });
    return verified(ports, home, id);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}
