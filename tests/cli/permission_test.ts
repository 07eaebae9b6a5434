/** What a run may do: by default reading, beyond that what the flags say. */
import assert from "node:assert/strict";
import { type ScriptedItem } from "../support/responses_server.ts";
import { ending, events } from "../support/reprise.ts";
import { assertError, Place, together } from "./harness.ts";
import {
  calling,
  content,
  decisions,
  edit,
  EVERYTHING,
  names,
  NEW_RUN,
  offered,
  read,
  shellArgv,
  shellLine,
  statuses,
  write,
} from "./changes.ts";

const READING = ["read_file", "list_files", "search_text"];
const WRITING = ["write_file", "edit_file"];

/** A case: with these flags, these calls end like this, and these decisions are on disk. */
function decided(
  flags: readonly string[],
  calls: readonly ScriptedItem[],
  expected: { readonly statuses: readonly string[]; readonly decisions: readonly string[] },
) {
  return async () => {
    await using place = new Place(calling(...calls));
    const called = await place.call([...NEW_RUN, ...flags, "Go"]);
    assert.equal(called.code, 0, called.stdout + called.stderr);
    assert.deepEqual(statuses(place), expected.statuses);
    assert.deepEqual(decisions(place), expected.decisions);
    const denials = expected.statuses.filter((status) => status === "denied").length;
    assert.equal(ending(called).denials, denials);
    assert.deepEqual(place.server.refusals, []);
  };
}

together("a run may only read, unless it is told otherwise", {
  "writing, editing and the shell are denied, on disk, and the model is told why": async () => {
    await using place = new Place(calling(...EVERYTHING, read("a.txt")));
    const called = await place.call([...NEW_RUN, "Go"]);
    assert.equal(called.code, 0, called.stdout);
    assert.equal(ending(called).denials, 3);
    assert.deepEqual(statuses(place), ["denied", "denied", "denied", "ok"]);
    assert.deepEqual(decisions(place), [
      "write_file: denied, not_allowed",
      "edit_file: denied, not_allowed",
      "shell: denied, not_allowed",
    ]);
    assert.deepEqual(names(place), ["a.txt"]);
    assert.equal(content(place, "a.txt"), "alpha\nbeta\n");
    assert.deepEqual(offered(place, 1), READING, "what cannot be allowed is not offered");
    const [first] = place.server.requests[1]?.input.filter(({ type }) => type === "function_call_output") ??
      [];
    assert.match(
      String(first?.output),
      /^Denied: write_file was not run, because the user has not allowed it/,
    );
    const started = events(called).flatMap((event) => event.type === "tool.started" ? [event.name] : []);
    assert.deepEqual(started, ["read_file"]);
  },
  "the decisions are durable before the first call starts": async () => {
    await using place = new Place(calling(...EVERYTHING));
    const called = await place.call([...NEW_RUN, "--allow", "write,shell", "Go"]);
    const lines = events(called).map((event) => event.type === "turn.saved" ? event.kind : event.type);
    assert.ok(lines.indexOf("harness") < lines.indexOf("tool.started"), lines.join(" "));
    assert.deepEqual(place.sandbox.turns("s").map(({ kind }) => kind), [
      ...["user", "model", "harness", "tools", "model", "harness"],
    ]);
  },
  "--fail-on-denied ends with 3 after the first batch with a denial, and the run can be continued":
    async () => {
      await using place = new Place(calling(shellLine("touch touched"), read("a.txt")));
      const called = await place.call([...NEW_RUN, "--fail-on-denied", "Go"]);
      assertError(called, { code: "permission_denied", exit: 3, says: /denied/, hint: /--allow/ });
      assert.equal(ending(called).state, "failed");
      assert.equal(ending(called).denials, 1);
      assert.deepEqual(statuses(place), ["denied", "ok"], "every call of the batch has its result");
      assert.equal(place.server.requests.length, 1, "no further request is paid");
      const next = await place.call(["run", "--json", "-s", "s"]);
      assert.equal(next.code, 0, next.stdout);
      assert.deepEqual(place.server.refusals, []);
    },
  "--fail-on-denied is nothing where nothing is denied": async () => {
    await using place = new Place(calling(read("a.txt")));
    assert.equal((await place.call([...NEW_RUN, "--fail-on-denied", "Go"])).code, 0);
  },
});

together("--allow and --deny take groups, tools and patterns, and deny wins", {
  "a group": decided(["--allow", "write"], EVERYTHING, {
    statuses: ["ok", "ok", "denied"],
    decisions: [
      "write_file: allowed, allowed_by_rule (write)",
      "edit_file: allowed, allowed_by_rule (write)",
      "shell: denied, not_allowed",
    ],
  }),
  "a tool": decided(["--allow", "edit_file"], EVERYTHING, {
    statuses: ["denied", "ok", "denied"],
    decisions: [
      "write_file: denied, not_allowed",
      "edit_file: allowed, allowed_by_rule (edit_file)",
      "shell: denied, not_allowed",
    ],
  }),
  "a list with commas": decided(["--allow", "write,shell"], EVERYTHING, {
    statuses: ["ok", "ok", "ok"],
    decisions: [
      "write_file: allowed, allowed_by_rule (write)",
      "edit_file: allowed, allowed_by_rule (write)",
      "shell: allowed, allowed_by_rule (shell)",
    ],
  }),
  "repeated, with a pattern of paths": decided(["--allow", "write:src/**", "--allow", "shell:true"], [
    write("src/deep/new.txt", "x"),
    write("new.txt", "x"),
    shellArgv("true"),
    shellArgv("true", "x"),
  ], {
    statuses: ["ok", "denied", "ok", "denied"],
    decisions: [
      "write_file: allowed, allowed_by_rule (write:src/**)",
      "write_file: denied, not_allowed",
      "shell: allowed, allowed_by_rule (shell:true)",
      "shell: denied, not_allowed",
    ],
  }),
  "a value with a colon is one pattern, whatever commas it holds": decided(
    ["--allow", "shell:echo a,write"],
    [
      shellLine("echo a,write"),
      shellLine("echo a"),
      write("new.txt", "x"),
    ],
    {
      statuses: ["ok", "denied", "denied"],
      decisions: [
        "shell: allowed, allowed_by_rule (shell:echo a,write)",
        "shell: denied, not_allowed",
        "write_file: denied, not_allowed",
      ],
    },
  ),
  "deny wins, whatever the order": decided(
    ["--deny", "edit_file", "--deny", "write:secret/**", "--allow", "write"],
    [write("new.txt", "x"), write("secret/new.txt", "x"), edit("a.txt", "alpha", "ALPHA")],
    {
      statuses: ["ok", "denied", "denied"],
      decisions: [
        "write_file: allowed, allowed_by_rule (write)",
        "write_file: denied, denied_by_rule (write:secret/**)",
        "edit_file: denied, denied_by_rule (edit_file)",
      ],
    },
  ),
  "reading is denied too, and never listed": decided(
    ["--deny", "read:a.txt"],
    [read("a.txt")],
    { statuses: ["denied"], decisions: ["read_file: denied, denied_by_rule (read:a.txt)"] },
  ),
  "a command line with operators matches no pattern, not even one of its parts": decided(
    ["--allow", "shell:echo **"],
    [
      "echo hi",
      "echo hi; touch x",
      "echo hi && touch x",
      "echo $(touch x)",
      "echo hi >x",
      "echo `touch x`",
      "echo hi\ntouch x",
    ]
      .map((line) => shellLine(line)),
    {
      statuses: ["ok", ...Array<string>(6).fill("denied")],
      decisions: [
        "shell: allowed, allowed_by_rule (shell:echo **)",
        ...Array<string>(6).fill("shell: denied, not_allowed"),
      ],
    },
  ),
  "a denied command cannot hide in a command line that only a shell understands": decided(
    ["--allow", "shell", "--deny", "shell:touch **"],
    [shellLine("touch x"), shellLine("true && touch x"), shellArgv("sh", "-c", "touch x"), shellLine("true")],
    {
      statuses: ["denied", "denied", "denied", "ok"],
      decisions: [
        "shell: denied, denied_by_rule (shell:touch **)",
        "shell: denied, unclear_command (shell:touch **)",
        "shell: denied, unclear_command (shell:touch **)",
        "shell: allowed, allowed_by_rule (shell)",
      ],
    },
  ),
});

together("a rule that cannot be used is exit 2, before anything is written", {
  "each of them": async () => {
    await using place = new Place([]);
    for (
      const [flags, says] of [
        [["--allow", "everything"], /--allow "everything".*neither a tool nor a group/],
        [["--deny", "write,Shell"], /--deny "Shell"/], // names are exact
        [["--allow", "write,,shell"], /--allow ""/],
        [["--allow", "shell:"], /its pattern is empty/],
        [["--allow", "shell:git status; rm"], /operators/],
        [["--allow", "shell:git st*"], /one whole argument/],
        [["--allow", "write:/etc/**"], /relative to the workspace/],
        [["--allow", "write:../**"], /relative to the workspace/],
      ] as const
    ) {
      const called = await place.call([...NEW_RUN, ...flags, "Go"]);
      assertError(called, { code: "usage", exit: 2, says, hint: /Names: .*shell:git status/ });
    }
    assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
    assert.equal(place.server.requests.length, 0);
  },
});

together("the model is offered what may be allowed, and input shows the same", {
  "each posture": async () => {
    await using place = new Place(calling());
    const postures: readonly (readonly [readonly string[], readonly string[]])[] = [
      [[], READING],
      [["--allow", "write"], [...READING, ...WRITING]],
      [["--allow", "write", "--deny", "edit_file"], [...READING, "write_file"]],
      [["--allow", "write:src/**"], [...READING, ...WRITING]],
      [["--allow", "shell:git status"], [...READING, "shell"]],
      [["--ask"], [...READING, ...WRITING, "shell"]],
      [["--ask", "--deny", "shell"], [...READING, ...WRITING]],
      [["--deny", "read"], []],
    ];
    for (const [index, [flags, tools]] of postures.entries()) {
      const id = `s${index}`;
      await place.call(["run", "--json", "--new", "-s", id, ...flags, "Go"]);
      assert.deepEqual(offered(place, place.server.requests.length), tools, flags.join(" "));
      const next = await place.call(["input", id, "--prompt", "And now?", ...flags]);
      assert.equal(next.code, 0, next.stderr);
      const ran = await place.call(["run", "--json", "-s", id, ...flags, "And now?"]);
      assert.ok(ran.stdout.includes('"run.started"'), ran.stdout);
      assert.equal(next.stdout, `${place.server.requests.at(-1)?.text}\n`, "byte for byte");
    }
  },
});
