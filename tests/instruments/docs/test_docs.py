"""The pages of the documentation: what is generated is as the code is, links lead somewhere."""

import re
from pathlib import Path

import pytest

from graph_memory.settings import SETTINGS
from tests.instruments.docs import generated
from tests.sources import ROOT, read

READMES = {"README.md": "zh", "README_en.md": "en"}
PAGES = sorted(path.name for path in (ROOT / "docs" / "zh").glob("*.md"))
NAMED = re.compile(r"`(/\w+[^`]*|\./dev[^`]*|[a-z]+(?:_[a-z]+)+)`")


def anchor(heading: str) -> str:
    """A heading as a link to it names it."""
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def test_generated_parts_are_as_the_code_is() -> None:
    """Else ``./dev docs`` writes them."""
    pages = list(generated.pages())
    assert len(pages) == 2 * len(generated.PARTS)
    assert [str(path) for path, text in pages if read(path) != text] == [], "./dev docs"


@pytest.mark.parametrize("language", generated.LANGUAGES)
def test_every_command_and_setting_is_told(language: str) -> None:
    from graph_memory.astrbot import APART, COMMANDS

    told = generated.commands(language)
    assert [c.name for c in (*COMMANDS, *APART) if f"`/memory {c.name}" not in told] == []
    rows = re.findall(r"^\| `(\w+)` \|", generated.settings(language), re.MULTILINE)
    assert rows == [setting.name for setting in SETTINGS]


def test_a_bar_in_a_cell_ends_no_cell() -> None:
    assert generated.table(("a", "b"), iter([("x|y", "z")])).splitlines()[2] == r"| x\|y | z |"


def test_each_page_is_there_in_both_languages() -> None:
    assert sorted(path.name for path in (ROOT / "docs" / "en").glob("*.md")) == PAGES
    assert len(PAGES) >= 7


@pytest.mark.parametrize(
    "pair", [("README.md", "README_en.md"), *((f"docs/zh/{p}", f"docs/en/{p}") for p in PAGES)]
)
def test_both_languages_tell_of_the_same(pair: tuple[str, str]) -> None:
    chinese, english = (re.sub(r"<[^>]*>", "<>", read(ROOT / page)) for page in pair)
    assert chinese.count("\n## ") == english.count("\n## ")
    assert chinese.count("\n- ") == english.count("\n- ")
    assert chinese.count("\n| ") == english.count("\n| ")
    assert chinese.count("\n**") == english.count("\n**")
    both = ({name.split()[0] for name in NAMED.findall(each)} for each in (chinese, english))
    first, second = ({name for name in each if not name.startswith("/记忆")} for each in both)
    assert first - {"/memory"} == second - {"/memory"}


@pytest.mark.parametrize("readme", READMES)
def test_the_readme_is_read_in_a_minute(readme: str) -> None:
    text = read(ROOT / readme)
    assert text.count("\n") <= 150
    commands = set(re.findall(r"^\| `/memory (\w+)", text, re.MULTILINE))
    assert len(commands) == 6
    told = generated.commands(READMES[readme])
    assert [name for name in commands if f"/memory {name}" not in told] == []
    linked = {Path(target).name for target in re.findall(r"\]\((docs/\w\w/[^)#]+)", text)}
    assert linked == set(PAGES)


@pytest.mark.parametrize("readme", READMES)
def test_what_the_readme_points_at_is_there(readme: str) -> None:
    for target, place in re.findall(r"\]\((docs/[^)#]+)#([^)]+)\)", read(ROOT / readme)):
        headings = re.findall(r"^#+ (.+)$", read(ROOT / target), re.MULTILINE)
        assert place in map(anchor, headings), f"{target}#{place}"
