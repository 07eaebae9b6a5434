/** Texts of clients about their machine: the same request at two places and times, under named rules and profiles. */
import type { Json } from "../../support/files.ts";
import { CLIENT_TEXTS, type Environment, HERE, THERE } from "./client_texts.ts";
import { type Answer, outcomeOf, type Row, rows, sent } from "./served.ts";
import { called, claude, says, talk, user } from "./shapes.ts";

const NAMES = "cwd home tmp user host timezone date time os shell git uuid".split(" ");
const context = {
  ...{ cwd: HERE.cwd, home: HERE.home, date: HERE.date.iso, timezone: HERE.zone, os: HERE.os },
  ...{
    shell: `/bin/${HERE.shell}`,
    git: `## ${HERE.branch}\n1234567 Begin`,
    time: "2026-11-22T17:41:00.000-05:00",
  },
};
const env = { HOME: THERE.home, TZ: THERE.zone, SHELL: `/bin/${THERE.shell}` };
const FLAGS = ["--rules", "none", "--context", `os=${THERE.os}`];
/** Headers by which clients name themselves, so that their context blocks are read. */
const AGENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "codex": { originator: "codex_exec" },
  "claude-code": { "user-agent": "claude-cli/2.1.332 (external, cli)" },
};
/** A request of a client, as it is recorded and sent. */
const sentBy = (client: string, body: Json) =>
  sent(body, { ...(client in AGENTS ? { client } : {}), headers: AGENTS[client] ?? {} });
const tier = (answer: Answer) => outcomeOf(answer).split(" ").slice(0, 2).join(" ");

rows(
  "what a client writes at two places and times is the same under the named rules",
  Object.fromEntries(
    Object.entries(CLIENT_TEXTS).map(([client, textOf]): [string, Row] => {
      const bodyOf = (place: Environment, prompt: string) => ({
        ...talk(user(prompt)),
        instructions: textOf(place),
      });
      return [client, {
        ...{ header: { created: "2026-11-22T17:41:00.000Z", match: { normalize: NAMES }, context }, env },
        flags: ["--context", `git=## ${THERE.branch}\n1234567 Begin`],
        recorded: [bodyOf(HERE, "Hello")],
        asked: [[bodyOf(THERE, "Delete everything"), "miss 1"], [bodyOf(THERE, "Hello"), "1 rules"]],
      }];
    }),
  ),
  { flags: FLAGS, outcome: tier, cwd: () => THERE.cwd },
);

const uuid = (run: string, number: number) => `01a20459-081d-7e33-bfd4-${run.repeat(11)}${number}`;
const text = (type: string, text = "") => ({ type, text });
/** Requests of a conversation, each with a call and its output. */
const CLIENTS: Readonly<
  Record<string, readonly [path: string, body: (place: Environment, run: string, prompt: string) => Json]>
> = {
  "codex": ["/v1/responses", (place, run, prompt) => {
    const context = [text("input_text", CLIENT_TEXTS["Codex CLI"]?.(place))];
    const now = run.charCodeAt(0);
    const metadata = { turn_id: uuid(run, 2), create_time: now };
    const head = `Chunk ID: ${run.repeat(6)}\nWall time: 0.00${now} seconds\nProcess exited with code 0\n`;
    const tokens = `Original token count: ${Math.ceil(place.cwd.length / 4)}\nOutput:\n${place.cwd}\n`;
    const first = {
      type: "message",
      id: `msg_${uuid(run, 1)}`,
      internal_chat_message_metadata_passthrough: metadata,
    };
    return {
      ...talk(user(context, first), user(prompt), ...called("call_1", head + tokens)),
      prompt_cache_key: uuid(run, 5),
      client_metadata: { session_id: uuid(run, 5), workspaces: place.cwd },
    };
  }],
  "claude-code": ["/v1/messages", (place, run, prompt) => {
    const billing = `x-anthropic-billing-header: cc_version=2.1.197.1c0; cc_entrypoint=cli; cch=${
      run.repeat(5)
    };`;
    const user_id = JSON.stringify({ device_id: run.repeat(64), session_id: uuid(run, 1) });
    const read = {
      type: "tool_use",
      id: "toolu_1",
      name: "Read",
      input: { file_path: `${place.cwd}/a.txt` },
    };
    const result = { type: "tool_result", tool_use_id: "toolu_1", content: place.cwd };
    const system = [text("text", billing), text("text", CLIENT_TEXTS["Claude Code"]?.(place))];
    const messages = [user([text("text", prompt)]), says([read]), user([result])];
    return claude(messages, { system, metadata: { user_id } });
  }],
  "reprise": ["/v1/responses", ({ cwd }, run, prompt) => ({
    ...talk(
      user(prompt),
      ...called("call_1", `[Exit code 0; ${cwd.length + 1} bytes of output follow]\n${cwd}\n`),
    ),
    ...{ prompt_cache_key: run, instructions: `Working directory: ${cwd}` },
  })],
};

/** Outside of a repository, no client has its state. */
const OUTSIDE = { ...THERE, branch: null };

rows(
  "--normalize with the profile of a client alone fits a fixture without rules",
  Object.fromEntries(
    Object.entries(CLIENTS).map(([name, [path, bodyOf]]): [string, Row] => [name, {
      ...{ path, header: { context }, env, flags: ["--normalize", name] },
      recorded: [sentBy(name, bodyOf(HERE, "a", "say hello"))],
      asked: [
        [sentBy(name, bodyOf(OUTSIDE, "b", "delete everything")), "miss 1"],
        [sentBy(name, bodyOf(OUTSIDE, "b", "say hello")), "1 rules"],
      ],
    }]),
  ),
  { flags: FLAGS, outcome: tier, cwd: () => THERE.cwd },
);
