"""Answers are read however broken they are, or refused with one kind of error."""

import contextlib
import json
from datetime import datetime
from typing import Any

import json_repair
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.dates import extent
from graph_memory.errors import ExtractionError, Failure
from graph_memory.inference.ports import Answer
from graph_memory.learning.parse import MAX_ENTITIES, MAX_FACTS, Extraction, parse
from graph_memory.model import PREDICATES, EntityType

from ..cases import tabled
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


def test_known_numbers_may_be_nested_lists_or_text():
    nested = {"worth": True, "known": {"restated": [1, "2"], "used": "[3]、4", "ended": 5}}
    extraction = parse(Answer("", nested))
    assert (extraction.restated, extraction.used, extraction.ended) == (
        {1: 0, 2: 0},
        (3, 4),
        {5: 0},
    )


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


def test_what_a_fact_is_about_may_be_an_object():
    cat = {"id": "E7", "name": "豆豆", "type": "animal"}
    said = {"subject": {"id": "U1"}, "object": cat, "statement": "张三养了豆豆"}
    for answer in (Answer("", {"facts": [said]}), Answer(json.dumps([said]))):
        extraction = parse(answer)
        assert [(fact.subject, fact.object) for fact in extraction.facts] == [("U1", "E7")]
        assert [(thing.id, thing.name) for thing in extraction.entities] == [("E7", "豆豆")]


@pytest.mark.parametrize("end", ["|||养猫 宠物|张三养了猫", "|||||养猫 宠物|张三养了猫"])
def test_keywords_behind_a_part_too_many_are_no_part_of_the_statement(end: str):
    (fact,) = parse(Answer("", {"lines": f"U1|has_pet|猫|1||0.5{end}"})).facts
    assert (fact.statement, fact.keywords) == ("张三养了猫", "养猫 宠物")


def test_a_keyword_that_says_that_there_is_none_is_none():
    (fact,) = parse(Answer("", {"lines": "U1|likes|猫|1||0.5||无 暂无 宠物|张三喜欢猫"})).facts
    assert fact.keywords == "宠物"


def test_an_error_with_a_bar_is_no_answer():
    for answer in (Answer("502 | bad gateway"), Answer("", {"error": {"detail": "a|b"}})):
        with pytest.raises(ExtractionError):
            parse(answer)


def test_what_is_quoted_in_a_line_is_no_answer():
    bare = [{"subject": "U1", "statement": "张三喜欢猫", "evidence": [1]}]
    assert parse(Answer("", {"lines": bare})).facts[0].statement == "张三喜欢猫"
    lines = f"U1|likes|猫|1||0.5|||张三说 {json.dumps(bare)}"
    assert parse(Answer("", {"lines": [lines]})).facts[0].statement.startswith("张三说")


@pytest.mark.parametrize("more", [
    {"marks": ["secret", ">3", "hearsay"]}, {"secret": True, "hearsay": "yes", "replaces": [3]},
])  # fmt: skip
def test_an_object_has_its_marks_in_a_list_or_by_themselves(more: dict[str, Any]):
    said = {"subject": "U1", "statement": "张三要辞职", "evidence": 1}
    (fact,) = parse(Answer("", {"facts": [{**said, **more}]})).facts
    assert (fact.secret, fact.hearsay, fact.past, fact.replaces) == (True, True, False, (3,))


@pytest.mark.parametrize(("marks", "found"), [
    ("要保密", "secret"), ("保密 >3", "secret"), ("[secret]", "secret"), ("聽說", "hearsay"),
    ("以前是", "past"), ("past>3", "past"), ("以前的工作 不保密", ""), ("", ""),
])  # fmt: skip
def test_marks_are_known_by_the_words_that_explain_them(marks: str, found: str):
    (fact,) = parse(Answer("", {"lines": f"U1|status||3||0.6|{marks}||张三要求婚"})).facts
    assert [mark for mark in ("past", "hearsay", "secret") if getattr(fact, mark)] == found.split()


@pytest.mark.parametrize("said", [
    {"subject": "U1", "predicate": "likes", "object": "猫", "messages": [2], "statement": "喜欢猫"},
    {"主": "U1", "谓词": "likes", "宾": "猫", "消息": "2", "陈述": "喜欢猫"},
])  # fmt: skip
def test_objects_have_their_fields_by_what_the_prompt_calls_them(said: dict[str, Any]):
    for answer in (Answer("", {"facts": [said]}), Answer(json.dumps([said], ensure_ascii=False))):
        (fact,) = parse(answer).facts
        assert (fact.subject, fact.predicate, fact.object) == ("U1", "likes", "猫")
        assert (fact.evidence, fact.statement) == ((2,), "喜欢猫")


def test_a_truncated_answer_keeps_what_was_complete():
    (fact,) = parse(Answer(TEXT[: TEXT.index('"evidence"')])).facts
    assert fact.statement == "张三养了一只叫豆豆的猫"
    assert fact.evidence == ()


def test_bad_items_are_dropped_and_good_ones_stay():
    odd = {
        "subject": "U1", "statement": ["张三喜欢猫"], "predicate": "LOVES", "importance": "9",
        "evidence": ["1", 2.0, True, -3, None, "U2 说 4"], "past": "false",
    }  # fmt: skip
    nodes = ["豆豆", {"id": 3, "name": "北京", "type": "城市"}, {"name": ""}, None]
    facts = ["张三喜欢猫", {"subject": "U1"}, odd]
    extraction = parse(Answer("", {"worth": "是", "entities": nodes, "facts": facts}))
    (entity,) = extraction.entities
    assert (entity.id, entity.name, entity.type) == ("3", "北京", EntityType.TOPIC)
    (fact,) = extraction.facts
    assert (fact.predicate, fact.importance, fact.evidence) == ("other", 0.9, (1, 2, 4))
    assert fact.past is False


def test_bare_facts_are_facts():
    bare = json.dumps([{"subject": "U1", "statement": "张三喜欢猫", "evidence": [1]}])
    extraction = parse(Answer(f"```\n{bare}\n```"))
    assert extraction.facts[0].statement == "张三喜欢猫"


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


@pytest.mark.parametrize("marks", [">3 >5", "secret >3,>5", ">3,5 hearsay", "past、>3、>5"])
def test_a_fact_may_replace_several(marks: str):
    line = f"U1|works_at|青柠|3||0.6|{marks}||小雨在青柠上班"
    (fact,) = parse(Answer("", {"lines": line})).facts
    assert fact.replaces == (3, 5)


@pytest.mark.parametrize(
    "end", ["likes", "likes|cats|12", "lives_in|York|3|2026-05", "age|30|3||0.8|secret"]
)
def test_where_an_answer_breaks_off_nobody_gets_a_name_and_a_date_is_no_statement(end: str):
    extraction = parse(Answer("", {"lines": f"summary|Tom likes cats\nU1|{end}"}))
    assert (extraction.facts, extraction.entities) == ((), ())
    assert parse(Answer("", {"lines": f"U1|{end}|3||0.5||pet|Tom has a cat"})).facts


def test_marks_of_a_line():
    lines = """\
U1|works_at|青柠|3,4||0.6|past >3,5|小雨以前在青柠上班
E2|other||5|2026-05|30%|hearsay secret|裁员 失业，丢工作、失业|听说青柠|要裁员
U2|||大王，鹏哥
restated|3:12 7:[2]
restated|8
ended|4：9
used|5,6"""
    extraction = parse(Answer("", {"lines": lines}))
    first, second = extraction.facts
    assert (first.past, first.replaces, first.evidence) == (True, (3, 5), (3, 4))
    assert (first.hearsay, first.secret, first.date) == (False, False, "")
    assert (second.hearsay, second.secret, second.past) == (True, True, False)
    assert (second.statement, second.date, second.object) == ("听说青柠|要裁员", "2026-05", "")
    assert (first.keywords, second.keywords) == ("", "失业 丢工作")  # what it says it has
    (person,) = extraction.entities
    assert (person.id, person.aliases) == ("U2", ("大王", "鹏哥"))
    assert (extraction.restated, extraction.ended) == ({3: 12, 7: 2, 8: 0}, {4: 9})
    assert extraction.used == (5, 6)


@pytest.mark.parametrize("said", ["4:12,13", "4:12 5 days ago", "4:[12]|3月底", "4：12、13"])
def test_what_stands_behind_a_mark_is_no_other_known_fact(said: str):
    assert parse(Answer("", {"lines": f"ended|{said}"})).ended == {4: 12}


@tabled
def test_a_predicate_is_known_by_what_people_call_it(word: str, predicate: str):
    line = f"U1|{word}|上海|1||0.5|||张三住在上海"
    assert parse(Answer("", {"lines": line})).facts[0].predicate == predicate


@pytest.mark.parametrize("empty", ["|||", "||||", "||||||"])
def test_a_part_too_many_is_no_part_of_the_statement(empty: str):
    for end in ("", "|", " | "):
        line = f"U1|likes|猫|1||0.5{empty}张三喜欢猫{end}"
        assert parse(Answer("", {"lines": line})).facts[0].statement == "张三喜欢猫"


@tabled
def test_prose_that_there_is_nothing_is_an_answer(text: str, is_answer: bool):
    with contextlib.nullcontext() if is_answer else pytest.raises(ExtractionError):
        extraction = parse(Answer(text))
        assert (extraction.facts, extraction.summaries) == ((), ())


@pytest.mark.parametrize(
    "lines",
    ["", "  \n", [], "nothing to remember", "summary|无\nU1|other||1||0.1|||无", "summary|None."],
)
def test_no_lines_are_nothing_worth_remembering(lines: Any):
    extraction = parse(Answer("", {"lines": lines}))
    assert (extraction.facts, extraction.summaries) == ((), ())
    assert (extraction.entities, extraction.restated) == ((), {})
