"""The commands of ``./dev``."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from . import release, steps, suite
from .environment import Environment, main_environment
from .steps import ROOT, StepError, heading

_LINES = Path(__file__).with_name("programs.txt").read_text(encoding="utf-8").splitlines()
PROGRAMS = {name: (module, about) for name, module, about in (x.split(" | ") for x in _LINES)}
"""Programs for developers, each with arguments of its own; ``NAME --help`` lists them."""


def usage() -> str:
    """What ``./dev help`` prints."""
    lines = [f"  {name:<25} {about}\n" for name, (_, about) in PROGRAMS.items()]
    told = Path(__file__).with_name("help.txt").read_text(encoding="utf-8").rstrip()
    return told.format(parts=", ".join(suite.PARTS), programs="".join(lines))


def ready() -> Environment:
    """The environment, made or brought up to date."""
    environment = main_environment()
    heading("Environment")
    environment.ensure()
    steps.note(f"{environment.name} is ready")
    return environment


def program(name: str, arguments: list[str]) -> int:
    environment = main_environment()
    environment.ensure()
    return steps.stream([environment.python, "-m", PROGRAMS[name][0], *arguments])


def up(arguments: list[str]) -> int:
    environment = ready()
    command = [str(environment.python), "-m", "tests.instruments.demo", *arguments]
    if os.name != "nt":
        # Replaces this process, so that Ctrl-C reaches the demo and nothing else.
        os.chdir(ROOT)
        os.execv(command[0], command)
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def test(arguments: list[str]) -> int:
    environment = ready()
    if all(argument in suite.PARTS for argument in arguments):
        return 0 if suite.run(arguments or list(suite.PARTS), environment) else 1
    return steps.stream([environment.python, "-m", "pytest", *arguments])


def lint(arguments: list[str]) -> int:
    return test(["lint", "types", *arguments])


def format(_arguments: list[str]) -> int:
    environment = main_environment()
    environment.ensure()
    ruff = (environment.python, "-m", "ruff")
    steps.stream([*ruff, "format", "."])
    return steps.stream([*ruff, "check", "--fix", "."])


def package(_arguments: list[str]) -> int:
    target = release.package(ROOT / "dist")
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1024} KB")
    return 0


def help(_arguments: list[str]) -> int:
    print(usage())
    return 0


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    command.__name__: command for command in (up, test, lint, format, package, help)
}


def main(arguments: list[str]) -> int:
    name, *rest = arguments or ["help"]
    command = COMMANDS.get({"-h": "help", "--help": "help"}.get(name, name))
    if command is None and name not in PROGRAMS:
        print(f"There is no ./dev {name}.\n\n{usage()}")
        return 2
    try:
        return command(rest) if command else program(name, rest)
    except StepError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
