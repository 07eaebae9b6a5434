/** The commands of the README run unchanged, in order, and so does the one of docs/clients.md about `run`. */
import assert from "node:assert/strict";
import { lacksPython, needing } from "../../support/needs.ts";
import { ApiProject } from "../../support/api_project.ts";
import { startMessagesServer } from "../../support/scripted_api/messages.ts";
import { says, text } from "../../support/scripted_api/messages_script.ts";
import { blocksOf } from "../../support/page.ts";
import { reasonNotToRun } from "../../support/pages.ts";
import { answer, message, reasoning, type Script } from "../../support/scripted_api/responses.ts";

const ROOT = new URL("../../../", import.meta.url);
const { tasks } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", ROOT)));

/** Names the city of France and its river, and answers any other prompt with one sentence. */
const model: Script = ({ body, input }) => {
  const asked = JSON.stringify(input.length > 0 ? input.at(-1) : body);
  return answer([reasoning(), message(/capital|river/.test(asked) ? "Paris, on the Seine." : "It is done.")]);
};

const CHAT = `import json, os, urllib.request


def ask(question):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/responses",
        data=json.dumps({"model": "gpt-5.6", "input": question, "store": False}).encode(),
        headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        output = json.load(response)["output"]
    return "".join(part["text"] for item in output if item["type"] == "message" for part in item["content"])


def test_capital():
    assert "Paris" in ask("What is the capital of France?")


def test_river():
    assert "Seine" in ask("Which river runs through it?")
`;

/**
 * Runs the `sh` blocks of a page, but those of {@linkcode reasonNotToRun}; `before` is called with each of them. Returns
 * their output, in order.
 */
async function runBlocks(
  project: ApiProject,
  page: string,
  before: (script: string) => void = () => {},
): Promise<readonly string[]> {
  const printed: string[] = [];
  for (const block of blocksOf(Deno.readTextFileSync(new URL(page, ROOT)))) {
    if (block.language !== "sh" || reasonNotToRun(page, block.text) !== null) continue;
    before(block.text);
    const { code, output } = await project.shell(block.text);
    assert.equal(code, 0, `${page}:${block.line}: ${block.text}${output}`);
    printed.push(output);
  }
  return printed;
}

/** Puts an `npx` on the `PATH` that knows the tasks of deno.json: `compile` copies the binary, the others do nothing. */
function writeNpx(project: ApiProject): void {
  const names = Object.keys(tasks).map((name) => `"-y deno@2.9.6 task ${name}"`).join(" | ");
  project.program(
    "tools/npx",
    `#!/bin/sh
case "$*" in
  "-y deno@2.9.6 task compile") mkdir dist && cp '${project.directory}/bin/reprise' dist/ ;;
  ${names}) ;;
  *) exit 127 ;;
esac
`,
  );
}

Deno.test({
  ...needing(
    "the commands of the README run: record, replay, add what is missing, compile, ask, continue, test",
    await lacksPython("pytest"),
  ),
  async fn() {
    await using project = new ApiProject(model);
    writeNpx(project);
    project.write("test_chat.py", CHAT);
    project.write(
      "rollout.jsonl",
      Deno.readTextFileSync(new URL("tests/doors/transcripts/recorded/codex.jsonl", ROOT)),
    );
    const printed = await runBlocks(project, "README.md", (script) => {
      if (script.includes("--missing")) {
        project.write("test_chat.py", CHAT.replace("What is the", "Name the"));
      }
    });
    const facts = [
      /recorded 2 exchanges[^]*2 served, 0 missed/,
      /1 played, added 1 exchange/,
      /^\d+\.\d+\.\d+/,
      /It is done/,
      /1 passed/,
    ];
    for (const [index, fact] of facts.entries()) assert.match(printed[index] ?? "", fact);
  },
});

Deno.test("the command of docs/clients.md continues a session of OpenAI with a model of Anthropic", async () => {
  await using project = new ApiProject(model);
  await using anthropic = startMessagesServer({ script: () => says([text("I agree.")]) });
  const begun = await project.shell('reprise run -m gpt-5.6 "Why does the build fail?"');
  assert.equal(begun.code, 0, begun.output);
  project.env["ANTHROPIC_BASE_URL"] = anthropic.baseUrl;
  project.env["ANTHROPIC_API_KEY"] = "sk-ant-test-0123456789";
  const block = blocksOf(Deno.readTextFileSync(new URL("docs/clients.md", ROOT)))
    .find(({ text }) => text.includes("-p anthropic"));
  const { code, output } = await project.shell(block?.text ?? "exit 9");
  assert.equal(code, 0, output);
  assert.match(output, /I agree\./);
  assert.match(JSON.stringify(anthropic.requests[0]?.body), /It is done/);
});
