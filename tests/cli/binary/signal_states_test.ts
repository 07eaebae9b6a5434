/**
 * Every verb that can take long, in each state in which it can wait: SIGTERM ends it within five seconds, a second one
 * at once, and what was finished before is whole.
 */
import assert from "node:assert/strict";
import { exchangesOf, writeFixture } from "../../doors/recordings/recording_files.ts";
import {
  type Answer,
  COMPLETED,
  RawUpstream,
  sse,
  STREAM_HEAD,
  streaming,
  writeChunk,
} from "../../support/raw_upstream.ts";
import { said, type Started } from "../../support/reprise.ts";
import { S3Server } from "../../support/s3_server.ts";
import { answer, message, reasoning, unfinished } from "../../support/scripted_api/responses.ts";
import { startResponsesSocket } from "../../support/scripted_api/socket.ts";
import { SocketClient } from "../../support/socket_client.ts";
import { mark, NEW_RUN, running, shellLine, stubborn } from "../changes.ts";
import { HELLO, ok, Place, until } from "../harness.ts";
import { bodyOf, Serving, writeSuite } from "../serving.ts";

/** Time from the first signal to the end, in milliseconds. */
const ENDS_WITHIN_MS = 5000;
/** Time from a second signal to the end: at once, on a machine that does other things too. */
const AT_ONCE_MS = 1500;
/** The second signal counts from this time on: two that come together are one. */
const APART_MS = 400;

/** A place with a verb that waits. */
class Waiting extends Place {
  readonly resources = new AsyncDisposableStack();
  /** Marks the commands of this place. */
  readonly word = mark();

  /** A server that reads a request and stays silent, except that the first ones get these answers. */
  upstream(...answers: readonly Answer[]): RawUpstream {
    let next = 0;
    return this.resources.use(
      new RawUpstream((connection, request) => (answers[next++] ?? silentUntilClosed)(connection, request)),
    );
  }

  /** A call whose API never answers. */
  async unanswered(args: readonly string[]): Promise<Started> {
    const upstream = this.upstream();
    const started = this.start(args, { env: { OPENAI_BASE_URL: `${upstream.origin}/v1` } });
    await until(() => upstream.requests.length > 0, "the request");
    return started;
  }

  /** Starts `serve` or `record`. */
  async serving(args: readonly string[], stdin: "null" | "piped" = "null"): Promise<Serving> {
    return await Serving.start(this.sandbox, [...args, "--json"], { stdin, env: this.env });
  }

  get out(): string {
    return `${this.sandbox.directory}/out`;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.resources.disposeAsync();
  }
}

/** Says nothing until the client has gone. */
const silentUntilClosed = async (connection: Deno.Conn) => {
  const buffer = new Uint8Array(1024);
  while (await connection.read(buffer) !== null);
};

/** Brings a verb into a state; returns the process, and what has to hold after its end. */
type State = (place: Waiting) => Promise<{ readonly started: Started; readonly holds?: () => Promise<void> }>;

const STALLS = answer([reasoning("Hm"), unfinished(message("Never to be finished"))], {
  end: { kind: "stall" },
});
const SESSION_IS_SOUND = (place: Place) => async () => void await ok(place, ["fsck", "s"]);
/** A command that prints a line and ignores the signals that ask for an end. */
const IGNORES = (word: string) => ["sh", "-c", `trap '' TERM INT HUP; echo ready; sleep ${word}`];

/** Sends a request that is never answered. */
function ask(origin: string, path: string, body: unknown = bodyOf("Hi")): Promise<unknown> {
  const request = fetch(`${origin}${path}`, { method: "POST", body: JSON.stringify(body) });
  return request.then((response) => response.text()).catch(() => {});
}

/** A run of an earlier call has the session. */
async function finished(place: Place): Promise<void> {
  await ok(place, [...NEW_RUN, "Look around"]);
}

/** A pipe that this process holds open, and neither reads nor writes. */
async function fifo(place: Waiting): Promise<string> {
  const path = `${place.sandbox.directory}/fifo`;
  await new Deno.Command("mkfifo", { args: [path] }).output();
  place.resources.use(await Deno.open(path, { read: true, write: true }));
  return path;
}

async function recorded(place: Waiting, name = "fixture"): Promise<string> {
  const responses = Array.from({ length: 3 }, (_, index) => ({
    request: { path: "/v1/responses", body: bodyOf(`Hi ${index}`) },
    response: { chunks: [[0, 0], [2, 60_000]] },
    body: `${sse({ type: "response.created", response: { id: "resp_1" } })}${COMPLETED}`,
  }));
  return await Promise.resolve(writeFixture(`${place.sandbox.directory}/${name}`, responses));
}

const STATES: Record<string, State> = {
  "run: the API does not answer": async (place) => ({
    started: await place.unanswered([...NEW_RUN, "Go"]),
    holds: SESSION_IS_SOUND(place),
  }),
  "run: a stream stalls": async (place) => {
    const started = place.start([...NEW_RUN, "Go"]);
    await started.printed('"delta":"Never');
    return { started, holds: SESSION_IS_SOUND(place) };
  },
  "run: a command of the shell ignores signals": async (place) => {
    const { word } = place;
    const started = place.start([...NEW_RUN, "--allow", "shell", `Stubborn ${word}`]);
    await until(() => running(`sleep ${word}`).length >= 4, "the command");
    return {
      started,
      holds: async () => {
        await until(() => running(word).length === 0, "the end of the command");
        await SESSION_IS_SOUND(place)();
      },
    };
  },
  "run: another run has the lock": async (place) => {
    await finished(place);
    const first = await place.unanswered(["run", "-s", "s", "Go"]);
    const started = place.start(["run", "-s", "s", "Go on", "--wait", "60"]);
    await pause(1000);
    return {
      started,
      async holds() {
        first.process.kill("SIGKILL");
        await first.ended();
        await SESSION_IS_SOUND(place)();
      },
    };
  },
  "run: the prompt comes from a pipe that stays silent": async (place) => {
    const started = place.start([...NEW_RUN, "-"], { stdin: "piped" });
    await pause(500);
    return { started };
  },
  "run: a retry is waited for": async (place) => {
    const started = place.start([...NEW_RUN, "Later"]);
    await started.printed('"kind":"retry"');
    return { started, holds: SESSION_IS_SOUND(place) };
  },
  "record: nothing happens": async (place) => {
    const { started } = await place.serving([
      ...["record", "--upstream", place.server.baseUrl, "--out", place.out],
    ]);
    return { started };
  },
  "record: the upstream stalls in an answer, after another exchange": async (place) => {
    const first = streaming(COMPLETED);
    const upstream = place.upstream(first, async (connection) => {
      await connection.write(new TextEncoder().encode(STREAM_HEAD));
      await writeChunk(connection, sse({ type: "response.created", response: {} }));
      await silentUntilClosed(connection);
    });
    const server = await place.serving(["record", "--upstream", upstream.origin, "--out", place.out]);
    await ask(server.origin, "/v1/responses");
    await server.started.printed('"exchange"');
    void ask(server.origin, "/v1/responses");
    await until(() => upstream.requests.length === 2, "the request");
    return {
      started: server.started,
      holds: () => Promise.resolve(assert.equal(exchangesOf(place.out).length, 1)),
    };
  },
  "record: a WebSocket waits for its answer": async (place) => {
    const upstream = place.resources.adopt(
      await startResponsesSocket({ script: () => STALLS }),
      (server) => server.stop(),
    );
    const origin = upstream.baseUrl.replace(/\/v1$/, "");
    const server = await place.serving(["record", "--upstream", origin, "--out", place.out]);
    const client = place.resources.use(await SocketClient.open(`${server.origin}/v1`));
    void client.ask({ type: "response.create", ...bodyOf("Hi"), store: false }).catch(() => {});
    await until(() => upstream.requests.length > 0, "the message");
    return { started: server.started };
  },
  "record: a wrapped command ignores signals": async (place) => {
    const args = ["record", "--upstream", place.server.baseUrl, "--out", place.out, "--"];
    const started = place.start([...args, ...IGNORES(place.word)]);
    await started.printed("ready");
    return { started };
  },
  "record --suite: a test is open, and its upstream silent": async (place) => {
    const upstream = place.upstream();
    const server = await place.serving(
      ["record", "--suite", "--upstream", upstream.origin, "--out", place.out],
      "piped",
    );
    void ask(server.origin, "/t/a/v1/responses");
    await until(() => upstream.requests.length > 0, "the request");
    return { started: server.started };
  },
  "record --suite: a test was ended twice at once": async (place) => {
    const upstream = place.upstream(streaming(COMPLETED));
    const server = await place.serving(
      ["record", "--suite", "--upstream", upstream.origin, "--out", place.out],
      "piped",
    );
    await ask(server.origin, "/t/a/v1/responses");
    const writer = server.started.process.stdin.getWriter();
    await writer.write(new TextEncoder().encode('{"type":"end","test":"a"}\n'.repeat(2)));
    writer.releaseLock();
    await pause(500);
    return {
      started: server.started,
      holds: () => Promise.resolve(assert.equal(exchangesOf(`${place.out}/a`).length, 1)),
    };
  },
  "serve: nothing happens": async (place) => {
    const { started } = await place.serving(["serve", await recorded(place)]);
    return { started };
  },
  "serve: an answer waits for its time": async (place) => {
    const server = await place.serving(["serve", await recorded(place), "--pace", "real"]);
    void ask(server.origin, "/v1/responses", bodyOf("Hi 0"));
    await server.started.printed('"played"');
    return { started: server.started };
  },
  "serve: a fault stalls an answer": async (place) => {
    const server = await place.serving([
      "serve",
      await recorded(place),
      "--rules",
      "none",
      "--fault",
      "stall after 1 event",
    ]);
    void ask(server.origin, "/v1/responses", bodyOf("Hi 0"));
    await server.started.printed('"fault"');
    return { started: server.started };
  },
  "serve: a client reads nothing": async (place) => {
    const fixture = writeFixture(`${place.sandbox.directory}/long`, [{
      request: { path: "/v1/responses", body: bodyOf("Hi") },
      body: "data: {}\n\n".repeat(3_000_000),
    }]);
    const server = await place.serving(["serve", fixture, "--rules", "none"]);
    const client = place.resources.use(await Deno.connect({ port: Number(new URL(server.origin).port) }));
    const body = JSON.stringify(bodyOf("Hi"));
    const head = `POST /v1/responses HTTP/1.1\r\nhost: ${new URL(server.origin).host}\r\n`;
    await client.write(new TextEncoder().encode(`${head}content-length: ${body.length}\r\n\r\n${body}`));
    await server.started.printed('"played"');
    return { started: server.started };
  },
  "serve: a wrapped command ignores signals": async (place) => {
    const started = place.start(["serve", await recorded(place), "--", ...IGNORES(place.word)]);
    await started.printed("ready");
    return { started };
  },
  "serve --suite: a test is open": async (place) => {
    const server = await place.serving(["serve", "--suite", writeSuite(place.sandbox, ["a"])], "piped");
    await ask(server.origin, "/t/a/v1/responses");
    return { started: server.started };
  },
  "serve --suite: the gateway": async (place) => ({
    started: (await place.serving(["serve", "--suite"], "piped")).started,
  }),
  "sync: the remote is silent": async (place) => {
    await finished(place);
    const remote = place.resources.use(new S3Server());
    remote.isMute = () => true;
    const started = place.start(["sync", "s"], { env: remote.env });
    await until(() => remote.requests.length > 0, "the request");
    return { started, holds: SESSION_IS_SOUND(place) };
  },
  "ls --remote: the remote is silent": async (place) => {
    const remote = place.resources.use(new S3Server());
    remote.isMute = () => true;
    const started = place.start(["ls", "--remote"], { env: remote.env });
    await until(() => remote.requests.length > 0, "the request");
    return { started };
  },
  "doctor: the API is silent": async (place) => ({ started: await place.unanswered(["doctor", "--live"]) }),
  "compact --strategy model: the API is silent": async (place) => {
    await finished(place);
    return {
      started: await place.unanswered(["compact", "s", "--strategy", "model"]),
      holds: SESSION_IS_SOUND(place),
    };
  },
};

/** Verbs over local files, each held by a pipe: by a silent input, or by an output of more than a pipe takes. */
const HELD = {
  "import: the file stays silent": ["import", "-"],
  "export: no reader takes the output": ["export", "s"],
  "show: no reader takes the output": ["show", "s", "--json"],
};
for (const [name, args] of Object.entries(HELD)) {
  STATES[name] = async (place) => {
    for (let prompt = 0; prompt < 4; prompt++) {
      await ok(place, [
        "run",
        ...(prompt === 0 ? ["--new"] : []),
        "-s",
        "s",
        `Look around ${"a ".repeat(50_000)}`,
      ]);
    }
    const line = args.includes("-") ? 'exec "$@" < "$0"' : 'exec "$@" > "$0"';
    const started = place.start(args, { through: ["sh", "-c", line, await fifo(place)] });
    await pause(700);
    return { started, holds: SESSION_IS_SOUND(place) };
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** True if a process ends in this time. */
async function endsWithin({ status }: Deno.ChildProcess, milliseconds: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  status.then(() => resolve(true));
  const isOver = await promise;
  clearTimeout(timer);
  return isOver;
}

/** Closes the stdin of a process, if it is a pipe of ours. */
async function closeStdin(process: Deno.ChildProcess): Promise<void> {
  try {
    await process.stdin.close();
  } catch {
    // It is no pipe, or the process closed it.
  }
}

/** Ends a command that outlived the verb that started it. */
function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

function newPlace(): Waiting {
  return new Waiting(({ input }) => {
    const text = JSON.stringify(input.at(-1) ?? {});
    const word = /Stubborn ([\d.]+)/.exec(text)?.[1];
    if (word !== undefined) return answer([reasoning("Hm"), shellLine(stubborn(word))]);
    if (text.includes("Later")) {
      return { kind: "http", status: 503, headers: { "retry-after": "50" }, body: "{}" };
    }
    return text.includes("Look around") ? HELLO : STALLS;
  });
}

for (const [name, state] of Object.entries(STATES)) {
  Deno.test(`SIGTERM ends a verb within five seconds, and a second one at once: ${name}`, async () => {
    for (const isHurried of [false, true]) {
      await using place = newPlace();
      const { started, holds } = await state(place);
      started.process.kill("SIGTERM");
      if (isHurried) {
        await endsWithin(started.process, APART_MS);
        try {
          started.process.kill("SIGTERM");
        } catch {
          // The first one was enough.
        }
      }
      const limit = isHurried ? APART_MS + AT_ONCE_MS : ENDS_WITHIN_MS;
      const isOver = await endsWithin(started.process, limit);
      if (!isOver) started.process.kill("SIGKILL");
      for (const line of running(place.word)) if (!name.startsWith("run:")) kill(Number.parseInt(line));
      const ended = await started.ended();
      await closeStdin(started.process);
      assert.ok(isOver, `it still runs after ${limit} ms: ${said(ended)}`);
      await holds?.();
    }
  });
}
