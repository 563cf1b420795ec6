"""The settings, the panel that edits them, its languages and the README agree."""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from graph_memory.settings import SETTINGS, Setting

from .cases import each_of

ROOT = Path(__file__).parent.parent
TYPES = {bool: "bool", int: "int", float: "float", str: "string", tuple: "list"}
NAMES = [setting.name for setting in SETTINGS]
EMPTY = {"README.md": "空", "README_en.md": "empty"}
REPLACED = ["enable_group_learning"]
"""Of old: AstrBot would drop what is not in the schema before anybody could read it."""


def load(path: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((ROOT / path).read_text(encoding="utf-8"))
    return data


SCHEMA = load("_conf_schema.json")
LOCALES = {name: load(f".astrbot-plugin/i18n/{name}.json") for name in ("zh-CN", "en-US")}


def test_the_same_settings_in_the_same_order() -> None:
    assert [name for name in SCHEMA if name not in REPLACED] == NAMES
    assert all(SCHEMA[name]["invisible"] for name in REPLACED)
    for locale in LOCALES.values():
        assert list(locale["config"]) == NAMES


def test_few_enough() -> None:
    assert len(NAMES) <= 36


@each_of(SETTINGS)
def test_schema(setting: Setting) -> None:
    entry = SCHEMA[setting.name]
    assert entry["type"] == TYPES[setting.type]
    default = setting.default
    assert entry["default"] == (list(default) if setting.type is tuple else default)
    assert tuple(entry.get("options", ())) == setting.choices
    assert len(entry.get("labels", ())) == len(setting.choices)
    if slider := entry.get("slider"):
        assert (slider["min"], slider["max"]) == (setting.low, setting.high)
    setting.check(entry["default"])


@each_of([*product(SETTINGS, LOCALES)])
def test_every_language_says_what_a_good_value_is(setting: Setting, locale: str) -> None:
    entry = LOCALES[locale]["config"][setting.name]
    assert entry["description"]
    assert len(entry.get("labels", ())) == len(setting.choices)
    hint = entry["hint"]
    assert hint.rstrip()[-1] in "。."
    if setting.type in {int, float}:  # a number's hint names its bounds
        numbers = re.findall(r"\d+(?:\.\d+)?", hint)
        assert f"{setting.low:.12g}" in numbers
        assert f"{setting.high:.12g}" in numbers
        assert "0" in numbers or not setting.zero


def test_the_panels_own_texts_are_the_chinese_ones() -> None:
    for name, entry in LOCALES["zh-CN"]["config"].items():
        assert {key: SCHEMA[name].get(key) for key in entry} == entry


@pytest.mark.parametrize("readme", ["README.md", "README_en.md"])
def test_readme(readme: str) -> None:
    """The few that it names are there, with their defaults; all: ``tests/instruments/docs``."""
    text = (ROOT / readme).read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*?) \|", text, re.MULTILINE))
    told = {name: value.strip("` ") for name, value in rows.items() if "_" in name}
    assert len(told) == 5
    defaults = {setting.name: setting.default for setting in SETTINGS}
    for name, value in told.items():
        assert value == (str(defaults[name]) if defaults[name] else EMPTY[readme]), name
