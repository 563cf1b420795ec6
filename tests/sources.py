"""The project's own source files, as the tests about the code itself read them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("__pycache__", "node_modules", "dist")
SHOWN = (".ci", ".github", ".astrbot-plugin")
"""Folders that are the project's own although they are hidden."""


@cache
def runtime_modules() -> tuple[Path, ...]:
    """Python files that are installed with the plugin."""
    folders = (ROOT / "graph_memory", ROOT / "webui")
    found = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return (ROOT / "main.py", *found) if (ROOT / "main.py").exists() else tuple(found)


def project_files() -> Iterator[Path]:
    """Every file of the checkout that is the project's own."""
    folders = [ROOT]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            hidden = path.name.startswith(".") and path.name not in SHOWN
            if path.is_symlink() or path.name in LEFT_OUT or (hidden and path.is_dir()):
                continue
            if path == ROOT / "data":  # AstrBot makes it wherever it is imported
                continue
            if path.is_dir():
                folders.append(path)
            elif path.name != ".git":  # a file in a work tree of git's
                yield path


def tree(path: Path) -> ast.Module:
    return parsed(read(path))


parsed = cache(ast.parse)
"""The syntax of a text, read once."""


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name(path: Path) -> str:
    """Path below the checkout, as people write it."""
    return path.relative_to(ROOT).as_posix()


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Absolute dotted names a module imports, wherever in it the import stands.

    ``from .model import Fact`` in ``graph_memory/privacy/scope.py`` is
    ``graph_memory.model.Fact``: the last part may be a name inside the module.
    """
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            start = (*base, *(node.module.split(".") if node.module else ()))
            yield from (".".join((*start, alias.name)) for alias in node.names)
