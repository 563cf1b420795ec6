"""The environments the project runs in, made on first use and kept up to date.

An environment is installed again only when its requirement files, or the files they
refer to, or its Python changed: a stamp inside it says what it was installed from.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .steps import ROOT, StepError, note, step

STAMP = "installed-from"
_INCLUDE = re.compile(r"^\s*(?:-r|--requirement|-c|--constraint)[\s=]+(\S+)", re.MULTILINE)


def requirement_files(path: Path) -> list[Path]:
    """A requirement file and, in order, those it refers to."""
    found = [path]
    for name in _INCLUDE.findall(path.read_text(encoding="utf-8")):
        found += requirement_files(path.parent / name)
    return found


@dataclass(frozen=True)
class Environment:
    """A virtual environment in the checkout.

    Attributes:
        directory: Where it is.
        requirements: The file it is installed from.
        base: The Python it is made with, should it be missing.
        below: One of the same Python that lends it the packages it asks for no other version of.
        by_uv: Whether uv may fill it first. uv knows neither lent packages nor pip's settings but
            for the index.
    """

    directory: Path
    requirements: Path
    base: Path
    below: "Environment | None" = None
    by_uv: bool = False

    @property
    def python(self) -> Path:
        if os.name == "nt":
            return self.directory / "Scripts" / "python.exe"
        return self.directory / "bin" / "python"

    @property
    def name(self) -> str:
        return self.directory.name

    def works(self) -> bool:
        """Whether its interpreter still runs (an upgrade of the system may break it)."""
        return _answers(self.python, "-c", "import pip") is not None

    def version_of(self, package: str) -> str:
        """The installed version of a package; empty if it is not installed."""
        code = f"import importlib.metadata as m; print(m.version({package!r}))"
        return _answers(self.python, "-c", code) or ""

    def packages(self) -> Path:
        """Where its packages are."""
        code = "import sysconfig as s; print(s.get_path('purelib'))"
        return Path(_answers(self.python, "-c", code) or "")

    def fingerprint(self) -> str:
        """What it should have been installed from."""
        digest = hashlib.sha256(str(_answers(self.python, "-c", _VERSION)).encode())
        for path in requirement_files(self.requirements):
            digest.update(path.read_bytes())
        if self.below:
            lent = sorted(path.name for path in self.below.packages().glob("*.dist-info"))
            digest.update("\n".join(lent).encode())
        return digest.hexdigest()

    def is_current(self) -> bool:
        stamp = self.directory / STAMP
        return self.works() and stamp.is_file() and stamp.read_text() == self.fingerprint()

    def ensure(self) -> None:
        """Make it if it is missing and install what changed."""
        if self.is_current():
            return
        if not self.works():
            if self.directory.exists():
                note(f"{self.name} no longer runs; making it anew")
                shutil.rmtree(self.directory)
            step(
                f"Making {self.name} with Python {_answers(self.base, '-c', _VERSION)}",
                [self.base, "-m", "venv", self.directory],
                f"{self.name}-make",
            )
            if self.below:
                lent = f"import site; site.addsitedir({str(self.below.packages())!r})\n"
                (self.packages() / "lent.pth").write_text(lent)
            if self.by_uv:
                self._fill()
        title = f"Installing {self.requirements.name} (up to minutes on a fresh machine)"
        self.install(title)
        (self.directory / STAMP).write_text(self.fingerprint())

    def _fill(self) -> None:
        """Install the requirements by uv, in a quarter of pip's time, if it can be had.

        Pip comes after it, and installs what is missing.
        """
        pip = (self.python, *_PIP)
        index = _answers(*pip, "config", "get", "global.index-url")
        index = os.environ.get("PIP_INDEX_URL") or index
        uv = [self.python, "-m", "uv", "pip", "install", "--python", self.python]
        uv += ["--default-index", index] if index else []
        try:
            step("Getting uv", [*pip, "install", "uv"], f"{self.name}-uv")
            step("Installing by uv", [*uv, "-r", self.requirements], f"{self.name}-filled")
        except StepError:
            note("uv did not succeed; pip does it all")

    def install(self, title: str, *arguments: str) -> None:
        """Install the requirements, with extra arguments for pip.

        What is imported is compiled then: of 26,000 files most never are.
        """
        command = [self.python, *_PIP, "install", "--no-compile", *arguments]
        step(title, [*command, "-r", self.requirements], f"{self.name}-install")


_VERSION = "import platform; print(platform.python_version())"
_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")


def _answers(*command: Path | str) -> str | None:
    """What a command prints, or ``None`` if it fails."""
    try:
        done = subprocess.run(
            [*map(str, command)], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def main_environment() -> Environment:
    """AstrBot, the plugin's requirements and the tools: what everything but one test uses."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    return Environment(ROOT / ".venv", ROOT / "requirements-dev.txt", Path(base), by_uv=True)


def find_python(minor: int) -> Path:
    """A Python 3.``minor`` that can make environments."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [
        shutil.which(f"python3.{minor}"),
        shutil.which("python3"),
        *map(str, sorted(pyenv.glob(f"versions/3.{minor}.*/bin/python"), reverse=True)),
    ]
    wanted = f"import ensurepip, sys; sys.exit(sys.version_info[:2] != (3, {minor}))"
    for candidate in filter(None, candidates):
        if _answers(candidate, "-c", wanted) is not None:
            return Path(candidate)
    raise StepError(f"no Python 3.{minor} with the venv module was found")
