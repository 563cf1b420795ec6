"""What ``./dev test`` counts and concludes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import tabled
from tests.instruments.dev import suite
from tests.instruments.dev.environment import Environment
from tests.instruments.dev.steps import StepError
from tests.instruments.dev.suite import Outcome
from tests.waiting import until

REPORT = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite
name="pytest" errors="{errors}" failures="{failures}" skipped="{skipped}" tests="{tests}"/>
</testsuites>"""


@tabled
def test_a_report_is_counted(tmp_path, counts, code, expected):
    numbers = dict.fromkeys(("tests", "errors", "failures", "skipped"), 0) | counts
    report = tmp_path / "report.xml"
    report.write_text(REPORT.format(**numbers), encoding="utf-8")
    assert suite.count(report, code) == Outcome(**expected)


def test_marked_modules_are_found():
    assert [Path(path).parent.name for path in suite.marked("host")].count("e2e") > 5
    assert {Path(path).parent.name for path in suite.marked("browser")} == {"browser"}
    assert str(suite.TESTS / "scope" / "test_destruction.py") in suite.marked("slow")


def test_all_parts_run_and_one_failure_fails_the_whole(monkeypatch, capsys, tmp_path):
    def broken(_: Environment) -> Outcome:
        """Fails."""
        return Outcome(3, 1, 0, ok=False)

    def fine(_: Environment) -> Outcome:
        """Passes."""
        return Outcome(4, 0, 2)

    def absent(_: Environment) -> Outcome:
        """Is skipped, but not in CI."""
        raise StepError("no Python 3.11")

    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(suite, "PARTS", {"broken": broken, "absent": absent, "fine": fine})
    environment = Environment(tmp_path, tmp_path, tmp_path)
    assert not suite.run(["broken", "absent", "fine"], environment)
    shown = capsys.readouterr().out.splitlines()
    assert shown[-1] == "7 passed, 1 failed, 2 skipped"
    assert any("skipped: no Python 3.11" in line for line in shown)
    assert suite.run(["absent", "fine"], environment)
    monkeypatch.setenv("CI", "true")
    assert not suite.run(["absent", "fine"], environment)


def chatty(_: Environment) -> Outcome:
    """Says something."""
    subprocess.run(["echo", "of a child"], check=True)
    print("of its own")
    raise StepError("nothing to be had")


def test_a_part_beside_others_is_told_in_its_turn(monkeypatch, capfd, tmp_path):
    def fine(_: Environment) -> Outcome:
        """Passes."""
        return Outcome(1)

    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(suite, "WORK", tmp_path)
    monkeypatch.setattr(suite, "ASIDE", ("chatty",))
    monkeypatch.setattr(suite, "PARTS", {"fine": fine, "chatty": chatty})
    assert not suite.run(["fine", "chatty"], Environment(tmp_path, tmp_path, tmp_path))
    shown = capfd.readouterr().out
    turns = ["== fine", "== chatty", "of a child", "of its own", "FAILED: nothing to be had"]
    assert sorted(turns, key=shown.index) == turns


async def test_a_part_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    script = f"(sleep 60; touch {alive}) & echo $! > {tmp_path}/child; trap '' INT; wait"
    assert suite._bounded(["sh", "-c", script], timeout=1, grace=0.2) is None
    child = int((tmp_path / "child").read_text())
    status = Path(f"/proc/{child}/stat")
    await until(lambda: not status.exists() or status.read_text().split()[2] == "Z", 5)


@pytest.mark.parametrize(("passes_then", "failing"), [(True, 1), (False, 1), (True, 4)])
def test_a_failure_that_does_not_come_again_is_named(tmp_path, monkeypatch, passes_then, failing):
    monkeypatch.setattr(suite, "WORK", tmp_path / "work")
    (tmp_path / "test_it.py").write_text(
        "import pathlib, pytest\n"
        "def test_steady(): pass\n"
        f"@pytest.mark.parametrize('n', range({failing}))\n"
        "def test_it(n):\n"
        f"    seen = pathlib.Path({str(tmp_path)!r}, f'seen{{n}}')\n"
        f"    assert seen.exists() and {passes_then} or seen.touch()\n",
        encoding="utf-8",
    )
    environment = Environment(tmp_path, tmp_path, tmp_path)
    monkeypatch.setattr(Environment, "python", Path(sys.executable))
    outcome = suite.pytest(environment, "it", "not slow", 60, str(tmp_path))
    if passes_then and failing == 1:
        assert outcome == Outcome(2, 0, 0, unsteady=("test_it[0]",))
        assert "test_it[0]" in str(outcome)
    else:
        assert outcome == Outcome(1, failing, 0, ok=False)


def test_tests_write_where_nothing_waits_for_a_disk_if_there_is_room(tmp_path, monkeypatch):
    with suite.scratch(tmp_path) as environment:
        folder = Path(environment["TMPDIR"])
        assert folder.parent == tmp_path
        (folder / "file").touch()
    assert [*tmp_path.iterdir()] == []
    monkeypatch.setattr(suite, "ROOM", 1 << 60)
    for place in (tmp_path, tmp_path / "missing"):
        with suite.scratch(place) as environment:
            assert environment == {}


def test_what_an_older_python_runs_imports_nothing_that_needs_a_newer_one() -> None:
    texts = [path.read_text("utf-8") for path in (suite.TESTS / "embedding").glob("*.py")]
    found = {
        name for text in texts for name in re.findall(r"(?m)^from (?:\.\.|tests\.)(\w+)", text)
    }
    assert found == {"cases", "waiting"}
