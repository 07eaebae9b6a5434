/** Runs whose model makes the calls of a row, in a workspace on disk: a recording is the model. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { Sandbox } from "../../support/reprise.ts";
import { writeFixture } from "../recordings/recording_files.ts";
import { answerText, functionCall, responseStream } from "../wire/streams_answers.ts";

/** Content of a file: text, bytes, or the target of a link. */
export type Content = string | Uint8Array | { readonly link: string };

/** A call as a model makes it: the tool, and its arguments or their text. */
export type Call = readonly [tool: string, args: Json];

/** Outcome of a call, from the turn files. */
export interface Outcome {
  readonly status: string;
  readonly output: string;
  /** Bytes of the whole output, if `output` is a part of it. */
  readonly full: Uint8Array | null;
  /** `allow` or `deny`, the reason, and the rule; `allow reading` if no decision is written down. */
  readonly decision: string;
}

/** A workspace, and a directory beside it that shares the start of its name and that no call may reach. */
export class Workplace extends Sandbox {
  readonly outside = `${this.workspace}-secrets`;
  #runs = 0;

  constructor(files: Readonly<Record<string, Content>> = {}) {
    super();
    Deno.mkdirSync(this.outside);
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  /** Writes a file or a link of the workspace, with the directories on the way; `../` leads out of it. */
  write(path: string, content: Content): void {
    const full = `${this.workspace}/${path}`;
    Deno.mkdirSync(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(full, content);
    else if (content instanceof Uint8Array) Deno.writeFileSync(full, content);
    else Deno.symlinkSync(content.link, full);
  }

  read(path: string): string {
    return Deno.readTextFileSync(`${this.workspace}/${path}`);
  }

  /** Names below the workspace, or below another directory, sorted. */
  names(directory = this.workspace): string[] {
    const below = (path: string): string[] =>
      [...Deno.readDirSync(`${directory}/${path}`)].flatMap((entry) => {
        const name = `${path}${entry.name}`;
        return entry.isDirectory ? [name, ...below(`${name}/`)] : [name];
      });
    return below("").sort();
  }

  /** Arguments of a run whose model makes these calls at once, then answers; and its session. */
  script(calls: readonly Call[], flags: readonly string[]): { readonly args: string[]; readonly id: string } {
    const id = `s${++this.#runs}`;
    const items = calls.map(([tool, args], index) => functionCall(`call_${index}`, tool, args));
    const fixture = writeFixture(`${this.directory}/model-${id}`, [
      { body: responseStream(items) },
      { body: responseStream([answerText("Done.")]) },
    ]);
    const model = ["--fixture", fixture, "--match", "sequence", "-m", "gpt-5.6"];
    return { id, args: ["run", "--json", "--new", "-s", id, ...model, ...flags, "Go"] };
  }

  /** Runs calls; returns their outcomes in order. */
  async run(
    calls: readonly Call[],
    flags: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Outcome[]> {
    const { args, id } = this.script(calls, flags);
    const called = await this.call(args, { env });
    assert.equal(called.code, 0, called.stdout + called.stderr);
    return this.outcomes(id, calls.length);
  }

  /** The outcomes of the calls of a session. */
  outcomes(id: string, count: number): Outcome[] {
    const events = this.turns(id).flatMap((turn) => turn.events);
    return Array.from({ length: count }, (_, index) => {
      const of = (type: string) =>
        events.find((event) => event.type === type && event.call_id === `call_${index}`);
      const { status, output, blob = null } = of("tool_result");
      const { decision, reason, rule } = of("permission_decision") ??
        { decision: "allowed", reason: "reading" };
      const path = `${this.home}/sessions/${id}/blobs/${blob?.sha256}`;
      return {
        ...{ status, output, full: blob === null ? null : Deno.readFileSync(path) },
        decision: [decision === "allowed" ? "allow" : "deny", reason, ...rule === undefined ? [] : [rule]]
          .join(" "),
      };
    });
  }
}
