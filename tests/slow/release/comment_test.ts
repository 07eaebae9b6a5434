/** The comment of the action, against a server with the calls of GitHub's API that it uses. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Finished, run } from "../../../scripts/process.ts";

const TOKEN = "ghs_none";

interface Comment {
  readonly id: number;
  body: string;
}

/** A pull request, a report, and the server with its comments. */
class PullRequest implements AsyncDisposable {
  readonly directory = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-comment-" }));
  readonly comments: Comment[] = [];
  /** Method, path and query of each call. */
  readonly calls: string[] = [];
  /** The status of every answer, if it is not 0. */
  failure = 0;
  /** The body of every answer, if it is not the list of comments. */
  body: string | null = null;
  readonly #server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => this.#answer(request),
  );

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
    Deno.removeSync(this.directory, { recursive: true });
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    this.calls.push(`${request.method} ${url.pathname}`);
    assert.equal(request.headers.get("authorization"), `Bearer ${TOKEN}`);
    if (this.failure !== 0) return new Response("{}", { status: this.failure });
    if (this.body !== null) return new Response(this.body);
    if (request.method === "GET") {
      const from = (Number(url.searchParams.get("page")) - 1) * 100;
      return Response.json(this.comments.slice(from, from + 100));
    }
    const { body } = await request.json() as { readonly body: string };
    if (request.method === "POST") this.comments.push({ id: this.comments.length + 1, body });
    else {
      const comment = this.comments.find(({ id }) => url.pathname.endsWith(`/issues/comments/${id}`));
      assert.ok(comment !== undefined, url.pathname);
      comment.body = body;
    }
    return Response.json({});
  }

  comment(
    report: string,
    more: Readonly<Record<string, string>> = {},
    event: unknown = { pull_request: { number: 7 } },
  ): Promise<Finished> {
    Deno.writeTextFileSync(join(this.directory, "report.md"), report);
    Deno.writeTextFileSync(join(this.directory, "event.json"), JSON.stringify(event));
    return run("bash", ["scripts/action/comment.sh"], {
      env: {
        COMMENT_TOKEN: TOKEN,
        GITHUB_API_URL: `http://127.0.0.1:${this.#server.addr.port}`,
        GITHUB_EVENT_PATH: join(this.directory, "event.json"),
        GITHUB_JOB: "test",
        GITHUB_REPOSITORY: "bob/app",
        GITHUB_WORKFLOW: "CI -->",
        INPUT_COMMAND: "serve",
        INPUT_FIXTURES: "fixtures",
        REPORT: join(this.directory, "report.md"),
        RUNNER_TEMP: this.directory,
        ...more,
      },
    });
  }
}

Deno.test("the report becomes a comment, and the next report replaces it", async () => {
  await using pull = new PullRequest();
  assert.equal((await pull.comment('### first "report"\n')).code, 0);
  assert.equal((await pull.comment("### second\n")).code, 0);
  assert.deepEqual(pull.comments.map(({ body }) => body), [
    "<!-- reprise: CI____/test/serve/fixtures -->\n### second\n",
  ]);
  assert.deepEqual(pull.calls, [
    "GET /repos/bob/app/issues/7/comments",
    "POST /repos/bob/app/issues/7/comments",
    "GET /repos/bob/app/issues/7/comments",
    "PATCH /repos/bob/app/issues/comments/1",
  ]);
});

Deno.test("the comment is found after many others, and another job gets one of its own", async () => {
  await using pull = new PullRequest();
  for (let id = 1; id <= 230; id++) pull.comments.push({ id, body: "A person's comment" });
  await pull.comment("one\n");
  await pull.comment("two\n");
  await pull.comment("three\n", { GITHUB_JOB: "nightly" });
  assert.deepEqual(pull.comments.slice(230).map(({ body }) => body.split("\n")[1]), ["two", "three"]);
});

Deno.test("a run without a pull request, without a report or with a token that may only read is a warning", async () => {
  await using pull = new PullRequest();
  const warns = async (message: RegExp, finished: Promise<Finished>) => {
    const { code, stdout } = await finished;
    assert.equal(code, 0);
    assert.match(stdout, message);
  };
  await warns(
    /^::warning title=reprise::This run belongs to no pull request/m,
    pull.comment("one\n", {}, { ref: "main" }),
  );
  await warns(/^::warning title=reprise::There is no report/m, pull.comment(""));
  assert.deepEqual(pull.calls, []);
  pull.failure = 403;
  await warns(
    /^::warning title=reprise::Cannot read the comments of pull request 7$/m,
    pull.comment("one\n"),
  );
});

Deno.test("an answer that is no list of comments is a warning after one call", async () => {
  await using pull = new PullRequest();
  for (const body of ["<html>", '{"message":"Moved"}', ""]) {
    pull.calls.length = 0;
    pull.body = body;
    const { code, stdout } = await pull.comment("one\n");
    assert.equal(code, 0);
    assert.match(stdout, /^::warning title=reprise::Cannot read the comments of pull request 7$/m, body);
    assert.equal(pull.calls.length, 1);
  }
});

Deno.test("the token is in no argument of a process and in no output", async () => {
  await using pull = new PullRequest();
  const bin = join(pull.directory, "bin");
  Deno.mkdirSync(bin);
  const real = (await run("sh", ["-c", "command -v curl"])).stdout.trim();
  Deno.writeTextFileSync(
    join(bin, "curl"),
    `#!/bin/sh\necho "$*" >> ${pull.directory}/arguments\nexec ${real} "$@"\n`,
    { mode: 0o755 },
  );
  const finished = await pull.comment("one\n", { PATH: `${bin}:${Deno.env.get("PATH")}` });
  assert.equal(pull.comments.length, 1);
  const printed = Deno.readTextFileSync(join(pull.directory, "arguments")) + finished.stdout +
    finished.stderr;
  assert.ok(!printed.includes(TOKEN), printed);
});
