"""What ``./dev test`` counts and concludes."""

from pathlib import Path

import pytest

from tests.instruments.dev import suite
from tests.instruments.dev.environment import Environment
from tests.instruments.dev.suite import Outcome

REPORT = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite
name="pytest" errors="{errors}" failures="{failures}" skipped="{skipped}" tests="{tests}"/>
</testsuites>"""


@pytest.mark.parametrize(
    ("counts", "code", "expected"),
    [
        ({"tests": 12, "skipped": 2}, 0, Outcome(10, 0, 2)),
        ({"tests": 12, "failures": 1, "errors": 2}, 1, Outcome(9, 3, 0, ok=False)),
        ({"tests": 3}, 3, Outcome(3, 0, 0, ok=False)),
        ({"tests": 0}, 5, Outcome(ok=False, problem="no test was found")),
    ],
)
def test_a_report_is_counted(tmp_path, counts, code, expected):
    numbers = dict.fromkeys(("tests", "errors", "failures", "skipped"), 0) | counts
    report = tmp_path / "report.xml"
    report.write_text(REPORT.format(**numbers), encoding="utf-8")
    assert suite.count(report, code) == expected


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
        """Is skipped."""
        return Outcome(problem="no Python 3.11")

    monkeypatch.setattr(suite, "PARTS", {"broken": broken, "absent": absent, "fine": fine})
    environment = Environment(tmp_path, tmp_path, tmp_path)
    assert not suite.run(["broken", "absent", "fine"], environment)
    shown = capsys.readouterr().out.splitlines()
    assert shown[-1] == "7 passed, 1 failed, 2 skipped"
    assert any("skipped: no Python 3.11" in line for line in shown)
    assert suite.run(["absent", "fine"], environment)


def test_a_part_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    script = f"(sleep 60; touch {alive}) & echo $! > {tmp_path}/child; trap '' INT; wait"
    assert suite._bounded(["sh", "-c", script], timeout=1, grace=0.2) is None
    child = int((tmp_path / "child").read_text())
    status = Path(f"/proc/{child}/stat")
    assert not status.exists() or status.read_text().split()[2] == "Z"
