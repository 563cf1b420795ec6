"""Answers are read however broken they are, or refused with one kind of error."""

import contextlib
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import json_repair
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.dates import extent
from graph_memory.errors import ExtractionError, Failure
from graph_memory.inference import Answer
from graph_memory.learning.parse import MAX_ENTITIES, MAX_FACTS, Extraction, parse
from graph_memory.model import PREDICATES, EntityType

from ..cases import cases, each_of, tabled, words
from ..makers import CHINA

GOOD = {
    "worth": True, "summary": "张三说他搬到了上海，养了一只叫豆豆的猫。",
    "entities": [{"id": "E1", "name": "豆豆", "type": "animal", "aliases": "豆子，小豆"}],
    "facts": [
        {
            "subject": "U1", "predicate": "has_pet", "object": "E1",
            "statement": "张三养了一只叫豆豆的猫", "importance": 0.7, "evidence": "1,3",
            "date": "2026-05-03",
        },
    ],
    "restated": "2", "used": "",
}  # fmt: skip
TEXT = json.dumps(GOOD, ensure_ascii=False)
CASES = cases(Path(__file__).with_name("parse.txt"))
LINES = """\
summary|张三说他搬到了上海，养了一只叫豆豆的猫。
E1|豆豆|animal|豆子，小豆
U1 | has_pet | E1 | 1,3 | 2026-05-03 | 0.7 | | 张三养了一只叫豆豆的猫
restated|2
"""


def check(extraction: Extraction) -> None:
    assert extraction.summaries[0].startswith("张三")
    assert extraction.entities[0].aliases == ("豆子", "小豆")
    assert extraction.entities[0].type is EntityType.ANIMAL
    (fact,) = extraction.facts
    assert (fact.predicate, fact.object, fact.evidence) == ("has_pet", "E1", (1, 3))
    assert fact.importance == 0.7
    assert (extraction.restated, extraction.used, extraction.ended) == ({2: 0}, (), {})


def told(value: Any) -> str:
    """A value as ``parse.txt`` writes it."""
    if isinstance(value, dict):
        value = tuple(f"{known}:{message}" for known, message in value.items())
    if isinstance(value, tuple):
        value = " ".join(map(str, value))
    return ("no", "yes")[value] if isinstance(value, bool) else str(value) or "-"


def hold(extraction: Extraction, what: str, wanted: str) -> None:
    """Hold what a line says was found against what was."""
    match what:
        case "fact" | "entity":
            key, *fields = wanted.split(" | ")
            facts = {fact.statement: fact for fact in extraction.facts}
            found: Any = facts if what == "fact" else {e.id: e for e in extraction.entities}
            for field, _, value in (each.partition(" ") for each in fields):
                assert told(getattr(found[key], field)) == value, field
        case "facts":
            assert [fact.statement for fact in extraction.facts] == words(wanted)
        case "entities":
            assert [thing.id for thing in extraction.entities] == words(wanted)
        case "some":
            assert extraction.facts
        case _:
            assert told(getattr(extraction, what)) == wanted, what


@each_of(CASES)
def test_what_is_read_from_an_answer(name: str):
    given = [line.partition(" ")[::2] for line in CASES[name]]
    mark, text = given[0]
    match mark:
        case ">>":
            answer = Answer("", json.loads(text))
        case ">t":
            answer = Answer(text.replace("\\n", "\n"))
        case _:
            answer = Answer("", {"lines": "\n".join(text for mark, text in given if mark == ">")})
    checks = [text.partition(" ")[::2] for mark, text in given if mark == "="]
    if checks == [("refused", "")]:
        with pytest.raises(ExtractionError):
            parse(answer)
        return
    for what, wanted in checks:
        hold(parse(answer), what, wanted)


@pytest.mark.parametrize("answer", [
    Answer("", GOOD), Answer(TEXT), Answer(f"```json\n{TEXT}\n```"),
    Answer(f"好的，{{注意}}以下是结果：\n\n```\n{TEXT}\n```\n希望有帮助！"),
    Answer(f"<think>{{先想想}}</think>{TEXT}"), Answer(TEXT.replace('"', "'")),
    Answer(TEXT.replace("}]", "},]")), Answer("", {"name": "save_memory", "arguments": GOOD}),
    Answer("", {"name": "save_memory", "arguments": TEXT}), Answer(json.dumps([GOOD])),
    Answer(TEXT, {}), Answer("", {"lines": LINES}), Answer("", {"lines": LINES.splitlines()}),
    Answer("", {"lines": LINES.replace("\n", "\\n")}), Answer("", {"lines": TEXT}),
    Answer("", {"lines": [f"{n}. {each}" for n, each in enumerate(LINES.splitlines())]}),
    Answer(json.dumps({"lines": LINES})), Answer(f'{{"lines": "{LINES}"}}'), Answer(LINES),
    Answer(json.dumps(LINES.splitlines(), ensure_ascii=False, indent=1)),
    Answer("".join(f'- "{each}"\n' for each in LINES.splitlines())),
    Answer(f"好的：\n```\n{LINES}```"), Answer(LINES.replace("|", "｜")),
    Answer(LINES.replace("summary|", "Summary: ")), Answer(LINES.replace("summary|", "摘要：")),
    Answer("", {"line": LINES}), Answer("", {"memories": LINES.splitlines()}),
    Answer(json.dumps({"memories": LINES.splitlines()}, ensure_ascii=False)),
    Answer("", {"facts": LINES.splitlines()}), Answer("", {**GOOD, "facts": LINES.splitlines()[2]}),
    Answer("", {**GOOD, "entities": LINES.splitlines()[1:2]}),
    Answer("", {"summary": GOOD["summary"], "lines": LINES.splitlines()[1:]}),
    Answer("", {"lines": json.dumps({"lines": LINES})}), Answer("", {"lines": GOOD}),
    Answer("", {"lines": [each.split("|") for each in LINES.splitlines()]}),
    Answer(json.dumps(LINES.splitlines(), ensure_ascii=False)),
    Answer("", {"lines": [GOOD["entities"][0], GOOD["facts"][0], *LINES.splitlines()[::3]]}),
    Answer("", {**GOOD, "facts": {"1": GOOD["facts"][0]}}),
])  # fmt: skip
def test_one_answer_in_many_coats(answer: Answer):
    check(parse(answer))


@tabled
def test_a_minus_one_says_that_there_is_none(text: str, numbers: list[int]):
    assert [*parse(Answer("", {"worth": True, "used": text})).used] == numbers
    assert [*parse(Answer("", {"worth": True, "ended": text})).ended] == numbers


def test_of_objects_on_lines_of_their_own_each_is_read():
    facts = [{"subject": "U1", "statement": f"张三喜欢{what}"} for what in ("猫", "狗", "鸟")]
    apart = [json.dumps(fact) for fact in facts]
    for answer in (Answer("", {"lines": apart}), Answer("", {"lines": "\n".join(apart)})):
        assert len(parse(answer).facts) == 3
    assert len(parse(Answer("\n".join(apart))).facts) == 3


def test_of_several_calls_the_lines_of_each_are_read():
    calls = [{"lines": line, "mood": 3} for line in LINES.splitlines()]
    text = "\n".join(json.dumps(call) for call in calls)
    for answer in (Answer("", {"calls": calls}), Answer(text)):
        check(parse(answer))
        assert parse(answer, ["mood"]).extra == {"mood": 3}


def test_a_truncated_answer_keeps_what_was_complete():
    (fact,) = parse(Answer(TEXT[: TEXT.index('"evidence"')])).facts
    assert fact.statement == "张三养了一只叫豆豆的猫"
    assert fact.evidence == ()


@pytest.mark.parametrize(
    "answer",
    [Answer(""), Answer("抱歉，我无法处理这些内容。"), Answer("{}"), Answer("[1, 2]"),
     Answer("", {"foo": "bar"}), Answer("{" * 5000), Answer('{"a":[' * 5000)],
)  # fmt: skip
def test_nothing_usable_is_an_extraction_error(answer: Answer):
    with pytest.raises(ExtractionError):
        parse(answer)


ENDLESS = '{"facts":[{"subject":"U1","statement":"'


@pytest.mark.parametrize(
    "answer",
    [Answer("{" * 60_000), Answer((ENDLESS * 2_000)[:60_000]), Answer("{" * 600),
     Answer("好的。" * 20_000), Answer('{"facts": "' + "我喜欢猫" * 2_000), Answer(TEXT * 200),
     Answer("", {"facts": ENDLESS * 100, "save": ENDLESS * 100}), Answer("", {"save": "{" * 600})],
)  # fmt: skip
def test_an_answer_without_end_is_not_mended(answer: Answer, monkeypatch: pytest.MonkeyPatch):
    def mend(text: str) -> Any:
        pytest.fail(f"{len(text)} characters")

    monkeypatch.setattr(json_repair, "loads", mend)
    if answer.arguments and "facts" in answer.arguments:
        assert parse(answer).facts == ()  # it has our fields, and nothing is to be mended
        return
    with pytest.raises(ExtractionError) as raised:
        parse(answer)
    assert raised.value.kind is Failure.RUNAWAY


def test_the_longest_honest_answer_is_read():
    fact = {"subject": "U1", "predicate": "likes", "object": "E1", "evidence": "1,2,3"}
    facts = [{**fact, "statement": f"{n * 7919 % 997} 张三喜欢" * 9} for n in range(60)]
    things = [{"id": f"E{n}", "name": f"第{n}个", "type": "thing"} for n in range(MAX_ENTITIES)]
    text = json.dumps({"facts": facts, "entities": things}, ensure_ascii=False, indent=2)
    extraction = parse(Answer(text[:-3]))
    assert (len(extraction.facts), len(extraction.entities)) == (MAX_FACTS, MAX_ENTITIES)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["worth", "summary", "facts", "entities", "known", "restated", "subject",
                 "statement", "predicate", "object", "evidence", "replaces", "importance", "name"]
            )
            | st.text(max_size=5),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)  # fmt: skip


def is_clean(extraction: Extraction) -> bool:
    numbers = (*extraction.restated, *extraction.used, *extraction.ended)
    return all(n > 0 for n in numbers) and all(
        f.statement
        and "\n" not in f.statement
        and f.predicate in PREDICATES
        and 0.0 <= f.importance <= 1.0
        and all(n > 0 for n in (*f.evidence, *f.replaces))
        for f in extraction.facts
    )


def read(answer: Answer) -> None:
    with contextlib.suppress(ExtractionError):
        assert is_clean(parse(answer))


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), json_values) | json_values)
def test_any_arguments_are_read_or_refused(data):
    read(Answer("", data if isinstance(data, dict) else {"facts": data}))


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str):
    read(Answer(text))


@given(st.data())
def test_any_damage_to_a_good_answer_is_survived(data):
    start = data.draw(st.integers(0, len(TEXT)))
    end = data.draw(st.integers(start, len(TEXT)))
    noise = data.draw(st.text(alphabet='{}[]",:\\ue 好1', max_size=12))
    read(Answer(TEXT[:start] + noise + TEXT[end:]))


@tabled
def test_dates_are_local_moments(text: str, expected: str | None):
    moment = datetime.fromisoformat(expected).timestamp() if expected else None
    assert (extent(text, CHINA) or (None,))[0] == moment


@given(st.text(max_size=40))
def test_any_text_is_a_moment_or_none(text: str):
    found = extent(text, CHINA)
    assert found is None or (isinstance(found[0], float) and found[0] < found[1])


@tabled
def test_a_predicate_is_known_by_what_people_call_it(word: str, predicate: str):
    line = f"U1|{word}|上海|1||0.5|||张三住在上海"
    assert parse(Answer("", {"lines": line})).facts[0].predicate == predicate


@tabled
def test_prose_that_there_is_nothing_is_an_answer(text: str, is_answer: bool):
    with contextlib.nullcontext() if is_answer else pytest.raises(ExtractionError):
        extraction = parse(Answer(text))
        assert (extraction.facts, extraction.summaries) == ((), ())
