"""The parts of ``./dev test``: what each one needs, runs and counts."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from xml.etree import ElementTree

from . import site, steps
from .environment import Environment, find_python
from .steps import ROOT, WORK, StepError, heading, note

MINUTES = 60.0
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FONT = ("fonts-wqy-microhei", "/usr/share/fonts/*/wqy/*", "/usr/share/fonts/*/*/*CJK*")
"""One that has Chinese, so that pages are as wide as what they say."""
POSTGRES = ("postgresql", "initdb", "/usr/lib/postgresql/*/bin/initdb")
"""A package of Debian's, then its programs; patterns of paths where they are not on the path."""
UNSTEADY = 3
"""Failures of a part that a second attempt may undo; more are no accident."""
KEPT = dict.fromkeys(("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), "1000000000")
"""What lets glibc keep what is freed: getting it anew takes a third of building a small graph."""
IN_MEMORY, ROOM = Path("/dev/shm"), 4 << 30
"""A file system in memory, and the bytes that have to be free: a part needs some hundred MB."""
TESTS = ROOT / "tests"
OLDEST = TESTS / "e2e" / "requirements-oldest.txt"
TRANSFORMERS = TESTS / "embedding" / "requirements.txt"
TRANSFORMERS_PYTHON = 11
"""Minor version of the Python that PyTorch's small CPU build is made for."""


@dataclass(frozen=True)
class Outcome:
    """How a part ended.

    Attributes:
        problem: Why it failed although no test did; why it was skipped.
        unsteady: Tests that passed at the second attempt only.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    ok: bool = True
    problem: str = ""
    unsteady: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.problem:
            return f"{'skipped' if self.ok else 'FAILED'}: {self.problem}"
        if not self.passed + self.failed + self.skipped:
            return "ok" if self.ok else "FAILED"
        counts = [f"{self.passed} passed"]
        counts += [f"{self.failed} FAILED"] if self.failed else []
        counts += [f"{self.skipped} skipped"] if self.skipped else []
        if self.unsteady:
            counts.append(f"UNSTEADY, at the second attempt only: {' '.join(self.unsteady)}")
        return ", ".join(counts)


def lint(environment: Environment) -> Outcome:
    """ruff's rules and format."""
    ruff = (environment.python, "-m", "ruff")
    checked = steps.stream([*ruff, "check", "."])
    formatted = steps.stream([*ruff, "format", "--check", "."])
    if formatted:
        note("./dev format mends the format")
    return Outcome(ok=not checked and not formatted)


def types(environment: Environment) -> Outcome:
    """mypy, strict."""
    return Outcome(ok=steps.stream([environment.python, "-m", "mypy"]) == 0)


def fast(environment: Environment) -> Outcome:
    """What needs neither AstrBot's process nor a browser nor long."""
    marks = "not slow and not e2e and not browser and not transformers and not server"
    return pytest(environment, "fast", marks, 10 * MINUTES, env=KEPT, workers=2)


def shared(environment: Environment) -> Outcome:
    """Journals shared through a real PostgreSQL, by the very tests of those that are not."""
    ensure(POSTGRES)
    rooms = ("store", "deletion")
    files = ("test_coordination.py", "webui/test_alone.py", "instruments/chaos/test_shared.py")
    folders = [f"tests/{each}" for each in (*files, *rooms)]
    return pytest(environment, "shared", "not slow", 10 * MINUTES, *folders, "--shared", workers=2)


def ladybug(environment: Environment) -> Outcome:
    """The graph on Kùzu's fork, as where Kùzu has no wheel."""
    env = {"PYTHONPATH": str(TESTS / "hiding"), "GRAPH_MEMORY_HIDDEN": "kuzu"}
    return pytest(environment, "ladybug", "not e2e", 5 * MINUTES, "tests/graph", env=env, workers=2)


def docs(_environment: Environment) -> Outcome:
    """The site of the documentation, in which every link leads somewhere."""
    return Outcome(ok=site.build(WORK / "site") == 0)


def slow(environment: Environment) -> Outcome:
    """Properties over many random histories, kills, hostile texts everywhere."""
    files = sorted({*marked("slow"), *having("from hypothesis import")})
    return pytest(environment, "slow", "slow or hypothesis", 20 * MINUTES, *files, workers=2)


def browser(environment: Environment) -> Outcome:
    """The web UI in a real Chromium."""
    ensure(CHROMIUM)
    with suppress(StepError):  # other systems have theirs elsewhere
        ensure(FONT)
    return pytest(environment, "browser", "browser", 15 * MINUTES, *marked("browser"), workers=2)


def e2e(environment: Environment) -> Outcome:
    """Scenes played through the newest AstrBot on the registry."""
    try:
        environment.install("Asking the registry for a newer AstrBot", "--upgrade", "astrbot")
    except StepError as error:
        note(f"{error}\n   Going on with the AstrBot that is installed.")
    print(f"   AstrBot {environment.version_of('astrbot')}", flush=True)
    return pytest(environment, "e2e", "e2e", 20 * MINUTES, *marked("e2e"), workers=2)


def e2e_oldest(environment: Environment) -> Outcome:
    """Scenes in which the host's version matters, through the oldest that is supported.

    They hear, hook, command, install, show pages and ask providers and personas through the host;
    the others differ from them only in what the plugin does by itself, which is the same code.
    Its environment has AstrBot of its own and what it needs in another version; the rest is
    what the newest has, as pip would choose the same.
    """
    oldest = Environment(ROOT / ".venv-oldest", OLDEST, environment.base, environment)
    oldest.ensure()
    print(f"   AstrBot {oldest.version_of('astrbot')}", flush=True)
    env = {"GRAPH_MEMORY_E2E_PYTHON": str(oldest.python)}
    files = marked("host")
    return pytest(environment, "e2e-oldest", "host", 15 * MINUTES, *files, env=env, workers=2)


def transformers(_environment: Environment) -> Outcome:
    """sentence-transformers, which needs gigabytes and so has an environment of its own."""
    try:
        base = find_python(TRANSFORMERS_PYTHON)
        own = Environment(ROOT / ".venv-transformers", TRANSFORMERS, base)
        own.ensure()
    except StepError as error:
        return Outcome(problem=str(error))
    # The rest of the plugin needs a newer Python: nothing above the folder is loaded.
    env = {"PYTEST_ADDOPTS": "--confcutdir=tests/embedding"}
    return pytest(own, "transformers", "transformers", 10 * MINUTES, "tests/embedding", env=env)


_RUN = (lint, fast, shared, ladybug, slow, browser, e2e, e2e_oldest, types, docs, transformers)
ASIDE = ("types", "docs", "transformers")
"""Parts that keep one core busy, for a minute and a half: they run beside the others."""
Part = Callable[[Environment], Outcome]
PARTS: dict[str, Part] = {part.__name__.replace("_", "-"): part for part in _RUN}


def run(names: list[str], environment: Environment) -> bool:
    """Run parts one after the other, all of them even if one fails; whether all passed.

    Those that are for aside begin at once, and are told when it is their turn.
    """
    outcomes: dict[str, tuple[Outcome, float]] = {}
    with ProcessPoolExecutor(1) as pool:
        beside = {
            name: pool.submit(_aside, PARTS[name], environment, WORK / "logs" / f"{name}.log")
            for name in names
            if name in ASIDE and len(names) > 1
        }
        for name in names:
            heading(f"{name}: {(PARTS[name].__doc__ or '').splitlines()[0]}")
            if name in beside:
                outcome, seconds, shown = beside[name].result()
                print(shown, end="")
            else:
                outcome, seconds = _timed(PARTS[name], environment)
            outcomes[name] = outcome, seconds
            print(f"   {name}: {outcome}", flush=True)
    heading("Result")
    for name, (ended, seconds) in outcomes.items():
        print(f"   {name:<13} {seconds:5.0f} s   {str(ended).splitlines()[0]}")
    done = [each for each, _ in outcomes.values()]
    if any(o.passed or o.failed or o.skipped for o in done):
        print(
            f"{sum(o.passed for o in done)} passed, {sum(o.failed for o in done)} failed,"
            f" {sum(o.skipped for o in done)} skipped",
            flush=True,
        )
    return all(each.ok for each in done)


def _timed(part: Part, environment: Environment) -> tuple[Outcome, float]:
    begun = time.monotonic()
    try:
        outcome = part(environment)
    except StepError as error:  # something that it needs cannot be had
        outcome = Outcome(ok=not in_ci(), problem=str(error))
    return outcome, time.monotonic() - begun


def _aside(part: Part, environment: Environment, log: Path) -> tuple[Outcome, float, str]:
    """How a part ended, and all that it and its children would have shown, in this process."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", buffering=1, encoding="utf-8") as file, redirect_stdout(file):
        for shown in (1, 2):
            os.dup2(file.fileno(), shown)
        outcome, seconds = _timed(part, environment)
    return outcome, seconds, log.read_text(encoding="utf-8", errors="replace")


def pytest(
    environment: Environment,
    name: str,
    marks: str,
    timeout: float,
    *folders: str,
    env: Mapping[str, str] | None = None,
    workers: int = 0,
) -> Outcome:
    """Run the tests that ``marks`` selects and count them.

    A few that fail are tried once more, and named if they pass then: on a busy machine a limit
    of time may be missed. What hypothesis has found is tried with the same examples.
    ``workers`` are processes that share the tests, mostly a module at a time; 0 is this one.
    """
    report = WORK / "reports" / f"{name}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    command = [environment.python, "-m", "pytest", *(folders or ("tests",)), "-m", marks]
    command += ["-rs", "--durations=5", f"--junitxml={report}"]
    if workers:
        command += ["-n", str(workers), "--dist", "loadgroup", "--no-loadscope-reorder"]
    with scratch(IN_MEMORY) as place:
        where = {**(env or {}), **place}
        first = _once([str(part) for part in command], timeout, report, where)
        if not 0 < first.failed <= UNSTEADY:
            return first
        names = failures(report)
        note(f"a second attempt for {' '.join(names)}")
        again = [*command, "--last-failed", "--last-failed-no-failures=none"]
        second = _once([str(part) for part in again], timeout, report, where)
    if not second.ok:
        return first
    return replace(first, passed=first.passed + first.failed, failed=0, ok=True, unsteady=names)


@contextmanager
def scratch(parent: Path) -> Iterator[dict[str, str]]:
    """Where tests write, as an environment: below ``parent`` if it has room.

    Thousands of small databases on a disk wait for it as long as they work, and take a fifth
    more of the processor.
    """
    if not parent.is_dir() or shutil.disk_usage(parent).free < ROOM:
        yield {}
        return
    with tempfile.TemporaryDirectory(
        dir=parent, prefix="gm-", ignore_cleanup_errors=True
    ) as folder:
        Path(folder).chmod(0o711)  # PostgreSQL's user passes through it
        yield {"TMPDIR": folder}


def _once(
    command: list[str], timeout: float, report: Path, env: Mapping[str, str] | None
) -> Outcome:
    report.unlink(missing_ok=True)
    code = _bounded(command, timeout, env=env)
    if code is None:
        return Outcome(ok=False, problem=f"not finished after {timeout / MINUTES:.0f} minutes")
    if not report.is_file():
        return Outcome(ok=False, problem=f"pytest ended with exit code {code} and no report")
    return count(report, code)


def failures(report: Path) -> tuple[str, ...]:
    """Names of the tests that failed, by a JUnit report."""
    cases = ElementTree.parse(report).getroot().iter("testcase")
    failed = (c for c in cases if c.find("failure") is not None or c.find("error") is not None)
    return tuple(dict.fromkeys(c.get("name", "") for c in failed))


def marked(mark: str) -> list[str]:
    """Modules with tests of a mark: to import the others takes a quarter of a minute a worker."""
    return having(f"mark.{mark}")


def having(text: str) -> list[str]:
    """Modules of tests in which a text is."""
    found = sorted(TESTS.rglob("test_*.py"))
    return [str(path) for path in found if text in path.read_text("utf-8")]


def count(report: Path, code: int) -> Outcome:
    """Outcome of a pytest run from its JUnit report and exit code."""
    suites = ElementTree.parse(report).getroot().iter("testsuite")
    tests = failed = skipped = 0
    for suite in suites:
        tests += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0))
    if not tests:
        return Outcome(ok=False, problem="no test was found")
    # A test whose tear-down fails too is counted twice by pytest, but ran once.
    return Outcome(max(0, tests - failed - skipped), failed, skipped, ok=code == 0)


def _bounded(
    command: list[str], timeout: float, grace: float = 30.0, env: Mapping[str, str] | None = None
) -> int | None:
    """Exit code of a command, or ``None`` if it, with its children, had to be ended.

    They write bytecode even where the machine's own setting forbids it: whoever starts hundreds
    of processes would else compile the product and the tests as often.
    """
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **(env or {})},
        start_new_session=True,
    )
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        _end(process, grace)
        return None
    except BaseException:
        _end(process, grace)
        raise


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """Let pytest stop what it started; then end whatever of its session is left."""
    if os.name == "nt":
        process.kill()
        return
    process.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(grace)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def in_ci() -> bool:
    """Whether a missing browser is a failure rather than a reason to skip."""
    return os.environ.get("CI", "").lower() in ("1", "true")


def ensure(package: Sequence[str]) -> None:
    """Have one of a package's programs; installed from the system's where possible."""
    name = package[0]
    if any(shutil.which(program) or glob(program) for program in package):
        return
    if shutil.which("apt-get") is None or os.name == "nt" or os.geteuid() != 0:
        raise StepError(f"no {name}; install it (Debian, Ubuntu: apt-get install {name})")
    steps.step("Refreshing the list of packages", ["apt-get", "update", "-qq"], "apt-update")
    steps.step(
        f"Installing {name}",
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", name],
        f"apt-{name}",
    )
