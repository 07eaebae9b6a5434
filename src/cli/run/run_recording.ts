/**
 * `run --record DIR`: the exchanges of a run as they cross the wire, then the results of its calls, and the arguments to
 * run it again. A failure here is reported at the end, and never harms the run.
 */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { PROVIDERS } from "../../apis/providers.ts";
import { RepriseError } from "../../domain/errors.ts";
import { defined } from "../../domain/json.ts";
import { totalCount } from "../../domain/redact.ts";
import type { ApiKey } from "../../apis/api.ts";
import type { SocketApi } from "../../apis/responses/socket/socket.ts";
import { readable } from "../../fixture/format.ts";
import { secretLeft, UNKEPT } from "../../fixture/record/exchange_outcome.ts";
import type { ExchangeEvent } from "../../fixture/event.ts";
import { FixtureWriter } from "../../fixture/record/writer.ts";
import { scanForValues } from "../../fixture/secrets/scan.ts";
import { Scrubber } from "../../fixture/secrets/scrubber.ts";
import type { KnownValue } from "../../fixture/secrets/secret_values.ts";
import { createRecordingSend, recordedSocket } from "../../fixture/session/recorded_clients.ts";
import {
  ATTACHMENTS,
  canBeArgument,
  SESSION_FORMAT,
  type SessionTestFile,
} from "../../fixture/session/session_file.ts";
import { recordedCalls } from "../../fixture/session/tools_file.ts";
import type { RunStart } from "../../run/recover.ts";
import type { Notice, RunEnded } from "../../schemas/run_events.ts";
import type { SocketSendOptions } from "../../run/socket_send.ts";
import type { RunSetup } from "../../run/setup.ts";
import { fileError } from "../../store/fs_errors.ts";
import type { Home } from "../../store/home.ts";
import { readBlob } from "../../store/read/session.ts";
import { snapshotSession, type StoredFile as KeptFile } from "../../store/transfer/export.ts";
import type { SessionWriter } from "../../store/write/writer.ts";
import type { Send } from "../../transport/http.ts";
import { RUN_FLAGS, type RunFlags } from "./command.ts";
import { replayText } from "./run_settings.ts";
import { type Flag, flagArguments } from "../declare.ts";
import type { Endpoint } from "./endpoint.ts";
import { secretEnvironment } from "../secret_environment.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { ResolvedTarget } from "./resolve_run.ts";
import { divergenceLines } from "../test/compare.ts";
import { playTest } from "../test/runner.ts";
import { VERSION } from "../../domain/version.ts";

interface RecordingPlace {
  readonly ports: ProgramPorts;
  readonly home: Home;
  /** The folder: absolute, new or empty. */
  readonly directory: string;
  readonly writer: SessionWriter;
  readonly notSecret: readonly string[] | undefined;
}

export class RunRecording {
  readonly #place: RecordingPlace;
  readonly #fixture: FixtureWriter;
  /** The session's files before the run; empty for a new session. */
  readonly #before: Iterable<KeptFile>;
  /** Answered exchanges that are missing from the fixture. */
  readonly #lost: ExchangeEvent[] = [];
  /** Monotonic time of its start. */
  readonly #began: number;

  /**
   * Creates the folder, before the run writes anything.
   *
   * @throws {RepriseError} `usage` if it is not empty, `secret_left` if the session's id holds a secret;
   * `session_damaged`, `storage_*`.
   */
  constructor(place: RecordingPlace, { endpoint, key }: Pick<ResolvedTarget, "endpoint" | "key">) {
    const { ports, directory, writer, notSecret } = place;
    const scrubber = recordingScrubber(key, notSecret);
    requireCleanId(writer.id, scrubber.values);
    this.#place = place;
    this.#before = writer.manifest === null ? [] : snapshotSession(ports, writer);
    try {
      this.#fixture = FixtureWriter.create(ports.files, directory, {
        created: ports.clock.now(),
        producer: `reprise ${VERSION}`,
        provider: endpoint.provider,
        baseUrl: clientBaseUrl(endpoint),
        tools: "recorded",
        scrubber,
        notSecret,
        // A run with a broken stream is a useful test too.
        keepCut: true,
        onExchange: (event) => {
          // Without a connection, a retry replaces the exchange.
          if (event.reason !== null && event.reason !== "no_answer") this.#lost.push(event);
        },
      });
    } catch (error) {
      throw fileError(error, "begin the recording", directory);
    }
    this.#began = ports.clock.monotonic();
  }

  over(send: Send): Send {
    return createRecordingSend(send, this.#fixture, this.#place.ports.clock);
  }

  /** Wraps the connections of a WebSocket, so that they are recorded. */
  overSocket(api: SocketApi): NonNullable<SocketSendOptions["wrapSocket"]> {
    const { clock } = this.#place.ports;
    return (socket, upgrade) =>
      recordedSocket(socket, { api, writer: this.#fixture, ...upgrade, began: this.#began, clock });
  }

  /** Empties the folder if the run could not begin. */
  async abandon(): Promise<void> {
    await this.#fixture.close();
    this.#fixture.discard();
  }

  /**
   * Completes the folder when the run is over. `failure` is the reason why the folder does not hold the whole run: then it
   * is left empty.
   */
  async finish(
    ended: RunEnded,
    setup: RunSetup,
    called: RecordedCall,
  ): Promise<{ readonly notice: Notice; readonly failure: RepriseError | null }> {
    const { directory: path } = this.#place;
    let failure: RepriseError | null = null;
    let calls = 0;
    try {
      calls = this.#addSession(ended, setup, called);
    } catch (error) {
      failure = fileError(error, "complete the recording", path);
    }
    const { tally, redactions, leftAlone, failure: failed } = await this.#fixture.close();
    const { published } = tally.exchanges;
    if (failed !== null) failure ??= fileError(failed.error, "complete the recording", path);
    failure ??= this.#lossOf(published);
    if (failure === null) {
      const untested = await this.#expect(ended) ?? undefined;
      const notice = {
        kind: "recorded",
        path,
        exchanges: published,
        calls,
        secrets: totalCount(redactions),
        tested: untested === undefined,
        ...defined({ untested, left_alone: leftAlone.length === 0 ? undefined : leftAlone }),
      } as const;
      return { notice, failure };
    }
    this.#fixture.discard();
    const { code, message } = failure;
    return { notice: { kind: "not_recorded", path, code, message }, failure };
  }

  /** Plays the recording and keeps the written files as `expect/`; returns the reason if its outcome differs. */
  async #expect({ state }: RunEnded): Promise<string | null> {
    if (state === "interrupted" || state === "timed_out") {
      return "a recording cannot repeat an interrupt or a timeout";
    }
    const { ports, directory } = this.#place;
    const { signal } = new AbortController();
    const test = { name: directory, directory };
    const { divergences, error } = await playTest(test, { ports, update: "expect", signal });
    if (error !== null) return error.message;
    const [first] = divergences;
    if (first === undefined) return null;
    const lines = divergenceLines(first).map((line) => line.trim());
    return `played again, ${lines.join("; ")} (see reprise test ${JSON.stringify(directory)})`;
  }

  /** Writes `tools.json` last: without it the folder cannot be played. */
  #addSession(ended: RunEnded, setup: RunSetup, called: RecordedCall): number {
    const { ports, home, writer } = this.#place;
    const [first, last] = ended.turns;
    const turns = writer.allTurns().filter(({ turn }) => turn >= first && turn <= last);
    const { file: tools, outputs } = recordedCalls(turns);
    const { files, ...step } = replayCall(setup, called);
    const session: SessionTestFile = {
      format: SESSION_FORMAT,
      steps: [{ ...step, fixture: ".", exit: ended.exit_code, state: ended.state }],
    };
    for (const { path, bytes } of this.#before) {
      this.#fixture.add(`start/${path}`, bytes, { verbatim: true });
    }
    for (const [name, { sha256 }] of outputs) {
      this.#fixture.add(name, readBlob(ports, home, writer.id, sha256));
    }
    for (const [name, text] of files) this.#fixture.add(name, text);
    // As JSON, like the bodies of requests, so that both get the same replacements of secrets.
    this.#fixture.add("session.json", readable(session));
    this.#fixture.add("tools.json", readable(tools));
    return tools.calls.length;
  }

  #lossOf(published: number): RepriseError | null {
    const [first] = this.#lost;
    if (first !== undefined) {
      const { file, secrets = [], request, reason } = first;
      return file !== undefined ? secretLeft(file, secrets) : new RepriseError(
        UNKEPT.has(reason) ? "not_kept" : "storage_failed",
        `Cannot keep request ${request} in the recording: ${reason}`,
      );
    }
    if (published > 0) return null;
    return new RepriseError("network_failed", "Cannot record the run: no answer came to any request", {
      hint: "Nothing was kept: the folder can be given again",
    });
  }
}

/** Refuses an id that holds a secret, because the fixture holds the id. Ignores case: ids are in small letters. */
function requireCleanId(id: string, values: readonly KnownValue[]): void {
  const lower = values.map(({ name, value }) => ({ name, value: value.toLowerCase() }));
  const names = scanForValues(encodeUtf8(id), lower);
  if (names.length === 0) return;
  throw new RepriseError(
    "secret_left",
    `Cannot record the run: the id of its session holds the value of ${names.join(", ")}`,
    { hint: "Give a new session another name with --new -s NAME", details: { secrets: [...names] } },
  );
}

/** The base URL in the form for clients: with Azure's query, without a version that clients add. */
function clientBaseUrl({ provider, baseUrl, urlOf }: Endpoint): string {
  return PROVIDERS[provider].urlForm === "unversioned" ? baseUrl.href.replace(/\/+$/, "") : urlOf("");
}

/** Removes the secrets of the environment and the run's key from a recording. */
export function recordingScrubber(key: ApiKey | null, notSecret: readonly string[] | undefined): Scrubber {
  const { values } = secretEnvironment(notSecret);
  const scrubber = new Scrubber({ values });
  if (key !== null) scrubber.learn("the API key", key.value);
  return scrubber;
}

interface RecordedCall {
  readonly flags: RunFlags;
  readonly isNew: boolean;
  readonly start: RunStart;
}

/**
 * The arguments that play a recorded run anywhere: settings from flags, environment, configuration and session as
 * flags, without keys, addresses, paths of the machine and flags for output. `stdin` is the prompt if it cannot be an
 * argument, `files` are those that `args` name.
 */
function replayCall(setup: RunSetup, { flags, isNew, start }: RecordedCall) {
  const files = new Map<string, string | Uint8Array>();
  const keep = (name: string, content: string | Uint8Array) => {
    files.set(name, content);
    return name;
  };
  const { outputSchema, instructions } = setup;
  const isText = !instructions.startsWith("@") && canBeArgument(instructions);
  const { prompt, stdin } = promptArguments(start.prompt);
  const values = {
    new: isNew ? true : undefined,
    session: setup.writer.id,
    model: setup.model,
    effort: setup.effort,
    summary: setup.summary,
    replay: setup.window !== null || setup.replay !== "exact"
      ? replayText({ mode: setup.replay, window: setup.window })
      : undefined,
    ...recordedFlags(flags),
    // A session keeps its instructions; the default for a new session may change with the version.
    instructions: isNew || flags.instructions !== undefined
      ? isText ? instructions : `@${keep("instructions.txt", instructions)}`
      : undefined,
    outputSchema: outputSchema === undefined ? undefined : keep("output_schema.json", readable(outputSchema)),
    attach: start.attached.map(({ name, bytes }, index) =>
      keep(`${ATTACHMENTS}/${index + 1}/${name}`, bytes)
    ),
  } as const;
  return {
    args: ["run", ...flagArguments(RUN_FLAGS, values), ...prompt],
    files,
    ...defined({ stdin }),
  };
}

/** The values of the flags that a recorded run keeps unchanged, in the order of their declarations. */
function recordedFlags(flags: RunFlags): Partial<RunFlags> {
  const names = Object.entries<Flag>(RUN_FLAGS).flatMap(([name, { step }]) =>
    step === "recorded" ? [name as keyof RunFlags] : []
  );
  return Object.fromEntries(names.map((name) => [name, flags[name]]));
}

function promptArguments(text: string | null): { readonly prompt: string[]; readonly stdin?: string } {
  if (text === null) return { prompt: [] };
  if (text === "-" || !canBeArgument(text)) return { prompt: ["-"], stdin: text };
  return { prompt: text.startsWith("-") ? ["--", text] : [text] };
}
