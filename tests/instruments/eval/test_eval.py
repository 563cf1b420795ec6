from datetime import datetime
from pathlib import Path

import pytest

from graph_memory.store import Journal
from tests.recall.hashing import HashingEmbedder

from . import corpus
from .corpus import Query
from .metrics import Scores, Shown, Used, within
from .plain import Plain
from .trial import Trial

OWN = Path(__file__).parent / "data" / "own.jsonl"


def slots(*each: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(slot.split()) for slot in each)


def test_an_item_takes_as_many_places_as_it_shows_messages() -> None:
    ranked = [Shown(frozenset("ab"), 2), Shown(frozenset("c")), Shown(frozenset("d"), 3)]
    assert within(ranked, 5) == ranked[:2]
    assert within(ranked, 6) == ranked
    assert within([Shown(frozenset("a"), 0)] * 3, 2) == [Shown(frozenset("a"), 0)] * 2


def test_scores_of_one_question() -> None:
    scores = Scores()
    ranked = [Shown(frozenset({id})) for id in ("x", "a", "y", "z", "w", "c")]
    used = Used(ranked[:3], 2, 40)
    scores.add(Query("u", "?", "easy", slots("a b", "c")), ranked, ranked[:1], used)
    row = scores.table()["easy"]
    assert (row["er@5"], row["er@10"], row["all@10"], row["mrr"]) == (0.5, 1.0, 1.0, 0.5)
    assert row["er@600t"] == 0
    assert (row["in use"], row["as many lines"], row["tokens"]) == (0.5, 0.5, 40)
    assert scores.table()["all"] == row


@pytest.mark.parametrize(("text", "time"), [
    ("2024年04月01日 周一 08:11", "2024-04-01 08:11"),
    ("1:56 pm on 8 May, 2023", "2023-05-08 13:56"), ("2023-04-27", "2023-04-27 00:00"),
    ("29.12.2023, 00:51:12", "2023-12-29 00:51:12"),
])  # fmt: skip
def test_times_as_the_files_write_them(text: str, time: str) -> None:
    assert corpus.when(text) == datetime.fromisoformat(f"{time}+00:00").timestamp()
    assert corpus.when("") is None
    with pytest.raises(ValueError, match="上周五"):
        corpus.when("上周五")


def test_lines_of_one_conversation_stay_close_and_others_apart() -> None:
    said = {"t": "mem", "ns": "u", "text": "嗯", "speaker": "user", "time": "2024-01-01"}
    read = corpus.parse(
        [
            {**said, "id": "1", "session": "a"},
            {**said, "id": "2", "session": "a"},
            {**said, "id": "3", "time": ""},
        ]
    )
    first, second, third = (line.at for line in read.people["u"].lines)
    assert second - first == corpus.LINE
    assert third - second == corpus.PAUSE


def test_plain_retrieval_finds_the_rare_word() -> None:
    plain = Plain(["我对花生过敏", "我喜欢跑步", "今天下雨"], None)
    assert plain.rank("花生能吃吗", None)[0] == 0


@pytest.mark.parametrize("words_only", [True, False])
async def test_own_file_through_the_products_own_path(journal: Journal, words_only: bool) -> None:
    read = corpus.read(OWN)
    embedder = None if words_only else HashingEmbedder()
    summary = (await Trial(read, journal, embedder).run()).summary()
    assert summary["leak"] == 0
    said = [line.text for person in read.people.values() for line in person.lines]
    kept = [text for text in said if text != "How was it?"]  # which says nothing
    assert len(kept) == len(said) - 1
    learned = sum(len(person.observations) for person in read.people.values())
    assert summary["documents"] == len(kept) + learned
    scores, plain = summary["all"], summary["rrf"]
    assert scores["n"] == plain["n"] == len(read.queries)
    # Hashed vectors know nothing of meaning and make recall doubt the words.
    assert scores["er@10"] > (0.95 if words_only else 0.5)
    categories = {"single", "context", "bridge", "several"}
    assert set(plain["categories"]) == categories
    assert all(summary[category]["n"] < scores["n"] for category in categories)


def test_a_limit_takes_questions_from_the_whole_file() -> None:
    read = corpus.read(OWN, 10)
    assert len(read.queries) == 10
    assert len({query.owner for query in read.queries}) > 1
