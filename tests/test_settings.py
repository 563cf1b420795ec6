"""Settings: wrong values are named, replaced by the default, and never stop the bot."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.errors import SettingError
from graph_memory.locales import explain
from graph_memory.privacy.scope import Policy, Sharing
from graph_memory.settings import SETTINGS, Settings, read, replaced
from tests.cases import tabled
from tests.makers import QQ, group, private, user


def test_every_default_is_accepted():
    for setting in SETTINGS:
        assert setting.check(setting.default) == setting.default


@tabled
def test_a_wrong_value_is_named_and_replaced(name: str, value: object):
    settings, problems = read({name: value})
    assert settings == Settings()
    assert [p.name for p in problems] == [name]
    assert name in str(problems[0])


def test_good_values_are_used():
    settings, problems = read(
        {"webui_port": 0, "buffer_timeout": "60", "time_decay_rate": 2, "language": " en "}
    )
    assert not problems
    assert (settings.webui_port, settings.buffer_timeout) == (0, 60)
    assert (settings.time_decay_rate, settings.language) == (2.0, "en")


def test_words_of_a_list_are_taken_once_and_in_one_order():
    settings, problems = read({"companion": ["mood", " records", "mood"]})
    assert not problems
    assert settings.companion == ("records", "mood")
    assert read({"companion": []})[0].companion == ()


@pytest.mark.parametrize("wrong", ["梦境", None, "core facts"])
def test_of_a_list_only_the_wrong_words_are_left_out(wrong: object):
    settings, (problem,) = read({"companion": ["mood", wrong, "records"]})
    assert settings.companion == problem.used == ("records", "mood")
    for language in ("zh", "en"):
        told = explain(language, problem)
        assert str(wrong) in told
        assert "records, mood" in told


@tabled
def test_who_is_on_a_list(entry: str, here: str):
    room = replace(group("100"), umo="main:GroupMessage:100")
    places = {"z": (room, user("1")), "l": (room, user("2")), "p": (private("1"), user("1"))}
    never, _ = read({"never_remember": [entry]})
    only, _ = read({"remember_only": [entry]})
    both, _ = read({"remember_only": [entry], "never_remember": [entry]})
    for key, place in places.items():
        assert never.remembers(*place) == (key not in here)
        assert only.remembers(*place) == (key in here)
        assert not both.remembers(*place)
        assert Settings().remembers(*place)


def test_an_account_may_have_colons_in_it():
    matrix = private("@ann:example.org")
    for entry in (f"{QQ}:@ann:example.org", "*:FriendMessage:@ann:*"):
        assert not read({"never_remember": [entry]})[0].remembers(matrix, matrix.owner)
    assert read({"never_remember": [f"{QQ}:@bob:example.org"]})[0].remembers(matrix, matrix.owner)


def test_entries_of_a_list_are_taken_once_and_numbers_as_text():
    settings, problems = read(
        {"never_remember": ["100", 100, "", None, " 7 ", "＊：GroupMessage：＊"]}
    )
    assert (settings.never_remember, problems) == (("100", "7", "*:GroupMessage:*"), [])


def test_several_on_a_line_are_listed_each():
    settings, problems = read({"never_remember": ["100，200, 300", "1;2\n3"]})
    assert (settings.never_remember, problems) == (("100", "200", "300", "1", "2", "3"), [])


def test_relations_of_the_owner_are_checked_one_by_one():
    wrong = ["likes|喜欢|likes", "Mentor|师父|mentor", "mentor|师父", "a|<b>|", "mentor|又是|again"]
    settings, problems = read({"extra_relations": [" mentor ｜ 师父|mentor ", *wrong]})
    assert settings.relations("zh") == {"mentor": "师父"}
    assert settings.relations("en") == {"mentor": "mentor"}
    assert "likes|喜欢|likes" in explain("zh", problems[0])
    assert problems[0].used == settings.extra_relations
    many, [problem] = read({"extra_relations": [f"{chr(97 + n)}_|甲|a" for n in range(21)]})
    assert len(many.relations("en")) == 20
    assert "u_|" in str(problem)


def test_spaces_hold_two_groups_at_least_and_each_group_once():
    wrong = ["300", "200,400", "5,qq:6", "*,7", "8,8"]
    settings, problems = read({"memory_spaces": ["100， 200", f"{QQ}:9,matrix:!a:b", *wrong]})
    assert settings.memory_spaces == ("100,200", f"{QQ}:9,matrix:!a:b")
    assert "“300”" in explain("zh", problems[0])
    space = settings.policy.space
    assert space(group("200").circle) == {group("100").circle, group("200").circle}
    assert space(group("9").circle) == {group("9").circle, "matrix:group:!a:b"}
    assert space("matrix:group:100") == {"matrix:group:100", "matrix:group:200"}
    assert space(private("100").circle) == {private("100").circle}
    assert space(group("7").circle) == {group("7").circle}


def test_the_owners_words_to_the_learner_are_short():
    assert read({"learning_note": " 成绩不记\u202e "})[0].learning_note == "成绩不记"
    settings, problems = read({"learning_note": "长" * 501})
    assert settings.learning_note == ""
    assert [explain("zh", problem) for problem in problems] == [
        "设置 learning_note 最多 500 字，当作没有填"
    ]


def test_groups_that_were_turned_off_stay_off():
    old = {"enable_group_learning": False, "never_remember": ["7"]}
    assert replaced(old)["never_remember"] == ["7", "*:GroupMessage:*"]
    settings, problems = read(old)
    assert not settings.remembers(group("100"), user("1"))
    assert settings.remembers(private("1"), user("1"))
    assert read(old | replaced(old)) == (settings, problems)
    for on in (True, "no", None, 0):
        assert replaced({"enable_group_learning": on}) == {}


def test_what_is_wrong_is_told_in_both_languages():
    wrong = {"audience": "所有人", "webui_key": "short", "webui_public_url": "记忆"}
    wrong |= {"quiet_hours": "晚上", "webui_host": "example.org"}
    _, problems = read({"retrieval_top_k": 99, **wrong})
    assert [explain("zh", problem) for problem in problems] == [
        "设置 audience 里的“所有人”不在 participants, off 之中，改用 participants",
        "设置 retrieval_top_k 要在 1 到 50 之间，改用 8",
        "设置 quiet_hours 要写成 23:00-08:00 这样，改用默认的",
        "设置 webui_host 要写成 127.0.0.1 这样，改用默认的",
        "设置 webui_key 至少要 8 个字符，改用自动生成的密钥",
        "设置 webui_public_url 要写成 https://memory.example.com 这样，当作没有填",
    ]


def test_policy():
    settings, _ = read({"memory_sharing_mode": "isolated", "audience": "off"})
    assert settings.policy == Policy(Sharing.ISOLATED, False, False)
    assert Settings().policy == Policy()


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text())


@given(st.dictionaries(st.sampled_from([s.name for s in SETTINGS] + ["unknown"]), values))
def test_reading_never_fails_and_always_gives_usable_settings(raw: dict[str, object]):
    settings, problems = read(raw)
    assert all(isinstance(p, SettingError) for p in problems)
    for setting in SETTINGS:
        assert setting.check(getattr(settings, setting.name)) == getattr(settings, setting.name)


@tabled
def test_the_memory_page_listens_where_it_is_told(given: str, host: str, exposed: bool) -> None:
    settings, problems = read({"webui_host": given})
    assert (settings.webui_host, settings.is_page_exposed, problems) == (host, exposed, [])


@tabled
def test_the_public_address_is_written_as_browsers_do(given: str, url: str) -> None:
    settings, problems = read({"webui_public_url": given})
    assert (settings.webui_public_url, problems) == (url, [])


def test_behind_https_the_page_is_not_exposed() -> None:
    for url, exposed in (("https://a.b", False), ("http://a.b", True), ("", True)):
        settings, _ = read({"webui_host": "0.0.0.0", "webui_public_url": url})
        assert settings.is_page_exposed == exposed
