"""The site of all pages, by MkDocs in an environment of its own.

MkDocs and its theme bring twenty packages, some of which AstrBot has in other versions, and
nothing but this needs them.
"""

from pathlib import Path

from . import steps
from .environment import Environment, main_environment
from .steps import ROOT

REQUIREMENTS = ROOT / "tests" / "instruments" / "dev" / "requirements-docs.txt"


def build(target: Path) -> int:
    """Build the site; every warning, such as a link that leads nowhere, is an error."""
    own = Environment(ROOT / ".venv-docs", REQUIREMENTS, main_environment().base)
    own.ensure()
    command = [own.python, "-m", "mkdocs", "build", "--strict", "--quiet"]
    return steps.stream([*command, "--site-dir", target], {"NO_MKDOCS_2_WARNING": "1"})
