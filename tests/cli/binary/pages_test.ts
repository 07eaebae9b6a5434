/** The commands of the guides and the reference run unchanged, page by page, in a project that has what they name. */
import { ApiProject } from "../../support/api_project.ts";
import { lacksProgram, needing } from "../../support/needs.ts";
import { S3Server } from "../../support/s3_server.ts";
import { answer, message, reasoning, type Script } from "../../support/scripted_api/responses.ts";
import { functionCall } from "../../support/scripted_api/responses_script.ts";

/** Sends a streamed request for each file of tests, up to three times. */
const ROOT = new URL("../../../", import.meta.url).pathname;

const PYTEST = `#!/usr/bin/python3
import glob, json, os, sys, urllib.request

for file in [each for each in sys.argv[1:] if each.endswith(".py")] or sorted(glob.glob("tests/test_*.py")):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/responses",
        data=json.dumps({"model": "gpt-5.6", "input": file, "store": False, "stream": True}).encode(),
        headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"},
    )
    for attempt in range(3):
        try:
            with urllib.request.urlopen(request) as response:
                if "response.completed" in response.read().decode():
                    break
        except Exception as error:
            print(error)
    else:
        sys.exit(1)
`;

/** The model's summary of a session, as `compact --strategy model` wants it. */
const SUMMARY = JSON.stringify({
  summary: "a.txt was read.",
  decisions: [],
  files_read: ["a.txt"],
  files_changed: [],
  open_questions: [],
  next_steps: [],
  tool_calls: 26,
  limitations: ["Results are left out"],
});

/** Arguments of calls. */
const CHECK = { command: "sh check.sh", argv: null, timeout_seconds: null };
const FILE = { path: "a.txt", offset: null, limit: null };

/** Calls the tool that the prompt names, answers as a schema or a summary wants it, and else in text. */
const model: Script = ({ input, body }) => {
  const prompt = JSON.stringify(input.findLast(({ role }) => role === "user") ?? body);
  const format = JSON.stringify(body).includes('"json_schema"');
  if (format && prompt.includes("Who wrote")) return answer([message('{"name":"Ada"}')]);
  if (format) return answer([message(SUMMARY)]);
  const read = input.filter(({ type }) => type === "function_call_output").length;
  if (prompt.includes("45 times") && read < 45) {
    return answer([reasoning(), functionCall("read_file", FILE)]);
  }
  if (input.at(-1)?.role === "user") {
    if (prompt.includes("Run the check")) return answer([reasoning(), functionCall("shell", CHECK)]);
    if (prompt.includes("a.txt")) return answer([reasoning(), functionCall("read_file", FILE)]);
  }
  return answer([reasoning(), message("The parser is in src/parse.ts.")]);
};

/** A schema of an answer. */
const PERSON = JSON.stringify({
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
  additionalProperties: false,
});

/** A page, and what a reader of it has. */
interface GuidePage {
  readonly page: string;
  readonly prepare?: (project: ApiProject) => void | Promise<void>;
  /** Called before each script of the page. */
  readonly before?: (project: ApiProject, script: string) => void;
}

async function session(project: ApiProject): Promise<void> {
  await succeeds(project, 'reprise run --new -s demo "Which file holds the parser?"');
}

async function succeeds(project: ApiProject, script: string): Promise<void> {
  const { code, output } = await project.shell(script);
  if (code !== 0) throw new Error(`${script}\n${output}`);
}

const PAGES: readonly GuidePage[] = [
  {
    page: "docs/clients.md",
    prepare(project) {
      project.write("tests/test_chat.py", "");
      project.program("tools/npm", '#!/bin/sh\n[ -n "$ACME_BASE_URL" ] && exec pytest\n');
    },
  },
  {
    page: "docs/keep.md",
    async prepare(project) {
      project.write("a.txt", "alpha\n");
      project.write(
        "rollout.jsonl",
        Deno.readTextFileSync(`${ROOT}tests/doors/transcripts/recorded/codex.jsonl`),
      );
      await succeeds(project, 'reprise run --new -s fix-ci --max-steps 60 "Read a.txt 45 times"');
    },
    before(project, script) {
      // A disk that lost the end of a turn.
      if (script.includes("exit code 12")) {
        Deno.truncateSync(`${project.home}/sessions/fix-ci/turns/000003.json`, 100);
      }
    },
  },
  { page: "docs/reasoning.md", prepare: session },
  {
    page: "docs/run.md",
    prepare(project) {
      const files = {
        "a.txt": "alpha\n",
        "b.txt": "beta\n",
        "files.txt": "a.txt\nb.txt\n",
        "shot.png": "\x89PNG\r\n\x1a\n",
        "spec.pdf": "%PDF-1.7\n",
        "person.json": PERSON,
      };
      for (const [name, content] of Object.entries(files)) {
        const bytes = Uint8Array.from(content, (letter) => letter.charCodeAt(0));
        Deno.writeFileSync(`${project.workspace}/${name}`, bytes);
      }
    },
  },
  { page: "docs/schemas.md" },
];

for (const { page, prepare, before } of PAGES) {
  Deno.test({
    ...needing(
      `the commands of ${page} run unchanged, in order`,
      lacksProgram("/usr/bin/python3"),
      lacksProgram("jq"),
    ),
    async fn() {
      await using store = new S3Server();
      await using project = new ApiProject(model);
      const { REPRISE_REMOTE: _, ...keys } = store.env;
      Object.assign(project.env, keys);
      project.env.REPRISE_MODEL = "gpt-5.6";
      project.program("tools/pytest", PYTEST);
      await prepare?.(project);
      await project.runPage(page, {
        env(script) {
          before?.(project, script);
          return {};
        },
      });
    },
  });
}
