"""Budget: the product grows by what somebody decided, not by itself.

Lines of code are counted without docstrings, comments, blank lines and imports, so that nobody
saves the words that explain it. Who makes it smaller lowers the numbers here.
"""

import ast
import io
import tokenize
from collections.abc import Iterator

import pytest

from tests.sources import name, parsed, read, runtime_modules, tree

pytestmark = pytest.mark.xdist_group("sources")

CODE = 25_284
MODULES = 157
WEBUI = 2_851
"""Lines of the web UI's Python, all counted: what pages show is in ``inspect/presentation.py``.
The page by itself (``webui/__main__.py``) is not part of it."""
LONGEST, MEAN = 60, 12
"""Lines of a function, from ``def`` to its end."""
SILENT = (
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
)  # fmt: skip


def left_out(module: ast.Module) -> Iterator[int]:
    """Lines of imports and of strings that stand alone."""
    for node in ast.walk(module):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            is_text and isinstance(node.value.value, str)
        ):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def code_lines(text: str) -> int:
    """Lines of a module that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - set(left_out(parsed(text))))


def functions() -> Iterator[tuple[str, int]]:
    """Every function of the product, and how many lines it takes."""
    for path in runtime_modules():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{name(path)}:{node.name}", (node.end_lineno or 0) - node.lineno + 1


def test_what_counts_as_code() -> None:
    head = '"""Text."""\n\nimport os\n\n# why\nA = 1\n"""What it is."""\n\n\n'
    assert code_lines(f'{head}def f():\n    """Do."""\n    return (\n        os\n    )\n') == 5


def test_there_is_no_more_code_than_was_decided() -> None:
    assert sum(code_lines(read(path)) for path in runtime_modules()) <= CODE


def test_there_are_no_more_modules_than_was_decided() -> None:
    assert len(runtime_modules()) <= MODULES


def test_the_web_ui_is_small() -> None:
    webui = (path for path in runtime_modules() if name(path).startswith("webui"))
    of_pages = [path for path in webui if path.stem != "__main__"]
    assert sum(len(read(path).splitlines()) for path in of_pages) <= WEBUI


def test_functions_are_small() -> None:
    sizes = dict(functions())
    assert not {place: lines for place, lines in sizes.items() if lines > LONGEST}
    assert sum(sizes.values()) / len(sizes) <= MEAN
