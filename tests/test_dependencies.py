"""Dependencies point one way: as the table in ``docs/architecture.md`` says, and no other."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.sources import ROOT, imports, name, runtime_modules

ROW = re.compile(r"^\| `([\w./]+)` \| .* \| ([^|]*) \|$", re.MULTILINE)


def room(module: str) -> str:
    """The room a dotted name belongs to; empty for other people's packages."""
    first, *rest = module.split(".")
    if first == "graph_memory":
        return rest[0] if rest else "graph_memory"
    return first if first in ("main", "webui") else ""


def table() -> dict[str, set[str]]:
    """Room → rooms it may import, from the documented table."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for path, allowed in ROW.findall(text):
        key = path.removeprefix("graph_memory/").removesuffix("/").removesuffix(".py")
        found[key] = set(re.findall(r"`([\w]+)`", allowed))
    return found


def uses() -> dict[str, set[str]]:
    """Room → rooms it imports, from the code."""
    found: dict[str, set[str]] = {}
    for path in runtime_modules():
        own = room(".".join(path.relative_to(ROOT).with_suffix("").parts))
        if own in ("__init__", "graph_memory"):
            own = "graph_memory"
        used = {room(imported) for imported in imports(path)} - {"", own}
        found.setdefault(own, set()).update(used)
    return found


def test_every_room_is_in_the_table() -> None:
    assert set(uses()) - {"graph_memory"} == set(table())


@pytest.mark.parametrize("own", sorted(uses()))
def test_a_room_imports_only_what_the_table_allows(own: str) -> None:
    assert uses()[own] <= table().get(own, set())


def test_the_table_has_no_circle() -> None:
    left = table()
    while left:
        ready = {key for key, needs in left.items() if not needs & set(left)}
        assert ready, f"these rooms import each other in a circle: {sorted(left)}"
        left = {key: needs for key, needs in left.items() if key not in ready}


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        (
            "astrbot",
            {"main.py", *(path for path in map(name, runtime_modules()) if "/host/" in path)},
        ),
        ("kuzu", {path for path in map(name, runtime_modules()) if "/graph/" in path}),
        ("fastapi", {path for path in map(name, runtime_modules()) if path.startswith("webui/")}),
    ],
)
def test_who_imports_a_package(package: str, allowed: set[str]) -> None:
    users = {
        name(path)
        for path in runtime_modules()
        if any(imported.split(".")[0] == package for imported in imports(path))
    }
    assert users, f"nothing imports {package}: the rule has lost its meaning"
    assert users <= allowed


def test_the_memory_works_without_astrbot() -> None:
    """``graph_memory`` without ``host/`` is a library of its own."""
    code = (
        "import sys; sys.modules['astrbot'] = None\n"
        "import graph_memory.service\n"
        "assert not any(m.startswith('astrbot.') for m in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
