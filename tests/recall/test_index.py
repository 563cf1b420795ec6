from dataclasses import replace

import numpy as np
import pytest

from graph_memory import text
from graph_memory.model import Fact, Message, Op, asker_of, encode
from graph_memory.privacy.scope import Attendance, Policy, Sharing, view
from graph_memory.recall import index as index_module
from graph_memory.recall.documents import VectorIndex
from graph_memory.recall.index import Index
from graph_memory.recall.lexical import InvertedIndex, NameIndex
from graph_memory.recall.query import Question, RecallOptions, split
from graph_memory.recall.ranking import SearchContext
from graph_memory.recall.recaller import search
from graph_memory.recall.render import ZH, Item
from tests.makers import CHINA, T0, entity, fact, name, private, user

from .hashing import WIDTH, vector

HOME = private("1")
ME = user("1")


def found_by(index: Index, text: str) -> list[str]:
    return [item.id for item in _found(index, text)]


def shown(index: Index, text: str) -> list[str]:
    return [item.text for item in _found(index, text)]


def _found(index: Index, text: str) -> tuple[Item, ...]:
    asker = asker_of(HOME, ME)
    seen = view(HOME, asker, Policy(), Attendance())
    assert seen
    asked, context = Question(asker, text, text, split(text)), SearchContext(T0, CHINA)
    return search(index, {HOME.id: seen}, asked, RecallOptions(limit=5), context).items


def message(number: int, text: str) -> Message:
    return Message(number, HOME.id, ME, "我", text, T0 + 900.0 * number)


@pytest.mark.parametrize("is_message", [True, False])
def test_no_cache_keeps_a_text_that_is_gone(is_message: bool) -> None:
    index, row = Index(), fact(HOME, ME, entity("x"), "Zebras were counted")
    index.enter([message(1, "花生过敏"), Op(Fact.kind, row.id, None, encode(row))])
    index.enter([1 if is_message else Op(Fact.kind, row.id, encode(row), None)])
    assert not any(cache.cache_info().currsize for cache in text._CACHES)


def test_postings_follow_additions_and_removals() -> None:
    lexical = InvertedIndex()
    lexical.add(1, ["花生", "花生", "过敏"])
    lexical.add(2, ["花生"])
    lexical.add(3, ["花生"] * 99)
    numbers, frequencies, ends = lexical.postings(["过敏", "花生"])
    assert ends.tolist() == [1, 4]
    assert (numbers[0], frequencies[0]) == (1, 1)
    found = zip(numbers[1:].tolist(), frequencies[1:].tolist(), strict=True)
    assert dict(found) == {1: 2, 2: 1, 3: 15}
    lexical.remove(1, ["花生", "花生", "过敏"])
    lexical.remove(3, ["花生"] * 99)
    numbers, _, ends = lexical.postings(["过敏", "花生"])
    assert (numbers.tolist(), ends.tolist()) == ([2], [0, 1])
    assert lexical.is_lone("花生")
    lexical.remove(2, ["花生"])
    assert lexical.postings(["花生"])[0].tolist() == []


def _units(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_cosines_are_the_same_however_rows_are_read() -> None:
    rng = np.random.default_rng(3)
    vectors = VectorIndex("m", 0.1)
    rows = _units(rng.standard_normal((1_500, 48)))
    vectors.put(range(700), rows[:700])
    vectors.put(range(1_499, 699, -1), rows[:699:-1])
    assert vectors.count == 1_500
    query = _units(rng.standard_normal((1, 48)))[0]
    everything = vectors.cosines(np.arange(1_500, dtype=np.intp), query)
    assert np.allclose(everything, rows @ query, atol=5e-3)
    for size in (1, 7, 600, 1_400):
        some = np.sort(rng.choice(1_500, size, replace=False)).astype(np.intp)
        assert np.array_equal(vectors.cosines(some, query), everything[some])


def test_documents_without_a_vector_have_no_similarity() -> None:
    vectors = VectorIndex("m", 0.1)
    vectors.put([1], vector("花生")[np.newaxis])
    numbers = np.array([0, 1, 9], np.intp)
    assert np.isnan(vectors.cosines(numbers, vector("花生"))).tolist() == [True, False, True]
    assert np.isnan(vectors.cosines(numbers, vector("花生")[:3])).all()
    vectors.remove(1)
    assert vectors.count == 0
    assert np.isnan(vectors.cosines(numbers, vector("花生"))).all()


def test_vectors_that_are_refused_first_spoil_nothing() -> None:
    vectors = VectorIndex("m", 0.1)
    with pytest.raises(ValueError, match="no vectors of m"):
        vectors.put([0], np.full((1, WIDTH + 1), np.nan, np.float32))
    assert vectors.pairwise([0, 1]) is None
    vectors.put([0], vector("花生")[np.newaxis])
    likeness = vectors.pairwise([0, 1])
    assert likeness is not None
    assert np.allclose(likeness, [[1, 0], [0, 0]], atol=1e-3)


@pytest.mark.parametrize("bad", [np.zeros(WIDTH + 1, np.float32), np.full(WIDTH, np.nan)])
def test_unusable_vectors_are_refused(bad: np.ndarray) -> None:
    vectors = VectorIndex("m", 0.1)
    vectors.put([0], vector("花生")[np.newaxis])
    with pytest.raises(ValueError, match="no vectors of m"):
        vectors.put([1], bad[np.newaxis])
    with pytest.raises(ValueError, match="no vectors of m"):
        vectors.put([1, 2], vector("花生")[np.newaxis])
    assert vectors.count == 1


def test_a_freed_number_carries_nothing_over() -> None:
    index = Index()
    index.use(VectorIndex("m", 0.1))
    index.put(HOME)
    gone = fact(HOME, ME, entity("猫"), "张三养了一只布偶猫")
    index.put(gone)
    index.put_vectors(index.vectorless(9), [vector("x")], "m")
    index.drop("fact", gone.id)
    index.put_message(message(1, "张三买了新键盘"))
    assert index.documents.number("m1") == 0
    assert index.vectors.count == 0
    assert [item.key for item in index.vectorless(9)] == ["m1"]
    assert found_by(index, "布偶猫") == []


def test_vectors_of_a_text_that_changed_meanwhile_are_dropped() -> None:
    index = Index()
    index.use(VectorIndex("m", 0.1))
    index.put(HOME)
    first = fact(HOME, ME, entity("猫"), "张三养了一只布偶猫")
    index.put(first)
    items = index.vectorless(9)
    index.put(replace(first, statement="张三养了一条柯基犬"))
    index.put_vectors(items, [vector("布偶猫")], "m")
    index.put_vectors(items, [vector("布偶猫")], "another")
    assert index.vectors.count == 0


def test_only_the_newest_messages_are_kept_and_those_facts_rest_on(monkeypatch) -> None:
    monkeypatch.setattr(index_module, "MAX_MESSAGES", 3)
    index = Index()
    index.put(HOME)
    index.put_message(message(1, "我对花生过敏"))
    index.put(fact(HOME, ME, entity("花生"), "张三对花生过敏", evidence=(1,)))
    for number in range(2, 7):
        index.put_message(message(number, f"第{number}天下雨"))
    kept = [index.message(number) is not None for number in range(1, 7)]
    assert kept == [True, False, False, True, True, True]


def test_the_longest_visible_name_counts() -> None:
    names = NameIndex()
    short, long, latin = (
        name(HOME, "e:1", "小明"),
        name(private("2"), "e:2", "小明明"),
        name(HOME, "e:3", "Ann"),
    )
    for each in (short, long, latin):
        names.put(each)
    everybody = names.mentioned("小明明和ANN来了", lambda _: True)
    assert everybody == {"e:2": "小明明", "e:3": "ann"}
    mine = names.mentioned("小明明和ANN来了", lambda each: each.session == HOME.id)
    assert mine == {"e:1": "小明", "e:3": "ann"}
    assert names.mentioned("Annual planning", lambda _: True) == {}
    names.drop(short.id)
    assert names.mentioned("小明来了", lambda _: True) == {}


def test_what_two_cards_begin_with_is_a_name() -> None:
    names = NameIndex()
    here, there = private("2"), private("3")
    cards = name(HOME, ME, "诺诺带班中"), name(here, ME, "诺诺休假"), name(there, "u:2", "诺诺")
    for each in (*cards, name(HOME, "u:3", "今天真累"), name(HOME, "u:3", "今天不错")):
        names.put(each)
    assert names.mentioned("诺诺几点来", lambda _: True) == {"u:2": "诺诺"}
    names.drop(cards[2].id)
    assert names.mentioned("诺诺几点来", lambda _: True) == {ME: "诺诺"}
    assert names.mentioned("今天几点来", lambda _: True) == {}, "says nothing"
    assert names.mentioned("诺诺", lambda each: each.session == HOME.id) == {}, "one is hidden"
    names.put(name(there, ME, "诺诺带班中"))
    names.drop(cards[1].id)
    assert names.mentioned("诺诺", lambda _: True) == {}, "of one card, where does the name end?"


def test_citations_are_of_messages_in_sight() -> None:
    index = Index()
    first, last = sorted((HOME, private("1", "lan")), key=lambda session: session.id)
    for session in (first, last):
        index.put(session)
    index.put_message(Message(1, first.id, ME, "我", "张三买了新键盘", T0))
    index.put_message(Message(2, last.id, ME, "我", "张三的键盘坏了", T0))
    index.put(fact(first, ME, entity("键盘"), "张三有坏键盘", evidence=(2,)))
    everything = Policy(Sharing.SHARED)
    asker = asker_of(HOME, ME)
    views = {s.id: view(s, asker, everything, Attendance()) for s in (first, last)}
    sight = index.visible({id: seen for id, seen in views.items() if seen})
    keys = [index.documents[number].key for number in sight.numbers.tolist()]
    assert [keys[0], keys[2]] == ["m1", "m2"]
    assert sight.citations([0, 2]) == [(1, 2)]
    assert sight.citations([0, -1]) == []
    assert sight.citations([]) == []


def test_no_name_outlives_what_was_said_under_it() -> None:
    index = Index()
    index.put(HOME)
    for number, who in enumerate(("小红", "小红", "Anna Li"), 1):
        index.put_message(replace(message(number, "我买了自行车"), sender=user(who), name=who))
    documents = index.documents
    numbers = np.array(documents.numbers(), np.intp)
    assert documents.under("小红和Anna呢", numbers).tolist() == [True] * 3
    index.enter([1, 3])
    assert "小红" in repr(vars(documents))
    assert "Anna" not in repr(vars(documents))
    assert documents.under("小红和Anna呢", np.array(documents.numbers(), np.intp)).tolist() == [
        True
    ]
    index.put_message(replace(message(4, "我买了自行车"), sender=user("Bo"), name="Bob"))
    assert documents.under("小红", np.array(documents.numbers(), np.intp)).tolist() == [True, False]


@pytest.mark.parametrize("is_late", [False, True])
def test_what_was_said_is_out_of_date_whenever_it_arrives(is_late: bool) -> None:
    """Facts come first from another bot; what was said in confidence comes again."""
    index, said = Index(), message(1, "我住在北京朝阳区")
    old = fact(HOME, ME, entity("北京"), "小明住在北京", evidence=(1,))
    new = fact(HOME, ME, entity("上海"), "小明住在上海", supersedes=(old.id,))
    index.put(HOME)
    if not is_late:
        index.put_message(said)
    index.put(old)
    index.put(new)
    index.put_message(replace(said, confided=True))
    (seen,) = [text for text in shown(index, "朝阳区") if "朝阳" in text]
    assert ZH["replaced"] in seen
    index.drop(Fact.kind, old.id)
    (seen,) = [text for text in shown(index, "朝阳区") if "朝阳" in text]
    assert ZH["replaced"] not in seen
    assert not index._awaited
