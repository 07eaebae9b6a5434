"""Plays the recordings of tests with pytest, or records them. docs/recording.md shows how to use it.

One file, for Python 3.9 and pytest 7 or later. It needs the program reprise: in REPRISE_BINARY_PATH, or in PATH.
PYTEST_DONT_REWRITE: conftest.py may import this module before pytest does.
"""

import atexit
import hashlib
import json
import os
import re
import shutil
import subprocess
import threading
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


class ReplayError(Exception):
    """Error of a test whose requests differ from its recording, or could not be recorded."""


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
    """Running `reprise serve --suite` or `reprise record --suite`. It ends when its stdin is closed, and so with this process."""

    def __init__(self, args):
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [_binary(), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        self.variables = self._read()["environment"]
        self.variables.pop("REPRISE_REPRESENTS", None)

    def ask(self, request):
        """Begins or ends a test. Returns the answer: of a test that ends its report."""
        with self._lock:
            try:
                self._process.stdin.write(json.dumps(request) + "\n")
                self._process.stdin.flush()
            except OSError:
                pass  # It has ended: reading reports that.
            return self._read()

    def close(self):
        """Ends the server, and waits until its recordings are complete."""
        try:
            self._process.stdin.close()
        except OSError:
            pass  # It has ended.
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


def _server(args):
    if args not in _servers:
        _servers[args] = _Server(args)
    return _servers[args]


def _gateway():
    return _server(("serve", "--suite", "--json"))


@atexit.register
def _close_servers():
    while _servers:
        _servers.popitem()[1].close()


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "reprise(folder, *, allow_unused=False, upstreams={}, serve=[], record=[], id=None): "
        "play the recording of the test in the folder, or record it",
    )


def pytest_itemcollected(item):
    """Gives marked tests the fixture, so that the base URLs are in their environment. Notes their recordings."""
    names = getattr(item, "fixturenames", None)
    marker = item.get_closest_marker("reprise")
    if names is None or marker is None:
        return
    if "reprise" not in names:
        names.insert(0, "reprise")
    if len(marker.args) == 1:
        folder = Path(marker.args[0])
        _recordings.setdefault(str(folder), set()).add(_name_of(item, folder, marker.kwargs.get("id")))


def pytest_sessionfinish(session):
    """Passes the recordings of a worker of xdist on: each worker collects all tests, and the main process none."""
    if hasattr(session.config, "workerinput"):
        session.config.workeroutput["reprise"] = {folder: list(names) for folder, names in _recordings.items()}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    for folder, names in getattr(node, "workeroutput", {}).get("reprise", {}).items():
        _recordings.setdefault(folder, set()).update(names)


def pytest_unconfigure():
    _close_servers()


@pytest.fixture
def reprise(request, monkeypatch):
    """APIs of this test. Its environment leads clients to them as well."""
    marker = request.node.get_closest_marker("reprise")
    if marker is None or len(marker.args) != 1:
        pytest.fail('Mark the test with the folder of the recordings: @pytest.mark.reprise("fixtures/chat")', False)
    run = _Run(request.node, Path(marker.args[0]), **marker.kwargs)
    request.node._reprise = run
    for name, value in run.api.env.items():
        if os.environ.get(name) != value:
            monkeypatch.setenv(name, value)
    yield run.api
    run.end(allow_unused=True)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Ends a test after its call. A test that does not match its recording fails with the report of reprise."""
    outcome = yield
    run = getattr(item, "_reprise", None)
    if run is None or call.when != "call":
        return
    report = outcome.get_result()
    # A test that failed may have stopped before its last request.
    try:
        message = run.end(allow_unused=run.allow_unused or not report.passed)
    except ReplayError as error:
        message = str(error)
    # xdist passes properties on to the process that prints.
    report.user_properties += [(NOTE, note) for note in run.notes]
    if message is None:
        return
    if report.passed:
        report.outcome = "failed"
        report.longrepr = message
    else:
        report.sections.append(("reprise", message))


def pytest_terminal_summary(terminalreporter, config):
    if hasattr(config, "workerinput"):
        return  # The main process reports for all workers.
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    for report in reports:
        for name, note in getattr(report, "user_properties", ()):
            if name == NOTE and report.when == "call":
                terminalreporter.write_line(note)
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


class _Run:
    """Test that runs."""

    def __init__(self, node, folder, *, allow_unused=False, upstreams=None, serve=(), record=(), id=None):
        self.allow_unused = allow_unused
        self._test = node.name
        self._folder = folder
        self._name = _name_of(node, folder, id)
        self._out, self._is_ended, self.notes = folder, False, []
        args = self._plan(upstreams or {}, serve, record)
        self._server = _server(args)
        variables = {name: _with_test(value, self._name) for name, value in self._server.variables.items()}
        self.api = Api(variables, self._folder / self._name, args[0] == "record")
        _gateway().ask({"type": "begin", "test": self._name, "environment": variables})

    def _plan(self, upstreams, serve, record):
        """Returns the arguments of the server."""
        mode = os.environ.get("REPRISE_RECORD", "")
        is_recorded = (self._folder / self._name / "fixture.json").exists()
        if mode not in RECORDING_MODES or (mode == "new" and is_recorded):
            return ("serve", str(self._folder), "--suite", "--json", "--quiet", *serve)
        if mode == "all":
            # Recorded beside the folder, and moved when it is complete.
            self._out = self._folder.parent / f".{self._folder.name}.recording-{os.getpid()}"
        named = [part for name, url in upstreams.items() for part in ("--env", f"{name}={url}")]
        return ("record", "--missing", "--out", str(self._out), "--suite", "--json", *named, *record)

    def end(self, allow_unused):
        """Ends the test once. Returns a message if it does not match its recording."""
        if self._is_ended:
            return None
        self._is_ended = True
        prune = os.environ.get("REPRISE_RECORD") == "prune"
        request = {"type": "end", "test": self._name, "allow_unused": allow_unused, "prune": prune}
        stray, report = _gateway().ask(request), self._server.ask(request)
        report["exit_code"] = report["exit_code"] or stray["exit_code"]
        report["messages"] = stray["messages"] + report["messages"]
        self.notes = report["notes"]
        if self._out != self._folder:
            self._replace(report)
        if report["exit_code"] == 0:
            return None
        reasons = "\n".join(f"- {message}" for message in report["messages"])
        return f'The test "{self._test}" does not match its recording "{self._folder / self._name}":\n{reasons}'

    def _replace(self, report):
        """Replaces the recording by the new one if that is complete; the old one stays otherwise."""
        fresh, kept, old = self._out / self._name, self._folder / self._name, self._out / f"{self._name}.old"
        if report["exit_code"] == 0 and report["recorded"] > 0:
            self._folder.mkdir(parents=True, exist_ok=True)
            if kept.exists():
                kept.rename(old)
            fresh.rename(kept)
        for folder in (fresh, old):
            shutil.rmtree(folder, ignore_errors=True)
        try:
            self._out.rmdir()
        except OSError:
            pass  # Nothing was recorded, or another test is there.


def _name_of(node, folder, id):
    """Name of the recording of a test in a folder."""
    file = os.path.relpath(node.path, folder.resolve()).replace(os.sep, "/")
    return recording_name(node.name, id or " > ".join([file, *node.nodeid.split("::")[1:]]))


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


# Clients lead to the gateway before application code can create any.
try:
    os.environ.update(_gateway().variables)
except ReplayError as error:
    raise pytest.UsageError(str(error)) from None
