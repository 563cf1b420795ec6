"""What pages name is there in both languages, and nothing is left over."""

import re
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from graph_memory.graph import GraphState
from graph_memory.locales import TEXTS, Translator
from graph_memory.model import PREDICATES, EntityType
from graph_memory.store.rows import ASKED, EXPIRED, RETRACTED
from tests.cases import rows

ROOT = Path(__file__).resolve().parents[2]
WEBUI, STATIC = ROOT / "webui", ROOT / "pages/memory/static"
OUTLINES = set(
    re.findall(
        r'^  "(\w+)": "M', (WEBUI / "templates/macros.html").read_text("utf-8"), re.MULTILINE
    )
)
ZONE = ZoneInfo("Asia/Shanghai")


def test_every_key_a_template_names_exists() -> None:
    source = "".join(path.read_text("utf-8") for path in WEBUI.glob("templates/*.html"))
    named = set(re.findall(r"\bt\('([\w.]+)'[,)]", source))
    assert len(named) > 60
    assert named <= set(TEXTS["zh"])


def test_every_key_a_script_names_exists() -> None:
    source = "".join(path.read_text("utf-8") for path in STATIC.glob("js/**/*.js"))
    named = set(re.findall(r"\bwords\.(\w+)", source))
    named |= {f"colour_{rule}" for rule in ("group", "persona", "strength")}
    named |= {"clear", "dim", "faint"}  # grades of strength, by which the legend names them
    assert named == {key[9:] for key in TEXTS["zh"] if key.startswith("graph_js.")}


def test_no_message_is_left_over() -> None:
    sources = [*WEBUI.glob("templates/*.html"), *STATIC.glob("js/**/*.js"), *WEBUI.rglob("*.py")]
    source = "".join(path.read_text("utf-8") for path in sources)
    composed = tuple(rows(__file__, "composed"))
    for key in [key for key in TEXTS["zh"] if "." in key]:
        assert f"'{key}'" in source or key.startswith(composed), key


def test_everything_the_model_names_has_a_word() -> None:
    keys = set(TEXTS["zh"])
    assert {f"predicate.{name}" for name in PREDICATES} <= keys
    assert {f"type.{name}" for name in OUTLINES} <= keys
    assert {f"graph_state.{state.value}" for state in GraphState} <= keys
    assert {*EntityType, "user", "session"} == OUTLINES


def test_every_change_has_words_for_who_and_why() -> None:
    source = "".join(path.read_text("utf-8") for path in (ROOT / "graph_memory").rglob("*.py"))
    whys = {*re.findall(r'\bDraft\([^,]+, "([^"]+)"', source), ASKED, EXPIRED, RETRACTED}
    whos = {*re.findall(r'\b(?:ACTOR|OWNER) = "(\w+)"', source), "chat"}
    assert len(whys) > 20
    keys = {f"reason.{why}" for why in whys - {"intake"}} | {f"actor.{who}" for who in whos}
    assert keys <= set(TEXTS["zh"])


def test_dates_are_shown_in_the_zone_of_the_chat() -> None:
    at = 1_760_000_000.0
    assert Translator("zh", ZONE).moment(at) == "2025年10月9日 16:53"
    assert Translator("en", ZONE).moment(at) == "9 Oct 2025 16:53"
    assert Translator("en", ZoneInfo("UTC")).moment(at) == "9 Oct 2025 08:53"


@pytest.mark.parametrize(("precision", "zh", "en"), [
    ("", "2025年10月9日", "9 Oct 2025"), ("month", "2025年10月", "Oct 2025"),
    ("year", "2025年", "2025"),
])  # fmt: skip
def test_a_vague_date_stays_vague(precision: str, zh: str, en: str) -> None:
    for language, text in (("zh", zh), ("en", en)):
        assert Translator(language, ZONE).day(1_760_000_000.0, precision) == text


@pytest.mark.parametrize("at", [None, float("inf"), float("nan"), 1e300])
def test_no_date_is_a_dash(at: float | None) -> None:
    assert Translator("zh", ZONE).day(at) == Translator("zh", ZONE).moment(at) == "—"


def test_values_are_not_read_as_messages() -> None:
    assert Translator("zh")("graph.found", text="{count}") == "名字里有“{count}”的"
    assert Translator("zh")("no.such.key", text="x") == "no.such.key"


def test_one_is_not_many() -> None:
    english = Translator("en")
    said = [english("node.spoke", count=english.number(n)) for n in (1, 2, 1_000)]
    assert said == ["1 message", "2 messages", "1,000 messages"]
    assert english("preview.forget", count=1) == "Forget 1 memory?"
    assert english("graph.shown", shown=1, total=1) == "Showing 1 of 1 neighbour"
    assert english("changes.more", count=1) == "1 more is not shown."
    assert Translator("zh")("preview.forget", count=1) == "忘记 1 条记忆？"
