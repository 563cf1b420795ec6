"""A few days of the simulation, and its plot."""

from xml.etree import ElementTree

import pytest

from .life import Life, midnight
from .plot import Panel, draw
from .survey import picture
from .years import SCENARIOS, ZONE, live

pytestmark = pytest.mark.slow


def test_the_chat_is_the_same_every_time_and_tells_what_is_asked_for():
    life, again = Life(midnight(ZONE)), Life(midnight(ZONE))
    days = [life.day(number) for number in range(60)]
    assert days == [again.day(number) for number in range(60)]
    lines = [line for day in days for talk in day for line in talk]
    assert lines == sorted(lines, key=lambda line: line.at)
    said = {line.text for line in lines}
    assert all(f"我在{one.place}买了一个{one.thing}" in said for one in life.once)
    assert len({one.words for one in life.once}) == len(life.once) > 30
    for trait in life.traits:
        assert (trait.says.format(trait.value) in said) is (trait.since >= 0)
    assert sum(trait.since >= 0 for trait in life.traits) > len(life.traits) * 2 / 3


def test_some_days_of_it():
    (month,) = live("forgetting", 12)
    assert month["messages"] > 500
    assert month["live"] > 10
    assert month["records"] > 12, "days and weeks"
    assert month["archived"] == 0
    assert month["hits"]["current"] > 0.8
    assert month["hits"]["lately"] == 1.0
    assert month["hits"]["long_ago"] is None
    assert min(month["journal_mb"], month["graph_mb"], month["p50_ms"]) > 0
    assert month["night_s"] > 0
    xml = ElementTree.fromstring(picture({name: [month] for name in SCENARIOS}))
    assert xml.tag.endswith("svg")


def test_a_plot_draws_what_there_is():
    text = draw("<A & B>", ["1", "2", "3"], [Panel("p", {"x": [None, 1.0, 3.0], "y*": [2.0] * 3})])
    xml = ElementTree.fromstring(text)
    found = [line.attrib for line in xml.iter() if line.tag.endswith("polyline")]
    drawn = [line for line in found if line["stroke-width"] == "2"]
    assert [len(line["points"].split()) for line in drawn[-2:]] == [2, 3]
    assert "stroke-dasharray" in drawn[-1]
    assert "<A & B>" in [each.text for each in xml.iter()]
