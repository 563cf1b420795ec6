"""That what is searched for is drawn by rule, and that a search which misses is noticed."""

from graph_memory.recall import search
from graph_memory.store import Journal

from . import corpus
from .search import SearchReport, drawn, holds, joined, measure
from .test_eval import OWN
from .trial import Trial

PAIRS = 60


async def searched(journal: Journal) -> SearchReport:
    trial = Trial(corpus.read(OWN), journal, None)
    async with trial.recaller() as recaller:
        await trial.fill(recaller)
        pairs = await drawn(journal, PAIRS)
        assert pairs == await drawn(journal, PAIRS)
        assert {pair.kind for pair in pairs} == {"words", "numbers"}  # nobody has a name
        assert all(holds(pair.word, pair.message.text) for pair in pairs)
        return await measure(journal, recaller, PAIRS)


async def test_all_that_was_said_is_found(journal: Journal) -> None:
    report = await searched(journal)
    found = joined([report, SearchReport()]).summary()
    assert found["pairs"] == PAIRS
    assert found["missed"] == []
    assert {share for share, _ in found["on_first_page"].values()} == {1.0}
    assert found["beside"] <= 0.2


async def test_a_search_with_a_floor_is_noticed(journal, monkeypatch):
    monkeypatch.setattr(search, "_holding", lambda *_: iter(()))
    found = (await searched(journal)).summary()
    assert found["reached"] < 1
    assert found["missed"]


def test_what_holds_a_word() -> None:
    assert holds("年会", "公司年会改期")
    assert holds("bike", "Two BIKES")
    assert not holds("art", "an article")
    assert holds("13", "第13场")
    assert not holds("13", "2013年")
