"""The script in front of everything: it finds a Python or says what to do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources import ROOT

TOOLS = ("sh", "dirname", "ls", "id", "sort", "head", "grep", "env")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="a shell script")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy without an environment, and a PATH without any Python."""
    folder = tmp_path / "a checkout"
    (folder / "tests").mkdir(parents=True)
    shutil.copy(ROOT / "dev", folder)
    shutil.copy(ROOT / "tests" / "__init__.py", folder / "tests")
    shutil.copytree(
        ROOT / "tests" / "instruments" / "dev",
        folder / "tests" / "instruments" / "dev",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or tool)
    return folder


def dev(checkout: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    path = str(checkout.parent / "bin")
    return subprocess.run(
        [str(checkout / "dev"), *arguments],
        env={"PATH": path, "HOME": str(checkout.parent), **env},
        cwd=checkout.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def interpreter(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def test_without_python_it_says_what_to_do(checkout: Path) -> None:
    done = dev(checkout, "up")
    assert done.returncode == 1
    assert "Python 3.12" in done.stderr
    assert "apt-get install" in done.stderr
    assert "PYTHON=/path/to/python ./dev up" in done.stderr


def test_an_old_python_is_passed_over_for_one_of_pyenv(checkout: Path) -> None:
    interpreter(checkout.parent / "bin" / "python3", "exit 1")
    pyenv = checkout.parent / ".pyenv" / "versions" / "3.12.9" / "bin" / "python"
    interpreter(pyenv, f'exec "{sys.executable}" "$@"')
    done = dev(checkout, "help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("./dev COMMAND")


def test_a_python_without_venv_is_named(checkout: Path) -> None:
    body = f"""case "$2" in *ensurepip*) exit 1;; *) exec "{sys.executable}" "$@";; esac"""
    interpreter(checkout.parent / "bin" / "python3.12", body)
    done = dev(checkout, "test")
    assert done.returncode == 1
    assert "python3.12 cannot make environments" in done.stderr


def test_a_python_can_be_named(checkout: Path) -> None:
    assert "not a Python 3.12" in dev(checkout, "help", PYTHON="/bin/false").stderr
    assert dev(checkout, "help", PYTHON=sys.executable).returncode == 0


def test_an_unknown_command_is_told_from_the_known_ones(checkout: Path) -> None:
    done = dev(checkout, "dance", PYTHON=sys.executable)
    assert done.returncode == 2
    assert "There is no ./dev dance" in done.stdout
    assert "  up " in done.stdout
    assert "  chaos " in done.stdout
