"""Dependencies point one way, as the layers in ``docs/architecture.md`` say."""

import functools
import itertools
import re
import subprocess
import sys

import pytest

from tests.sources import ROOT, imports, name, runtime_modules

pytestmark = pytest.mark.xdist_group("sources")

LAYERS = re.compile(r"^```layers\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def room(module: str) -> str:
    """The room a dotted name belongs to; empty for other people's packages."""
    first, *rest = module.split(".")
    if first == "graph_memory":
        return rest[0] if rest else "graph_memory"
    return first if first in ("main", "webui") else ""


def layers() -> list[set[str]]:
    """Rooms by layer, the highest first, as ``docs/architecture.md`` has them."""
    found = LAYERS.search((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    return [set(re.findall(r"\w+", line)) for line in found[1].splitlines()]


@functools.cache
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


def test_every_room_is_in_one_layer() -> None:
    named = [room for layer in layers() for room in sorted(layer)]
    assert sorted(named) == sorted(set(uses()) - {"graph_memory"})


def test_a_room_imports_only_from_lower_layers() -> None:
    higher = {}
    for own in set(uses()) - {"graph_memory"}:
        _, *below = itertools.dropwhile(lambda layer, own=own: own not in layer, layers())
        higher[own] = uses()[own] - {"graph_memory"} - set().union(*below)
    assert not {own: rooms for own, rooms in higher.items() if rooms}


@pytest.mark.parametrize(("package", "allowed"), [
    ("astrbot", r"main\.py|.*/astrbot/.*"), ("kuzu", ".*/graph/.*"), ("ladybug", ".*/graph/.*"),
    ("mcp", r"graph_memory/mcp_server\.py"), ("fastapi", "webui/.*"),
])  # fmt: skip
def test_who_imports_a_package(package: str, allowed: str) -> None:
    users = [
        name(path)
        for path in runtime_modules()
        if any(imported.split(".")[0] == package for imported in imports(path))
    ]
    assert users, f"nothing imports {package}: the rule has lost its meaning"
    assert [user for user in users if not re.fullmatch(allowed, user)] == []


def test_a_start_does_without_what_not_every_chat_needs() -> None:
    late = {"kuzu", "snowballstemmer", "json_repair", "jinja2", "numkong", "detect_secrets"}
    code = f"import sys, graph_memory.service, webui; print({late} & {{*sys.modules}} or 0)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "0"


def test_the_memory_works_without_astrbot() -> None:
    """``graph_memory`` without ``host/`` is a library of its own."""
    code = (
        "import sys; sys.modules['astrbot'] = None\n"
        "import graph_memory.service\n"
        "assert not any(m.startswith('astrbot.') for m in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
