"""Plays the recordings of tests with pytest, or records them. docs/recording.md shows how to use it.

One file, so that a project can copy it; for Python 3.9 and pytest 7 or later. It needs the program reprise: in
REPRISE_BINARY_PATH, or in PATH. PYTEST_DONT_REWRITE: conftest.py may import this module before pytest does.
"""

import atexit
import copy
import difflib
import hashlib
import importlib.abc
import ipaddress
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

RECORDING_MODES = ("new", "missing", "all")
MAX_NAME = 80
ID_DIGITS = 8
#: End of the names that these helpers give to recordings.
RECORDING = re.compile(f"-[0-9a-f]{{{ID_DIGITS}}}$")
#: Property of a test report with a note for the end of the session.
NOTE = "reprise"
#: Property with the numbers of exchanges that a test played and recorded.
COUNTS = "reprise counts"
#: Options of the marker beside its folder, with their defaults.
OPTIONS = {
    "allow_unused": False,
    "faults": (),
    "upstreams": {},
    "serve": (),
    "record": (),
    "id": None,
    "block_network": None,
    "allow_network": (),
}
#: Seconds that all servers have to end by themselves.
END_SECONDS = 5
MARK = '@pytest.mark.reprise("fixtures/chat")'


class ReplayError(Exception):
    """Error of a test whose requests differ from its recording, or could not be recorded."""


class NetworkBlocked(ConnectionRefusedError):
    """Error of a connection that no test may open."""


class Api:
    """APIs for one test, played from its recording or recorded."""

    def __init__(self, variables, recording, records):
        self._variables = variables
        #: Environment of the test: that of the process, the base URLs, and dummy keys where no real one is needed.
        self.env = {**os.environ, **variables}
        #: Path of the folder with the recording.
        self.recording = recording
        #: True if requests without a recording are sent to the API.
        self.records = records

    @property
    def openai(self):
        """Base URL for clients of OpenAI."""
        return self.url("OPENAI_BASE_URL")

    @property
    def anthropic(self):
        """Base URL for clients of Anthropic."""
        return self.url("ANTHROPIC_BASE_URL")

    def url(self, variable):
        """Base URL of any API, by the variable that leads clients there, such as GROQ_BASE_URL."""
        if variable in self._variables:
            return self._variables[variable]
        known = ", ".join(name for name, value in self._variables.items() if _is_url(value))
        raise ReplayError(
            f"No base URL is known for {variable}, only for {known}\n"
            f'hint: record with {variable} set, or name the API in "upstreams"'
        )


class _Server:
    """Running `reprise serve --suite` or `record --suite`. It ends when its stdin is closed, and so with this process."""

    def __init__(self, args):
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [_binary(), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        ready = self._read()
        self.variables = ready["environment"]
        self.variables.pop("REPRISE_REPRESENTS", None)
        #: Base URLs of known APIs with the variables that lead clients there: of the gateway.
        self.upstreams = [(each["variable"], each["url"]) for each in ready.get("upstreams", ())]

    def ask(self, request):
        """Begins or ends a test. Returns the answer: of a test that ends its report."""
        with self._lock:
            try:
                self._process.stdin.write(json.dumps(request) + "\n")
                self._process.stdin.flush()
            except OSError:
                pass  # It has ended: reading reports that.
            return self._read()

    def begin_end(self):
        """Asks the server to end."""
        try:
            self._process.stdin.close()
        except OSError:
            pass  # It has ended.

    def close(self, deadline):
        """Waits until the server has ended, and its recordings are complete. After the deadline, a signal ends it."""
        if self._owner != os.getpid():
            return  # A forked process of a test must not end the server of its parent.
        try:
            self._process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.terminate()  # A process that a test left behind holds stdin open.
        self._process.wait()
        self._process.stdout.close()

    def _read(self):
        line = self._process.stdout.readline()
        if line == "":
            raise ReplayError(f"reprise ended with exit code {self._process.wait()}")
        event = json.loads(line)
        if event["type"] == "error":
            hint = f"\nhint: {event['hint']}" if "hint" in event else ""
            raise ReplayError(event["message"] + hint)
        return event


_servers = {}
#: Names of the recordings of all collected tests, by folder.
_recordings = {}
#: Requests outside of tests.
_outside = []


def _server(args):
    if args not in _servers:
        _servers[args] = _Server(args)
    return _servers[args]


def _gateway():
    return _server(("serve", "--suite", "--json"))


@atexit.register
def _close_servers():
    for server in _servers.values():
        server.begin_end()
    deadline = time.monotonic() + END_SECONDS
    while _servers:
        _servers.popitem()[1].close(deadline)


def pytest_addoption(parser):
    parser.addini("reprise_block_network", "refuse connections to other machines in all tests", "bool", False)
    parser.addini("reprise_allow_network", "hosts that tests may connect to all the same", "args", [])


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "reprise(folder, *, allow_unused=False, faults=[], upstreams={}, serve=[], record=[], id=None, "
        "block_network=False, allow_network=[]): play the recording of the test in the folder, or record it",
    )
    _network.configure(config)


def pytest_itemcollected(item):
    """Gives marked tests the fixture, so that the base URLs are in their environment. Notes their recordings."""
    names = getattr(item, "fixturenames", None)
    if names is None or item.get_closest_marker("reprise") is None:
        return
    if "reprise" not in names:
        names.insert(0, "reprise")
    try:
        folder, options = _options_of(item)
    except ReplayError:
        return  # The test reports it.
    place = _place_of(item, folder, options["id"])
    _recordings.setdefault(str(place.parent), set()).add(place.name)


def pytest_collectreport(report):
    _outside.extend(f"{request} at the import of {report.nodeid}" for request in _strays())


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Fails a session with requests outside of tests.

    A worker of xdist passes its requests and recordings on: each collects all tests, and the main process none.
    """
    if _servers:
        _outside.extend(f"{request} after the last test" for request in _strays())
    if hasattr(session.config, "workerinput"):
        recordings = {folder: list(names) for folder, names in _recordings.items()}
        session.config.workeroutput["reprise"] = [recordings, _outside]
    elif _outside and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    recordings, outside = getattr(node, "workeroutput", {}).get("reprise", [{}, []])
    _outside.extend(outside)
    for folder, names in recordings.items():
        _recordings.setdefault(folder, set()).update(names)


def pytest_unconfigure():
    _close_servers()


@pytest.fixture
def reprise(request, monkeypatch):
    """APIs of this test. Its environment leads clients to them as well."""
    problem = None
    try:
        run = _Run(request.node)
    except ReplayError as error:
        problem = str(error)
    if problem is not None:
        pytest.fail(problem, False)
    request.node._reprise = _network.run = run
    for name, value in run.api.env.items():
        if os.environ.get(name) != value:
            monkeypatch.setenv(name, value)
    yield run.api
    run.end(passed=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Ends a test after its call. A test that does not match its recording fails with the report of reprise."""
    outcome = yield
    report = outcome.get_result()
    run = getattr(item, "_reprise", None)
    try:
        if run is not None and call.when == "call":
            message = run.end(passed=report.passed)
            # xdist passes properties on to the process that prints.
            report.user_properties += [(NOTE, note) for note in run.notes]
            report.user_properties.append((COUNTS, run.counts))
        else:
            message = _stray_message(item, call.when, _strays())
    except ReplayError as error:
        message = str(error)
    if message is None:
        return
    if report.passed:
        report.outcome = "failed"
        report.longrepr = message
    elif report.failed:
        report.longrepr = _Explained(message, report.longrepr)
    else:
        report.sections.append(("reprise", message))


class _Explained:
    """Failure of a test after the message that explains it, as pytest prints it."""

    def __init__(self, message, failure):
        self._message, self._failure = message, failure

    def __str__(self):
        return f"{self._message}\n\n{self._failure}"

    def __getattr__(self, name):
        if name == "reprcrash":
            return self._failure.reprcrash
        raise AttributeError(name)

    def toterminal(self, out):
        out.line(self._message, red=True)
        out.line()
        if hasattr(self._failure, "toterminal"):
            self._failure.toterminal(out)
        else:
            out.line(str(self._failure))


def _strays():
    """Returns the requests that came while no test with a recording ran, since the last call."""
    return _gateway().ask({"type": "strays"})["requests"]


def _stray_message(item, when, requests):
    if not requests:
        return None
    advice = f"Mark the test with the folder of its recordings: {MARK}"
    if item.get_closest_marker("reprise") is not None:
        advice = "What fixtures send before or after the test is in no recording: send it in the test"
    return f"{_listed(requests)} in the {when} of {item.nodeid}, outside of every recording. {advice}"


def _listed(requests):
    count = "1 request was" if len(requests) == 1 else f"{len(requests)} requests were"
    return f"{count} answered with status 400 ({', '.join(sorted(set(requests)))})"


def pytest_terminal_summary(terminalreporter, config):
    if hasattr(config, "workerinput"):
        return  # The main process reports for all workers.
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    called = [report for report in reports if getattr(report, "when", None) == "call"]
    properties = [pair for report in called for pair in report.user_properties]
    for name, note in properties:
        if name == NOTE:
            terminalreporter.write_line(note)
    counts = [value for name, value in properties if name == COUNTS]
    if counts:
        played, recorded = map(sum, zip(*counts))
        terminalreporter.write_line(f"reprise: {played} played, {recorded} recorded")
    if _outside:
        terminalreporter.section("requests outside of tests", red=True)
        terminalreporter.write_line(
            f"{_listed(_outside)}, outside of every recording. Send requests in a test with a marker: {MARK}"
        )
    if "error" in terminalreporter.stats or not _is_whole(config):
        return
    for folder, names in _recordings.items():
        for note in _without_test(Path(folder), names):
            terminalreporter.write_line(note)


def _is_whole(config):
    """True for a session with all tests. Those that options deselect are collected as well."""
    source = getattr(getattr(config, "args_source", None), "name", "ARGS")
    # The name of the other source is misspelt in pytest 7.2.
    is_above = source.endswith("_DIR") and config.invocation_params.dir == config.rootpath
    options = ("ignore", "ignore_glob", "lf", "collectonly")
    return (source == "TESTPATHS" or is_above) and not any(config.getoption(name, None) for name in options)


def _without_test(folder, names):
    """Reports the recordings in a folder that belong to no test, or removes them. Returns lines for people."""
    found = sorted(path.parent for path in folder.glob("*/fixture.json"))
    old = [path for path in found if RECORDING.search(path.name) and path.name not in names]
    if os.environ.get("REPRISE_RECORD") == "prune":
        for path in old:
            shutil.rmtree(path)
        return [f"removed {path}: it belongs to no test" for path in old]
    text = "1 recording in {} belongs to no test: REPRISE_RECORD=prune removes it"
    if len(old) > 1:
        text = f"{len(old)} recordings in {{}} belong to no test: REPRISE_RECORD=prune removes them"
    return [text.format(folder)] if old else []


def _options_of(item):
    """Returns the folder and the options of a test's marker."""
    marker = item.get_closest_marker("reprise")
    if marker is None or len(marker.args) != 1 or not isinstance(marker.args[0], (str, os.PathLike)):
        raise ReplayError(f"Mark the test with the folder of its recordings: {MARK}")
    for name in marker.kwargs:
        if name not in OPTIONS:
            snake = re.sub("(?<=[a-z])[A-Z]", lambda letter: f"_{letter[0]}", name).lower()
            near = difflib.get_close_matches(snake, OPTIONS, 1) or [", ".join(OPTIONS)]
            raise ReplayError(f'The marker reprise has no option "{name}"\nhint: write {near[0]}')
    options = {**OPTIONS, **marker.kwargs}
    for name in ("faults", "serve", "record", "allow_network"):
        if isinstance(options[name], str):
            options[name] = [options[name]]
    return Path(marker.args[0]), options


def _place_of(item, folder, id):
    """Path of the recording of a test. A relative folder begins at the root directory of pytest."""
    place = _place_in(item, item.config.rootpath / folder, id)
    if item.config.inipath is not None or folder.is_absolute() or _is_recorded(place):
        return place
    # Without a configuration file, pytest begins at the working directory.
    return next((found for found in _places_above(item, folder, id) if _is_recorded(found)), place)


def _places_above(item, folder, id):
    """Yields the places of a recording above the root directory of pytest, within the repository."""
    root = item.config.rootpath
    for below, above in zip((root, *root.parents), root.parents):
        if (below / ".git").exists():
            return
        yield _place_in(item, above / folder, id)


def _place_in(item, folder, id):
    file = os.path.relpath(item.path, folder.resolve()).replace(os.sep, "/")
    return folder / recording_name(item.name, id or " > ".join([file, *item.nodeid.split("::")[1:]]))


def _is_recorded(place):
    return (place / "fixture.json").exists()


def _move_old(item, folder, id, place):
    """Moves a recording of a version that began at the working directory. Returns notes for people."""
    root = item.config.rootpath
    if folder.is_absolute() or _is_recorded(place) or root not in item.path.parents:
        return []
    if id is not None:
        return []  # Another test may have the same id elsewhere.
    below = [_place_in(item, each / folder, id) for each in item.path.parents if root in each.parents]
    found = [old for old in (*below, *_places_above(item, folder, id)) if _is_recorded(old)]
    if len(found) != 1:
        return []
    place.parent.mkdir(parents=True, exist_ok=True)
    found[0].rename(place)
    return [f"moved {found[0]} to {place}: a folder begins at the root directory of pytest"]


class _Run:
    """Test that runs."""

    def __init__(self, item):
        folder, self.options = _options_of(item)
        self.allow_unused = self.options["allow_unused"]
        self._test = item.name
        place = _place_of(item, folder, self.options["id"])
        if any(path.is_file() for path in place.parents):
            raise ReplayError(f"Cannot keep recordings in {place.parent}: it is a file, or below one\nhint: {MARK}")
        try:
            self._moved = _move_old(item, folder, self.options["id"], place)
        except OSError as error:
            raise ReplayError(f"Cannot move the recording to {place}: {error}") from None
        self._folder, self._name = place.parent, place.name
        self._is_ended, self.notes = False, []
        args = self._plan()
        self._server = _server(args)
        self.variables = {name: _with_test(value, self._name) for name, value in self._server.variables.items()}
        self.api = Api(self.variables, place, args[0] == "record")
        _gateway().ask({"type": "begin", "test": self._name, "environment": self.variables})

    def _plan(self):
        """Returns the arguments of the server."""
        serve, record = self.options["serve"], self.options["record"]
        faults = [part for line in self.options["faults"] for part in ("--fault", line)]
        mode = os.environ.get("REPRISE_RECORD", "")
        if mode not in RECORDING_MODES or (mode == "new" and _is_recorded(self._folder / self._name)):
            return ("serve", str(self._folder), "--suite", "--json", "--quiet", *serve, *faults)
        named = [part for name, url in self.options["upstreams"].items() for part in ("--env", f"{name}={url}")]
        flags = (*named, *_faults_in(serve), *faults, *record)
        kept = ("--mode", "all" if mode == "all" else "missing", "--out", str(self._folder))
        return ("record", *kept, "--suite", "--json", *flags)

    def end(self, passed):
        """Ends the test once. Returns a message if it does not match its recording."""
        if self._is_ended:
            return None
        self._is_ended = True
        # What the fixtures of the test send from now on belongs to no recording.
        _network.run = None
        for name, value in _gateway().variables.items():
            if name in self.variables and os.environ.get(name) == self.variables[name]:
                os.environ[name] = value
        prune = os.environ.get("REPRISE_RECORD") == "prune"
        # A test that failed may have stopped before its last request.
        allow_unused = self.allow_unused or not passed
        request = {"type": "end", "test": self._name, "allow_unused": allow_unused, "prune": prune}
        stray = _gateway().ask(request)
        report = self._server.ask({**request, "passed": passed and stray["exit_code"] == 0})
        report["exit_code"] = report["exit_code"] or stray["exit_code"]
        report["messages"] = stray["messages"] + report["messages"]
        self.notes = [*self._moved, *report["notes"]]
        self.counts = report["served"], report["recorded"]
        if report["exit_code"] == 0:
            return None
        reasons = "\n".join(f"- {message}" for message in report["messages"])
        return f'The test "{self._test}" does not match its recording "{self._folder / self._name}":\n{reasons}'


def _faults_in(flags):
    """Returns the faults among the flags of serve: a recorded test meets them as well."""
    flags = list(flags)
    found = []
    for index, flag in enumerate(flags):
        if flag == "--fault":
            found += flags[index : index + 2]
        elif flag.startswith("--fault="):
            found.append(flag)
    return found


def recording_name(test, id):
    """Name of a test's recording: its name in lower case with hyphens, and 8 hexadecimal digits of its id."""
    digits = hashlib.sha256(id.encode()).hexdigest()[:ID_DIGITS]
    slug = re.sub("[^a-z0-9]+", "-", test.lower()).lstrip("-")[: MAX_NAME - ID_DIGITS - 1].rstrip("-")
    return f"{slug or 'test'}-{digits}"


def _binary():
    configured = os.environ.get("REPRISE_BINARY_PATH", "")
    found = configured or shutil.which("reprise")
    if found is None:
        raise ReplayError("Cannot find the program reprise: install it, or name it in REPRISE_BINARY_PATH")
    return found


def _is_url(value):
    return re.match("https?://", value) is not None


def _with_test(value, name):
    """Puts the name of a test into a base URL; other values stay."""
    if not _is_url(value):
        return value
    url = urlsplit(value)
    return f"{url.scheme}://{url.netloc}/t/{name}{url.path.rstrip('/')}"


class _Network:
    """Ways of this process to other machines.

    Requests to a known API go to the server of the test that runs, also those of clients with a base URL in code. In a
    replay, no connection to such an API is opened. `block_network` refuses those to any other machine as well.
    """

    def __init__(self):
        self.run = None
        self._upstreams, self._servers, self._hosts, self._names = [], {}, {}, {}
        self._is_blocked, self._allowed = False, ()

    def begin(self, gateway):
        """Begins to lead requests: to the server of the test that runs, else to the gateway, which refuses them."""
        self._upstreams = [(variable, urlsplit(url)) for variable, url in gateway.upstreams]
        self._servers = gateway.variables
        if "REPRISE_REPLAY" in gateway.variables:
            self._hosts = {url.hostname: variable for variable, url in reversed(self._upstreams)}
        sys.meta_path.insert(0, _Patcher())
        for name, patch in PATCHES.items():
            if name in sys.modules:
                patch(sys.modules[name])
        for name in ("connect", "connect_ex"):
            _wrap(socket.socket, name, self._connecting)
        _wrap(socket, "getaddrinfo", self._resolving)

    def configure(self, config):
        self._is_blocked = config.getini("reprise_block_network")
        self._allowed = config.getini("reprise_allow_network")

    def led(self, url):
        """Returns the URL to which a request is sent instead; None for one that is no known API's."""
        asked, tests, own = urlsplit(url), {}, ()
        if self.run is not None:
            tests, own = self.run.variables, self.run.options["upstreams"].items()
        known = [*self._upstreams, *((variable, urlsplit(base)) for variable, base in own)]
        servers = {**self._servers, **tests}
        there = [each for each in known if _origin(each[1]) == _origin(asked) and each[0] in servers]
        if not there:
            return None

        def rank(each):
            variable, base = each
            return variable in tests, _rest(asked.path, base.path) is not None, len(base.path)

        variable, base = max(there, key=rank)
        server, rest = urlsplit(servers[variable]), _rest(asked.path, base.path)
        if rest is None:
            # The server refuses what is not below the path of its API.
            path = re.match("(?:/t/[^/]+)?", server.path)[0] + asked.path
        else:
            path = server.path.rstrip("/") + rest
        return asked._replace(scheme=server.scheme, netloc=server.netloc, path=path, fragment="").geturl()

    def _resolving(self, original, host, *args, **kwargs):
        name = host.decode() if isinstance(host, bytes) else host
        self._require(name)
        found = original(host, *args, **kwargs)
        for *_, address in found:
            self._names[address[0]] = name
        return found

    def _connecting(self, original, sock, address):
        if sock.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            self._require(self._names.get(address[0], address[0]))
        return original(sock, address)

    def _require(self, host):
        name = (host or "").rstrip(".").lower()
        options = OPTIONS if self.run is None else self.run.options
        allowed = (*self._allowed, *options["allow_network"])
        if name == "" or _is_loopback(name) or name in (each.lower() for each in allowed):
            return
        if name in self._hosts:
            raise NetworkBlocked(
                f'Cannot connect to "{name}": its requests are played from recordings. '
                f"Give the client the base URL in {self._hosts[name]}"
            )
        if self._is_blocked if options["block_network"] is None else options["block_network"]:
            raise NetworkBlocked(
                f'Cannot connect to "{name}": block_network refuses other machines. allow_network=["{name}"] allows it'
            )


_network = _Network()


class _Patcher(importlib.abc.MetaPathFinder):
    """Patches HTTP clients when they are imported."""

    def find_spec(self, name, path=None, target=None):
        if name not in PATCHES:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                load = spec.loader.exec_module
                spec.loader.exec_module = lambda module: (load(module), PATCHES[name](module))
                return spec
        return None


def _lead_httpcore(httpcore):
    """Leads the requests of httpx: httpcore is below its transports, and below mocks of them."""

    def handle(plain):
        def handle_request(original, pool, request):
            port = "" if request.url.port is None else f":{request.url.port}"
            url = b"%b://%b%b%b" % (request.url.scheme, request.url.host, port.encode(), request.url.target)
            led = _network.led(url.decode("latin-1"))
            if led is not None:
                to = urlsplit(led)
                request.url = httpcore.URL(led.encode("latin-1"))
                others = [(name, value) for name, value in request.headers if name.lower() != b"host"]
                request.headers = [(b"Host", to.netloc.encode()), *others]
                if type(pool) is not plain:
                    pool = pool.__dict__.setdefault("_reprise_direct", plain())  # A proxy is elsewhere.
            return original(pool, request)

        return handle_request

    for name, method in (("ConnectionPool", "handle_request"), ("AsyncConnectionPool", "handle_async_request")):
        pool = getattr(httpcore, name, None)
        _wrap(pool, method, handle(pool))


def _lead_urllib3(urllib3):
    """Leads the requests of urllib3, and so of requests."""
    pools = {}

    def urlopen(original, pool, method, url, *args, **kwargs):
        asked = urlsplit(url)
        port = "" if pool.port is None else f":{pool.port}"
        path = asked.path + (f"?{asked.query}" if asked.query else "")
        led = _network.led(f"{pool.scheme}://{pool.host}{port}{path}")
        if led is None:
            return original(pool, method, url, *args, **kwargs)
        to = urlsplit(led)
        if len(args) < 2:
            kwargs.setdefault("headers", pool.headers)
        direct = pools.setdefault(to.netloc, urllib3.HTTPConnectionPool(to.hostname, to.port, maxsize=10))
        return original(direct, method, to._replace(scheme="", netloc="").geturl(), *args, **kwargs)

    _wrap(urllib3.HTTPConnectionPool, "urlopen", urlopen)


def _lead_aiohttp(aiohttp):
    def build_url(original, session, given):
        url = original(session, given)
        led = _network.led(str(url))
        return url if led is None else type(url)(led, encoded=True)

    _wrap(aiohttp.ClientSession, "_build_url", build_url)


def _lead_urllib(request):
    def open_url(original, opener, given, *args, **kwargs):
        is_text = isinstance(given, str)
        led = _network.led(given if is_text else given.full_url)
        if led is not None and is_text:
            given = led
        elif led is not None:
            given = copy.copy(given)
            given.full_url = led
        return original(opener, given, *args, **kwargs)

    _wrap(request.OpenerDirector, "open", open_url)


#: Functions that lead the requests of HTTP clients, by module.
PATCHES = {
    "httpcore": _lead_httpcore,
    "urllib3": _lead_urllib3,
    "aiohttp": _lead_aiohttp,
    "urllib.request": _lead_urllib,
}


def _wrap(owner, name, function):
    """Replaces a function of a module or class, if it is there, by one that gets the original first."""
    original = getattr(owner, name, None)
    if original is not None:
        setattr(owner, name, lambda *args, **kwargs: function(original, *args, **kwargs))


def _rest(path, base):
    """Returns the part of a path after that of a base URL; None for a path that is not below it."""
    base = base.rstrip("/")
    return path[len(base) :] if f"{path}/".startswith(f"{base}/") else None


def _origin(url):
    return url.scheme, url.hostname, url.port or {"http": 80, "https": 443}.get(url.scheme)


def _is_loopback(host):
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


# Clients lead to the gateway before application code can create any.
try:
    os.environ.update(_gateway().variables)
    _network.begin(_gateway())
except ReplayError as error:
    raise pytest.UsageError(str(error)) from None
