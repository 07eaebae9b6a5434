/** The plugin for pytest in real projects: places of recordings, requests without a test, faults, and ways to other machines. */
import assert from "node:assert/strict";
import { lacksPython, needing } from "../support/needs.ts";
import { BLOCKS, HelperProject, README_BLOCKS } from "./helper_project.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";

const LACKS = await lacksPython("httpx", "pytest", "requests", "urllib3", "xdist");
const XDIST = "pytest -p xdist.plugin -n 2";

/** Defines a test in a project with these files and a `pytest.ini`. */
function test(
  promise: string,
  files: Readonly<Record<string, string>>,
  run: (project: HelperProject) => Promise<void>,
): void {
  Deno.test({
    ...needing(`pytest: ${promise}`, LACKS_AGENTS, LACKS),
    async fn() {
      await using project = new HelperProject();
      await project.prepare([], ["conftest.py"], { "pytest.ini": "[pytest]\n", ...files });
      await run(project);
    },
  });
}

const README = Deno.readTextFileSync(new URL("../../README.md", import.meta.url));

test("the tests of README.md and of docs/recording.md about faults run as printed", {}, async (project) => {
  for (const file of ["test_capital.py", "tests/test_errors.py"]) {
    const block = [...README_BLOCKS, ...BLOCKS].find(({ path }) => path === file);
    project.write(file, block?.text ?? "");
  }
  const [, line = ""] = /name it there: `(.*?)`/.exec(README) ?? [];
  project.write("conftest.py", `${line}\n`);
  project.write("pytest_reprise.py", Deno.readTextFileSync(`${project.root}/python/pytest_reprise.py`));
  Deno.removeSync(`${project.root}/pytest.ini`);
  for (const mode of ["new", "", "missing"]) {
    const output = await project.passes("pytest", { REPRISE_RECORD: mode, PYTHONPATH: "" });
    assert.match(output, /^5 passed/m);
    assert.equal(project.apis.requests.length, 5);
  }
});

const ASK = `import os, httpx, pytest
URL = "https://api.openai.com/v1/responses"
def ask(input, url=None):
    url = url or os.environ["OPENAI_BASE_URL"] + "/responses"
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    return httpx.post(url, headers=headers, json={"model": "gpt-5.6", "input": input})
`;

test(
  "a folder begins at the root directory, whatever the working directory, and old recordings move there once",
  {
    "pkg/tests/test_place.py":
      `${ASK}pytestmark = pytest.mark.reprise("fixtures/place")\ndef test_a(): assert ask(os.environ.get("PROMPT", "a")).status_code == 200\n`,
  },
  async (project) => {
    await project.passes("REPRISE_RECORD=new pytest");
    const names = Object.keys(project.recordings("fixtures/place"));
    assert.equal(names.length, 1);
    await project.goOffline();
    for (const place of ["pkg", "pkg/tests", "fixtures"]) {
      await project.passes(`cd ${place} && pytest ${project.root}/pkg`);
    }
    const changed = await project.runs("cd pkg && PROMPT=b pytest");
    assert.equal(changed.code, 1);
    assert(changed.output.includes(`recording "${project.root}/fixtures/place/${names[0]}"`), changed.output);
    // An earlier version began at the working directory: the file of the test is then elsewhere, seen from the folder.
    const [name = ""] = names;
    const old = `${project.root}/pkg/fixtures/place`;
    Deno.mkdirSync(old, { recursive: true });
    const before = await project.runs(`python3 -c "
import hashlib; print(hashlib.sha256(b'../../tests/test_place.py > test_a').hexdigest()[:8])"`);
    Deno.renameSync(`${project.root}/fixtures/place/${name}`, `${old}/test-a-${before.output.trim()}`);
    assert.match(
      await project.passes("pytest"),
      /^moved \S*\/pkg\/fixtures\/place\/test-a-\w+ to \S*\/fixtures\/place\/test-a-/m,
    );
    assert.deepEqual(Object.keys(project.recordings("fixtures/place")), names);
    assert.doesNotMatch(await project.passes("cd pkg && pytest"), /moved/);
    // The recording that is now at the root of the repository belongs to the package, once that has a configuration.
    project.write("pkg/pytest.ini", "[pytest]\n");
    project.write("pkg/conftest.py", 'pytest_plugins = ["pytest_reprise"]\n');
    Deno.mkdirSync(`${project.root}/.git`);
    assert.match(
      await project.passes("pytest pkg"),
      /^moved \S*\/fixtures\/place\/test-a-\w+ to \S*\/pkg\/fixtures\/place\/test-a-/m,
    );
    Deno.mkdirSync(`${project.root}/pkg/.git`);
    const [own = ""] = Object.keys(project.recordings("pkg/fixtures/place"));
    Deno.renameSync(`${old}/${own}`, `${project.root}/fixtures/place/${name}`);
    const elsewhere = await project.runs("pytest pkg");
    assert.equal(elsewhere.code, 1, "a recording of another repository was used");
  },
);

const STRAYS = `${ASK}
def quiet():
    try: ask("x", URL)
    except httpx.HTTPError: pass
if os.environ.get("WHERE") == "import": quiet()
@pytest.fixture
def around():
    yield
    if os.environ.get("WHERE") == "fixture": quiet()
def test_marked_not(around):
    if os.environ.get("WHERE") == "test": quiet()
@pytest.mark.reprise("fixtures/strays", allow_unused=True)
def test_marked(around): pass
`;

test("a request outside of every recording fails the run, and is named with its place", {
  "tests/test_strays.py": STRAYS,
}, async (project) => {
  for (const command of ["pytest", XDIST]) {
    await project.passes(command);
    for (
      const [where, says] of [
        ["test", /^FAILED tests\/test_strays\.py::test_marked_not/m],
        ["fixture", /^ERROR tests\/test_strays\.py::test_marked\b/m],
        ["import", /POST \/v1\/responses at the import of tests\/test_strays\.py/],
      ] as const
    ) {
      const { code, output } = await project.runs(command, { WHERE: where });
      assert.equal(code, 1, output);
      assert.match(output, says);
      assert.match(output, /1 request was|2 requests were/);
      assert.match(output, /@pytest\.mark\.reprise\("/);
    }
  }
  assert.equal(project.apis.requests.length, 0);
});

const FAULTS = `${ASK}
mark = pytest.mark.reprise
@mark("fixtures/faults", faults=["*: 529"])
def test_permanent(): assert [ask("a").status_code for _ in range(3)] == [529] * 3
@mark("fixtures/faults", faults="429 retry-after 3")
def test_retried():
    first, second = ask("b"), ask("b")
    assert (first.status_code, first.headers["retry-after"], second.status_code) == (429, "3", 200)
@mark("fixtures/faults", serve=["--fault", "2: 400"])
def test_flag_of_serve(): assert (ask("c").status_code, ask("d").status_code) == (200, 400)
`;

test("a test with faults is green in every mode, with one request to the API for each recorded exchange", {
  "tests/test_faults.py": FAULTS,
}, async (project) => {
  let sent = 0;
  for (
    const [mode, requests] of [["new", 4], ["", 0], ["missing", 0], ["all", 4], ["new", 0], [
      "prune",
      0,
    ]] as const
  ) {
    await project.passes("pytest", { REPRISE_RECORD: mode });
    assert.equal(project.apis.requests.length, sent += requests, mode);
    assert.deepEqual(Object.values(project.recordings("fixtures/faults")), [2, 1, 1]);
  }
  project.edit("tests/test_faults.py", "range(3)", "range(0)");
  project.edit("tests/test_faults.py", "[529] * 3", "[]");
  const { code, output } = await project.runs("pytest");
  assert.equal(code, 1);
  assert.match(output, /did not use exchange 1 of .*REPRISE_RECORD=all/);
});

/** Clients with the base URL in code; each sends a prompt of its own. */
const CLIENTS = `${ASK}
import asyncio, json, urllib.request, requests, urllib3
HEADERS = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
def body(input): return json.dumps({"model": "gpt-5.6", "input": input}).encode()
pytestmark = pytest.mark.reprise("fixtures/code")
early = httpx.Client()

def test_httpx():
    answer = ask("httpx", URL)
    assert (answer.status_code, str(answer.url)) == (200, URL)
def test_early():
    assert early.post(URL + "?x=1", headers=HEADERS, content=body("early")).status_code == 200
def test_async():
    async def both():
        async with httpx.AsyncClient() as client:
            return await asyncio.gather(*(client.post(URL, headers=HEADERS, content=body(str(n))) for n in range(2)))
    assert [answer.status_code for answer in asyncio.run(both())] == [200, 200]
def test_proxy():
    with httpx.Client(proxies="http://127.0.0.1:9") as client:
        assert client.post(URL, headers=HEADERS, content=body("proxy")).status_code == 200
def test_requests():
    assert requests.post(URL, headers=HEADERS, data=body("requests")).status_code == 200
def test_urllib3():
    assert urllib3.PoolManager().request("POST", URL, headers=HEADERS, body=body("urllib3")).status == 200
def test_urllib():
    request = urllib.request.Request(URL, body("urllib"), HEADERS)
    assert urllib.request.urlopen(request).status == 200 and request.full_url == URL
@pytest.mark.reprise("fixtures/code", allow_unused=True)
def test_elsewhere():
    import http.client
    if os.environ.get("REPRISE_REPLAY") == "1":
        with pytest.raises(ConnectionRefusedError, match="api.openai.com.*OPENAI_BASE_URL"):
            http.client.HTTPSConnection("api.openai.com").connect()
`;

test(
  "requests of clients with a base URL in code are recorded and played, and none reaches the API in a replay",
  {
    "tests/test_code.py": CLIENTS,
  },
  async (project) => {
    await project.passes("pytest", { REPRISE_RECORD: "new" });
    assert.deepEqual(project.apis.requests, Array(8).fill("POST /v1/responses"));
    await project.goOffline();
    await project.passes("pytest", { OPENAI_API_KEY: "none" });
    await project.passes(XDIST, { OPENAI_API_KEY: "none" });
  },
);

const NETWORK = `import asyncio, os, socket, httpx, pytest
mark = pytest.mark.reprise
def refused(host):
    return pytest.raises((OSError, httpx.ConnectError), match=f'"{host}": block_network')

@mark("fixtures/net", block_network=True, allow_unused=True)
def test_refused():
    with refused("blocked.example"): httpx.get("http://blocked.example")
    with refused("192.0.2.1"): socket.create_connection(("192.0.2.1", 80), 1)
    with refused("blocked.example"): socket.socket().connect(("blocked.example", 80))
    async def ask():
        async with httpx.AsyncClient() as client: await client.get("http://blocked.example")
    with refused("blocked.example"): asyncio.run(ask())
    with socket.create_server(("127.0.0.1", 0)) as server: socket.create_connection(server.getsockname()).close()

@mark("fixtures/net", block_network=True, allow_network=["192.0.2.1"], allow_unused=True)
def test_allowed():
    with socket.socket() as client:
        client.setblocking(False)
        assert client.connect_ex(("192.0.2.1", 9)) != 0
    with refused("192.0.2.2"): socket.create_connection(("192.0.2.2", 80), 1)

def test_setting():
    if os.environ["BLOCKS"] == "1":
        with refused("192.0.2.1"): socket.create_connection(("192.0.2.1", 80), 1)
    else:
        with pytest.raises(OSError) as error: socket.create_connection(("192.0.2.1", 80), 0.01)
        assert "block_network" not in str(error.value)
`;

test("block_network refuses connections by the name of their host, but for loopback and allow_network", {
  "tests/test_net.py": NETWORK,
}, async (project) => {
  await project.passes("pytest", { BLOCKS: "0" });
  project.write("pytest.ini", "[pytest]\nreprise_block_network = true\n");
  await project.passes("pytest", { BLOCKS: "1" });
  project.write("pytest.ini", "[pytest]\nreprise_block_network = true\nreprise_allow_network = 192.0.2.1\n");
  await project.passes("pytest -k setting", { BLOCKS: "0" });
});

test("wrong options, a missing key and a miss are explained before the failure itself", {
  "tests/test_wrong.py": `${ASK}mark = pytest.mark.reprise
@mark("fixtures/wrong", allowUnused=True)
def test_option(): pass
@mark("fixtures/wrong")
def test_key(): ask("Hi").raise_for_status()
`,
}, async (project) => {
  const { code, output } = await project.runs("pytest", { REPRISE_RECORD: "new", OPENAI_API_KEY: "" });
  assert.equal(code, 1, output);
  assert.match(output, /no option "allowUnused"\nhint: write allow_unused/);
  assert.doesNotMatch(output, /TypeError|keep-errors/);
  const failure = /^_+ test_key _+\n([^]*?)Error: /m.exec(output)?.[1] ?? "";
  assert.match(
    failure,
    /^The test "test_key" does not match .*\n- turned away with 401: OPENAI_API_KEY is not set/,
  );
  assert.equal(project.apis.requests.length, 0, "a dummy key was sent");
});

test("a process that a test leaves behind does not keep the run from its end", {
  "tests/test_left.py": `import os, time, pytest
@pytest.mark.reprise("fixtures/left", allow_unused=True)
def test_left():
    runner = os.getpid()
    if os.fork() == 0:
        while os.getppid() == runner: time.sleep(0.1)
        os._exit(0)
`,
}, async (project) => {
  assert.match(await project.passes("pytest"), /^1 passed/m);
  await project.ends();
});

test("a place of recordings that is a file, or no path, is an error of the test in every mode", {
  "file": "mine",
  "test_file.py": `${ASK}@pytest.mark.reprise("file")\ndef test_a(): ask("a")\n`,
  "test_number.py": `${ASK}@pytest.mark.reprise(3)\ndef test_a(): ask("a")\n`,
  "file.test.mjs": `import { withReplay } from "@reprise-cli/reprise/node";
import test from "node:test";
test("asks", withReplay("file", async (t, api) => { await fetch(api.openai); }));
`,
}, async (project) => {
  for (const mode of ["", "new", "missing", "all", "prune"]) {
    const env = { REPRISE_RECORD: mode };
    for (const command of ["pytest", "node --test file.test.mjs"]) {
      const { code, output } = await project.runs(command, env);
      assert.equal(code, 1, output);
      assert.match(output, /Cannot keep recordings in [^]*file"?: it is a file/);
      assert.doesNotMatch(output, /INTERNALERROR/);
      if (command === "pytest") assert.match(output, /Mark the test with the folder of its recordings/);
    }
  }
  assert.equal(project.apis.requests.length, 0);
});
