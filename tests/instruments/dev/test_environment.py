"""Environments are made once and brought up to date when their requirements change."""

import os
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


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A Python whose environments have its own pip: to install it takes most of the time."""
    path = tmp_path / "python"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} "$@" --without-pip --system-site-packages\n')
    path.chmod(0o755)
    return path


def test_files_that_a_requirement_file_refers_to_count(tmp_path: Path) -> None:
    (tmp_path / "dev.txt").write_text("-r main.txt\n--constraint=c.txt\npytest\n")
    (tmp_path / "main.txt").write_text("numpy  # -r nothing.txt\n")
    (tmp_path / "c.txt").write_text("numpy<3\n")
    found = [path.name for path in requirement_files(tmp_path / "dev.txt")]
    assert found == ["dev.txt", "main.txt", "c.txt"]


def test_an_environment_is_made_once_and_updated_on_change(place: Path, base: Path) -> None:
    requirements = place / "requirements.txt"
    requirements.write_text("-r more.txt\n")
    (place / "more.txt").write_text("")
    environment = Environment(place / "env", requirements, base)
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


def test_pip_installs_what_uv_cannot(place: Path, base: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", (place / "no-such-index").as_uri())
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    requirements = place / "requirements.txt"
    requirements.write_text("")
    environment = Environment(place / "env", requirements, base, by_uv=True)
    environment.ensure()
    assert environment.is_current()
    assert "pip does it all" in capsys.readouterr().out


def test_an_environment_has_what_another_lends_it(place: Path, base: Path) -> None:
    requirements = place / "requirements.txt"
    requirements.write_text("")
    lender = Environment(place / "lender", requirements, base)
    lender.ensure()
    borrower = Environment(place / "borrower", requirements, base, lender)
    one = lender.packages() / "lent-1.dist-info"
    one.mkdir()
    (one / "METADATA").write_text("Name: lent\nVersion: 1\n")
    borrower.ensure()
    assert borrower.version_of("lent") == "1"
    own = borrower.packages() / "lent-2.dist-info"
    own.mkdir()
    (own / "METADATA").write_text("Name: lent\nVersion: 2\n")
    assert borrower.version_of("lent") == "2", "what is lent is before its own"
    assert borrower.is_current()
    one.rename(one.with_name("lent-3.dist-info"))
    assert not borrower.is_current(), "another version is lent, and nobody asks whether it fits"
