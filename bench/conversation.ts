/** The requests of an agent whose history grows, where it was recorded and in another place. */
import type { JsonObject } from "../src/domain/json.ts";
import type { GivenExchange } from "../tests/doors/recordings/recording_files.ts";
import { responseStream } from "../tests/doors/recordings/shapes.ts";
import { MODEL } from "./session.ts";

/** Values that an agent writes into its requests. */
interface Place {
  readonly cwd: string;
  readonly date: string;
  /** Prefix of the ids that are new in each output of a tool. */
  readonly mark: string;
}

const RECORDED: Place = { cwd: "/srv/recorded/project", date: "2026-11-22", mark: "a" };
/** Requests from here match by rules only. */
export const ELSEWHERE: Place = { cwd: "/builds/42/repo", date: "2027-01-04", mark: "b" };

/** Header of a fixture of such an agent: its rules, and the values of its machine. */
export const RULED = {
  match: { normalize: ["codex"] },
  context: { cwd: RECORDED.cwd, date: RECORDED.date },
};
/** Flags of a server for {@linkcode ELSEWHERE}. */
export const SERVED_ELSEWHERE = [
  ...["--context", `cwd=${ELSEWHERE.cwd}`, "--context", `date=${ELSEWHERE.date}`],
];

const PARAMETERS = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const DESCRIPTION = "Reads, searches and changes files of the workspace. ".repeat(80);
const TOOL = { type: "function", description: DESCRIPTION, parameters: PARAMETERS, strict: false };

/** Request after `turns` calls; 600 bytes a call. The model writes the directory of the recording. */
export function agentRequest(prompt: string, turns: number, at = RECORDED): JsonObject {
  const environment =
    `<environment_context>\n  <cwd>${at.cwd}</cwd>\n  <current_date>${at.date}</current_date>\n` +
    "</environment_context>";
  return {
    model: MODEL,
    instructions: "You are an engineer who works in a terminal. ".repeat(100),
    tools: Array.from({ length: 16 }, (_, index) => ({ ...TOOL, name: `tool_${index}` })),
    input: [
      { role: "user", content: environment },
      { role: "user", content: `Do ${prompt}` },
      ...Array.from({ length: turns }, (_, turn) => [
        call(prompt, turn),
        { type: "function_call_output", call_id: `call_${prompt}_${turn}`, output: outputOf(turn, at) },
      ]).flat(),
    ],
    stream: true,
    store: false,
  };
}

/** The recorded exchange of a request. */
export function agentExchange(prompt: string, turns: number): GivenExchange {
  const body = responseStream({ id: `fc_${turns}`, status: "completed", ...call(prompt, turns) });
  return { request: { body: agentRequest(prompt, turns) }, body };
}

function call(prompt: string, turn: number): JsonObject {
  const args = JSON.stringify({ cmd: `cat ${RECORDED.cwd}/src/file_${turn}.ts` });
  return { type: "function_call", call_id: `call_${prompt}_${turn}`, name: "tool_1", arguments: args };
}

function outputOf(turn: number, { cwd, mark }: Place): string {
  const head = `Chunk ID: ${mark}${turn.toString(16).padStart(5, "0")}\nWall time: 0.01 seconds\nOutput:\n`;
  return head + `${cwd}/src/file_${turn}.ts: export const value = ${turn};\n`.repeat(6);
}
