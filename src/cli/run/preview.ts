/** Previews of the next request: `run --dry-run`, and code that `explain` and `doctor` share with it. */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { fingerprintText } from "../../domain/fingerprint.ts";
import { sha256Hex } from "../../domain/hash.ts";
import { parseSessionId } from "../../domain/ids.ts";
import { defined, isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { modelFacts } from "../../domain/models.ts";
import { counted } from "../../domain/text.ts";
import type { ModelTurn, Turn } from "../../domain/turn.ts";
import { requestAccount } from "../../fold/fold.ts";
import { answerText } from "../../run/outcome.ts";
import type { AnswerCheck } from "../../run/output_schema.ts";
import { type PreviewedSession, previewRequest } from "../../run/preview.ts";
import { answerAtEnd, isUnfinished, requireUnfinished, type RunStart } from "../../run/recover.ts";
import type { RunSettings } from "../../run/setup.ts";
import { comparePrefix, type PrefixReport } from "../../run/prefix.ts";
import { type Home, openHome } from "../../store/home.ts";
import { resolveSession } from "../../store/list.ts";
import { sessionPaths } from "../../store/layout.ts";
import { blobReader, readSession, readSessionTail } from "../../store/read/session.ts";
import { requireUnused } from "../../store/write/session_directory.ts";
import { policyFromText } from "../../tools/permission/policy.ts";
import { commandLine } from "../../tools/permission/shell_words.ts";
import { homeToRead } from "../context.ts";
import { permissionsOf, replayText } from "./run_settings.ts";
import { requestSettings, type ResolvedRun, resolveRun, type SettingCall } from "./resolve_run.ts";
import { dryRunOf, plannedChanges } from "../dry_run.ts";
import type { RunFlags } from "./command.ts";
import { withOutputPrice } from "./run_costs.ts";

/** The id of a new session in a preview, if no flag names it. */
const UNNAMED = "new-session";

/** Performs `run --dry-run`: reports the next request, or prints its exact body; changes and sends nothing. */
export async function previewRun(
  call: SettingCall<RunFlags>,
  { start: asked, check }: { readonly start: RunStart; readonly check: AnswerCheck | undefined },
): Promise<ExitCode> {
  const { output } = call.context;
  const body = call.flags.body === true;
  const session = calledSession(call);
  const { manifest } = session;
  // The body of a finished session without a prompt is its history alone.
  const start = body && asked.prompt === null && !isUnfinished(manifest) ? null : asked;
  if (start?.prompt === null) requireUnfinished(session.id, manifest);
  const endpoint = body ? "any" : "named";
  const resolved = await withOutputPrice(resolveRun(call, manifest, { key: "if_set", endpoint }));
  if (resolved.lost !== null) output.note(resolved.lost);
  const settings = requestSettings(resolved, session);
  const { built, folded, target } = await previewRequest(settings, session, start);
  const { sent, left } = requestAccount(folded);
  const prefix = await judgePrefix(resolved, session, start).catch((error) => {
    // The next request can omit a damaged blob of the last one.
    if (error instanceof RepriseError && error.code === "session_damaged") return null;
    throw error;
  });
  const advice = keepAdvice(prefix);
  if (body) {
    output.jsonText(built.body);
    if (advice !== null) output.note(`notice: ${advice}`);
    return 0;
  }
  const answer = start?.prompt === null ? answerAtEnd(session.turns) : null;
  const isAnswered = answer !== null && (check?.(answerText(answer)) ?? []).length === 0;
  const { model } = settings;
  const url = resolved.endpoint.urlOf(built.path);
  const report = {
    session: manifest === null ? call.flags.session ?? null : session.id,
    new: manifest === null,
    run: (manifest?.run ?? 0) + 1,
    continues: start?.prompt === null,
    ...(isAnswered ? { answered: true as const } : {}),
    url,
    transport: resolved.transport.value,
    provider: settings.provider,
    model,
    context_tokens: modelFacts(model)?.contextTokens ?? null,
    fingerprint: fingerprintText(target.fingerprint, model),
    items: built.items,
    reasoning_sent: sent,
    reasoning_dropped: left,
    body_bytes: encodeUtf8(built.body).length,
    body_sha256: sha256Hex(built.body),
    prefix: prefix === null ? null : { ...prefix.report, ...defined({ with: prefix.with ?? undefined }) },
  };
  const written = manifest === null
    ? plannedChanges("create", "session", [report.session])
    : plannedChanges("append", "turn", [session.id]);
  const changes = isAnswered ? written : [...written, ...plannedChanges("send", "request", [url])];
  if (output.options.json) output.json<"run-dry-run">(dryRunOf("run", changes, report));
  else if (isAnswered) {
    output.text(
      `Would send nothing: session ${session.id} ends with an answer, which run ${report.run} would give. ` +
        "Nothing was written.\n",
    );
  } else {
    const [items, bytes] = [counted(report.items, "item"), counted(report.body_bytes, "byte")];
    output.text(
      `Would send ${items} (${bytes}, ${sent} of them reasoning) to ${url}${
        report.transport === "ws" ? " over a WebSocket" : ""
      }\n` +
        `for run ${report.run} of ${manifest === null ? "a new session" : `session ${report.session}`}, ` +
        `fingerprint ${report.fingerprint}. Nothing was sent or written.\n`,
    );
    if (advice !== null) output.text(`${advice}.\n`);
  }
  return 0;
}

interface CalledSession extends PreviewedSession {
  readonly home: Home;
}

/**
 * The session that a call continues, read as far as its next request needs; an empty session for a new one.
 *
 * @throws {RepriseError} as `run`: `session_exists`, `bad_session_id`, `no_such_session`, and errors of reading.
 */
export function calledSession(call: SettingCall): CalledSession {
  const { ports, context, flags, fixture, selector, choice } = call;
  const home = selector === null && fixture !== null
    ? homeToRead(context)
    : openHome(ports, context.home.value, { create: false });
  if (selector === null) {
    if (flags.session !== undefined) {
      requireUnused(ports, sessionPaths(home.sessions, parseSessionId(flags.session)));
    }
    const nothing = { manifest: null, turns: [], allTurns: () => [], readBlob: () => null };
    return { home, id: flags.session ?? UNNAMED, ...nothing };
  }
  const id = resolveSession(ports, home, { selector, ...choice });
  const { manifest, turns } = readSessionTail(ports, home, id);
  const readBlob = blobReader(ports, home, { id, turns });
  return { home, id, manifest, turns, allTurns: () => readSession(ports, home, id).turns, readBlob };
}

interface PrefixVerdict {
  readonly report: PrefixReport;
  /** Flags of the last run that the call lacks and that make the request extend the last one; `null` for none. */
  readonly with: readonly string[] | null;
}

/**
 * Compares the next request with the session's last one. If they differ, also compares a request with the flags of the
 * last run. `null` before the first request, and if the last one is lost.
 */
export async function judgePrefix(
  resolved: ResolvedRun,
  session: CalledSession,
  start: RunStart | null,
): Promise<PrefixVerdict | null> {
  const { turns } = session;
  const last = turns.findLast((turn) => turn.kind === "model");
  if (last === undefined) return null;
  const compare = async (settings: RunSettings) =>
    comparePrefix(session, await previewRequest(settings, session, start));
  const settings = requestSettings(resolved, session);
  const report = await compare(settings);
  if (report === null || report.extends) return report === null ? null : { report, with: null };
  const completed = asLastRun(resolved, settings, { last, turns });
  const extended = completed !== null && (await compare(completed.settings))?.extends === true;
  return { report, with: extended ? completed.flags : null };
}

/** Names the flags that keep the prefix; `null` if none are missing. */
export function keepAdvice(prefix: PrefixVerdict | null): string | null {
  if (prefix === null || prefix.with === null) return null;
  const flags = commandLine(["reprise", ...prefix.with]).slice("reprise ".length);
  return `The next run does not keep flags of the last one: give ${flags} again to keep its prompt cache`;
}

/** The settings completed with the flags of the last run; `null` if nothing differs. */
function asLastRun(
  { call, manifest }: ResolvedRun,
  settings: RunSettings,
  { last, turns }: { readonly last: ModelTurn; readonly turns: readonly Turn[] },
): { readonly settings: RunSettings; readonly flags: readonly string[] } | null {
  const { flags: given, policy } = call;
  const flags: string[] = [];
  let completed = settings;
  const opening = turns.findLast((turn) =>
    turn.run === last.run && "pins" in turn && turn.pins !== undefined
  );
  const pins = opening !== undefined && "pins" in opening ? opening.pins : manifest?.pins;
  if (given.allow === undefined && given.ask !== true && pins !== undefined) {
    const { allow, ask } = policyFromText(pins.permissions);
    const { offered } = permissionsOf({ ...policy, allow, ask }, manifest);
    if (offered.length !== settings.tools.length) {
      completed = { ...completed, tools: offered };
      flags.push(...allow.flatMap(({ text }) => ["--allow", text]), ...(ask ? ["--ask"] : []));
    }
  }
  const { mode, window } = last.request.replay ?? { mode: settings.replay, window: null };
  if (given.replay === undefined && (mode !== settings.replay || window !== settings.window)) {
    completed = { ...completed, replay: mode, window };
    flags.push("--replay", replayText({ mode, window }));
  }
  const schema = given.outputSchema === undefined ? schemaIn(last.request.fields) : null;
  if (schema !== null) {
    completed = { ...completed, outputSchema: schema };
    flags.push("--output-schema", "FILE");
  }
  return flags.length === 0 ? null : { settings: completed, flags };
}

/** The output schema in the fields of a request, under any API's name; `null` without a schema. */
function schemaIn(value: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(value)) return null;
  const { type, ...schema } = value;
  if (type === "json_schema") return schema;
  for (const member of Object.values(value)) {
    const inner = schemaIn(member);
    if (inner !== null) return inner;
  }
  return null;
}
