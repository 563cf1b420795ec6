"""Environments are made once and brought up to date when their requirements change."""

import sys
from pathlib import Path

import pytest

from tests.instruments.dev import steps
from tests.instruments.dev.environment import STAMP, Environment, requirement_files
from tests.instruments.dev.steps import StepError

pytestmark = pytest.mark.slow


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(steps, "WORK", tmp_path / "work")
    return tmp_path


def test_files_that_a_requirement_file_refers_to_count(tmp_path: Path) -> None:
    (tmp_path / "dev.txt").write_text("-r main.txt\n--constraint=c.txt\npytest\n")
    (tmp_path / "main.txt").write_text("numpy  # -r nothing.txt\n")
    (tmp_path / "c.txt").write_text("numpy<3\n")
    found = [path.name for path in requirement_files(tmp_path / "dev.txt")]
    assert found == ["dev.txt", "main.txt", "c.txt"]


def test_an_environment_is_made_once_and_updated_on_change(place: Path) -> None:
    requirements = place / "requirements.txt"
    requirements.write_text("-r more.txt\n")
    (place / "more.txt").write_text("")
    environment = Environment(place / "env", requirements, Path(sys.executable))
    assert not environment.is_current()
    environment.ensure()
    assert environment.is_current()
    assert environment.version_of("pip")
    assert environment.version_of("no-such-package") == ""

    log = place / "work" / "logs" / "env-install.log"
    log.unlink()
    environment.ensure()
    assert not log.exists(), "installed again although nothing had changed"

    (place / "more.txt").write_text("./no-such-folder\n")
    assert not environment.is_current()
    with pytest.raises(StepError, match="no-such-folder") as failed:
        environment.ensure()
    assert str(log) in str(failed.value)
    assert not environment.is_current(), "a failed installation counts as done"

    (place / "more.txt").write_text("")
    environment.python.unlink()
    environment.ensure()  # an interpreter that vanished, as after an upgrade of the system
    assert (environment.directory / STAMP).is_file()
    assert environment.is_current()
