"""Every kind of file, on a small one made by hand."""

import json
import sqlite3
import tempfile
import threading
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_memory.deletion import retraction
from graph_memory.errors import FormatError
from graph_memory.model import Episode, Fact, Mention, Name
from graph_memory.settings import Remembers, Settings
from graph_memory.store import Journal
from graph_memory.store.pauses import Pauses
from graph_memory.supervisor import Progress
from graph_memory.transfer import rename_chat
from graph_memory.transfer.intake import Intake
from graph_memory.transfer.sources import astrbot_history, circle_meant, place_of
from graph_memory.transfer.sources.qq_chat_exporter import read_qq_chat
from graph_memory.transfer.transfer_service import next_batch
from tests.makers import T0, group, message, private, scan, user

from ..cases import examples, tabled
from .support import OPTIONS, brought, everything, exported, hear, importer, put, refused

DAY = 86_400.0
FILES = Path(__file__).with_name("files")
CLUB, HERS = {"group": "9"}, {"private": "1"}


def lines(*each: dict[str, Any]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in each)


def database(path: Path, kind: str, rows: dict[str, Iterable[tuple[Any, ...]]]) -> Path:
    """A database with the tables that another program makes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.executescript((FILES / f"{kind}.sql").read_text("utf-8"))
        for table, values in rows.items():
            for row in values:
                marks = ",".join("?" * len(row))
                db.execute(f"INSERT INTO {table} VALUES ({marks})", row)
        db.commit()
    return path


async def test_chat_lines_land_where_they_were_said(journal: Journal) -> None:
    path = FILES / "chat.jsonl"
    plan, run = await brought(journal, path)
    assert plan.skipped == {"empty": 1}
    assert plan.batches == 2
    assert plan.tokens > 1_000
    assert {(m.session, m.sender, m.text) for m in await everything(journal)} == {
        (group("9").id, user("1"), "我在学大提琴"),
        (group("9").id, user("2"), "好听"),
        (private("1", "lan").id, user("1"), "悄悄说"),
        (private("1", "lan").id, "bot", "嗯"),
    }
    assert {p.user for p in await journal.presences()} == {user("1"), user("2")}
    episodes = await scan(journal, Episode)
    assert sum(each.messages for each in episodes) == 4
    assert not run.learns
    before = await exported(journal)
    await brought(journal, path)
    assert await exported(journal) == before


async def test_an_id_is_one_of_its_chat(journal: Journal, tmp_path: Path) -> None:
    said = {"time": T0, "sender": "1", "text": "早", "id": "1"}  # on Telegram each chat counts
    places = CLUB, {"group": "8"}, HERS, CLUB | {"persona": "lan"}
    path = put(tmp_path / "c.jsonl", lines(*(said | place for place in places)))
    plan, run = await brought(journal, path)
    assert (plan.new, plan.skipped, run.count) == (3, {"double": 1}, 3)
    assert {m.session for m in await everything(journal)} == {
        group("9").id, group("8").id, private("1").id,
    }  # fmt: skip
    with path.open("a") as file:
        file.write(lines(said | CLUB | {"id": "2"}))
    plan, run = await brought(journal, path)
    assert (plan.new, run.count) == (1, 1)


def test_a_place_may_be_typed_in_full_width() -> None:
    assert circle_meant("group：700", "aiocqhttp") == circle_meant("group:700", "aiocqhttp")


async def test_a_conversation_goes_on_over_the_end_of_a_batch(journal, tmp_path) -> None:
    said = [(T0 + number, "早") for number in range(3)]
    said += [(T0 + 3_600 + number, f"{number}{'长' * 999}") for number in range(9)]
    text = lines(*({"time": at, "sender": "1", "text": each} | CLUB for at, each in said))
    plan, _ = await brought(journal, put(tmp_path / "x.jsonl", text))
    assert plan.batches > 1
    episodes = await scan(journal, Episode)
    assert sorted(each.messages for each in episodes) == [3, 9]


async def test_an_import_does_its_reading_beside_the_chat(journal, tmp_path, monkeypatch):
    """However large the file is, the event loop's thread reads nothing of it."""
    readers: set[int] = set()
    finish = Intake.finish

    def watched(intake: Intake, *about: Any, **more: Any) -> None:
        finish(intake, *about, **more)
        intake.db.set_trace_callback(lambda _: readers.add(threading.get_ident()))

    monkeypatch.setattr(Intake, "finish", watched)
    text = lines(*({"time": T0 + n, "sender": "1", "text": f"第{n}句"} for n in range(450)))
    into = replace(OPTIONS, into=group("700").circle)
    _, run = await brought(journal, put(tmp_path / "x.jsonl", text), into)
    assert run.count == 450
    assert readers
    assert threading.get_ident() not in readers


async def test_what_was_heard_before_a_chat_moved_is_recognised(journal, tmp_path):
    here = group("9")
    await hear(journal, here, message(here, user("1"), "我在学大提琴", T0, ref="5@1"))
    await rename_chat(journal, here.circle, group("10").circle, T0)
    for place in ("9", "10"):
        line = {"time": T0 + 2, "sender": "1", "text": "我在学大提琴", "group": place}
        plan, _ = await brought(journal, put(tmp_path / "x.jsonl", lines(line)))
        assert (plan.new, plan.skipped) == (0, {"double": 1})
    line = {"time": T0 - 9, "sender": "2", "text": "好听"} | CLUB
    await brought(journal, put(tmp_path / "x.jsonl", lines(line)))
    # Who spoke in the old one only is in the new one by no file.
    present = {(each.circle, each.user) for each in await journal.presences()}
    assert (group("10").circle, user("2")) not in present


async def test_what_was_heard_is_not_imported_a_second_time(journal, tmp_path):
    here = group("9")
    path = put(tmp_path / "x.jsonl", lines(
        {"time": T0 + 2, "sender": "1", "text": "我在学大提琴", "group": "9"},
        {"time": T0 - DAY, "sender": "1", "text": "我在学大提琴", "group": "9"},
    ))  # fmt: skip
    await hear(journal, here, message(here, user("1"), "我在学大提琴", T0, ref="5@1"))
    plan, run = await brought(journal, path)
    assert (plan.new, run.count) == (1, 1)
    # Who spoke earlier than was known was there earlier than was known.
    assert [(p.since, p.until) for p in await journal.presences()] == [(T0 - DAY, T0), (T0, None)]


async def test_what_was_taken_back_with_one_account_comes_in_by_no_log(journal, tmp_path):
    here = private("1", bot="998")
    (told,) = await hear(journal, here, message(here, user("1"), "说错了", T0, ref="5@1"))
    now = T0 + 60
    await journal.in_slices(lambda db, tell: retraction.retract(db, tell, ids=[told.id], at=now))
    log = lines(
        {"time": T0 + 30, "sender": "1", "text": "说错了"},
        {"time": T0 + 9_000, "sender": "1", "text": "在"},
    )
    plan = await importer(journal, put(tmp_path / "x.jsonl", log)).preview(Progress())
    assert (plan.new, plan.skipped) == (1, {"paused": 1})


async def test_what_was_said_while_nothing_was_to_be_stored_stays_outside(journal, tmp_path):
    clock = iter((T0 + 1_000, T0 + 2_000, T0 + 5_000))
    pauses = Pauses(journal, lambda: next(clock))
    await pauses.pause("user", user("1"))
    await pauses.resume("user", user("1"))
    await pauses.pause("circle", group("8").circle)
    here = group("9")
    (told,) = await hear(journal, here, message(here, user("2"), "说错了", T0 + 7_000, ref="5@1"))
    now = T0 + 8_000
    await journal.in_slices(lambda db, tell: retraction.retract(db, tell, ids=[told.id], at=now))
    said = [
        (0, "1", "开始前", {}), (1_500, "1", "给爸买了保险", {}), (1_501, "bot", "好的", HERS),
        (3_000, "1", "之后", {}), (3_001, "bot", "在呢", HERS), (1_500, "1", "今天做了手术", CLUB),
        (2_150, "bot", "保重", CLUB), (2_160, "2", "早日康复", CLUB),
        (4_000, "3", "群还开着", {"group": "8"}), (6_000, "3", "群关了", {"group": "8"}),
        (7_030, "2", "说错了", CLUB),
    ]  # fmt: skip
    path = put(
        tmp_path / "x.jsonl",
        lines(*({"time": T0 + at, "sender": by, "text": t} | more for at, by, t, more in said)),
    )
    plan = await importer(journal, path).preview(Progress())
    assert plan.skipped == {"paused": 6}
    assert {text for _, text in plan.examples} <= {"开始前", "之后", "在呢", "早日康复", "群还开着"}

    def without(*entries: str, only: str = "*") -> Remembers:
        return Settings(never_remember=entries, remember_only=(only,)).remembers

    plan = await importer(journal, path, remembers=without("*:GroupMessage:*")).preview(Progress())
    assert (plan.skipped, plan.new) == ({"paused": 8}, 3)
    plan = await importer(journal, path, remembers=without("2")).preview(Progress())
    assert (plan.skipped, plan.new) == ({"paused": 7}, 4)
    plan = await importer(journal, path, remembers=without(only="8")).preview(Progress())
    assert (plan.skipped, plan.new) == ({"paused": 10}, 1)
    assert {text for _, text in plan.examples} == {"群还开着"}


async def test_secrets_are_masked_in_what_is_shown_before(journal: Journal, tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines({"time": T0, "sender": "1", "text": "密码是hunter22"}))
    plan = await importer(journal, path).preview(Progress())
    assert [text for _, text in plan.examples] == ["密码是••••••"]


async def test_a_file_that_windows_marked_is_read(journal: Journal, tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", b"\xef\xbb\xbf" + (FILES / "chat.jsonl").read_bytes())
    plan, _ = await brought(journal, path)
    assert plan.new == 4


@tabled
async def test_a_wrong_chat_line(journal, tmp_path, line, field):
    good = {"time": T0, "sender": "1", "text": "你好 \U0001f600"}  # written as two halves
    path = put(tmp_path / "x.jsonl", "\n".join(map(json.dumps, (good, line))))
    error = await refused(journal, path, format="chat")
    assert (error.line, error.field) == (2, field)


def conversation(number: int, umo: str, turns: list[Any], **more: Any) -> tuple[Any, ...]:
    return (
        *(number, f"c{number}", umo.partition(":")[0], umo, json.dumps(turns), None),
        *(more.get("persona"), 0),
        *(more.get("since", "2025-01-01 00:00:00"), more.get("until", "2025-12-31 00:00:00")),
    )


def astrbot(path: Path, *conversations: tuple[Any, ...], **tables: list[Any]) -> Path:
    """A database of AstrBot's."""
    return database(path / "data_v4.db", "astrbot", {"conversations": conversations, **tables})


def turn(role: str, text: Any) -> dict[str, Any]:
    return {"role": role, "content": text}


async def test_a_year_of_astrbots_history(journal: Journal, tmp_path: Path) -> None:
    turns = [turn("user" if n % 2 == 0 else "assistant", f"第{n}句话") for n in range(100)]
    turns[7] = {"role": "assistant", "content": None, "tool_calls": [{}]}
    turns[8] = {"role": "tool", "content": "工具的结果", "tool_call_id": "1"}
    turns[9] = {"role": "_checkpoint", "content": {"id": "x"}}
    path = astrbot(
        tmp_path,
        conversation(1, "我的QQ:FriendMessage:1", turns, persona="lan"),
        conversation(2, "我的QQ:FriendMessage:2", [turn("user", "没有人格")]),
        conversation(3, "别处:FriendMessage:3", [turn("user", "不知道是哪")]),
        (
            4,
            "c4",
            "我的QQ",
            "我的QQ:FriendMessage:1",
            '[{"role": "us',
            *[None] * 3,
            *["2025-01-01"] * 2,
        ),
        (5, "c5", "我的QQ", "我的QQ:FriendMessage:1", "", *[None] * 3, *["2025-01-01"] * 2),
        platform_stats=[(1, "2025-01-01", "我的QQ", "aiocqhttp", 5)],
    )
    plan, _ = await brought(journal, path)
    assert plan.format == "astrbot"
    assert plan.skipped == {"origin": 1, "broken": 1}
    found = await everything(journal)
    assert len(found) == 98
    assert {m.session for m in found} == {private("1", "lan").id, private("2").id}
    replies = [m.text for m in found if m.sender == "bot"]
    assert replies[:4] == ["第1句话", "第3句话", "第5句话", "第11句话"]
    hers = [m for m in found if m.session == private("1", "lan").id]
    times = [m.at for m in hers]
    assert times == sorted(times)
    year = (datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 12, 31, tzinfo=UTC))
    assert year[0].timestamp() <= times[0] < times[-1] <= year[1].timestamp()
    # In runs: nobody says one sentence in four days.
    assert plan.batches <= 7
    assert "工具的结果" not in {m.text for m in found}


async def test_reminders_tell_who_spoke_and_when(journal: Journal, tmp_path: Path) -> None:
    note = (
        "<system_reminder>User ID: 1, Nickname: 小红\nGroup name: 乐团\n"
        "Current datetime: 2025-03-04 05:06 (CST), Weekday: 二</system_reminder>"
    )
    parts = [{"type": "text", "text": "我在学大提琴"}, {"type": "text", "text": note}]
    quote = [{"type": "text", "text": "<Quoted Message>\n别人的话\n</Quoted Message>"}, *parts]
    turns = [turn("user", parts), turn("assistant", "真好"), turn("user", "没有署名的话")]
    path = astrbot(
        tmp_path,
        conversation(1, "qq:GroupMessage:9", turns),
        conversation(2, "qq:GroupMessage:1_8", [turn("user", quote), turn("user", "谁说的")]),
        conversation(3, "webchat:FriendMessage:webchat!amy!c", [turn("user", "在网页上")]),
    )
    plan, run = await brought(journal, path, learns=True)
    found = {m.text: m for m in await everything(journal)}
    red = found["我在学大提琴"]
    assert (red.sender, red.name) == (user("1"), "小红")
    assert datetime.fromtimestamp(red.at, UTC).isoformat() == "2025-03-04T05:06:00+00:00"
    assert found["没有署名的话"].sender == user("?")
    assert found["谁说的"].sender == user("1")
    assert {m.session for m in found.values()} >= {group("8").id, group("9").id}
    assert found["在网页上"].sender == "webchat:amy"
    assert "别人的话" not in "".join(found)
    # From whom nobody knows nothing is learned.
    batch = found["没有署名的话"].batch
    assert batch is not None
    assert run.learns
    assert await journal.look(next_batch) not in (None, batch)
    assert plan.batches < len(plan.chats) + 2


@tabled
def test_a_group_is_one_though_astrbot_parts_it_by_sender(type, session, group, sender):
    place = place_of(f"bot:GroupMessage:{session}", {"bot": type})
    assert place
    assert (place.group, place.account) == (group, sender)
    assert place.umo == f"bot:GroupMessage:{group}"


async def test_a_database_is_known_by_its_tables_whatever_it_is_called(journal, tmp_path):
    path = astrbot(tmp_path, conversation(1, "qq:FriendMessage:1", [turn("user", "我在学大提琴")]))
    plan, _ = await brought(journal, path.rename(tmp_path / "备份.db"))
    assert (plan.format, plan.new) == ("astrbot", 1)


async def test_what_was_looked_at_before_is_looked_at_again(journal, tmp_path):
    here = group("9")
    kept = conversation(1, "qq:GroupMessage:9", [turn("user", "我在学大提琴")])
    work = importer(journal, astrbot(tmp_path, kept))
    assert (await work.preview(Progress())).new == 1
    await hear(journal, here, message(here, user("1"), "我在学大提琴", T0 - 400 * DAY, ref="5@1"))
    assert (await work.preview(Progress())).new == 0
    assert (await work.run(Progress())).messages == 0


def test_times_never_run_backwards() -> None:
    said = [astrbot_history._HistoryLine("user", str(n)) for n in range(50)]
    said[30].at = 500.0
    said[40].at = 100.0  # the clock was set
    times = list(astrbot_history._times(said, 0.0, 1_000.0))
    assert len(times) == 50
    assert [at for at, _ in times] == sorted(at for at, _ in times)


async def test_livingmemorys_memories_are_summaries_of_their_chats(journal, tmp_path):
    def about(**more: Any) -> str:
        return json.dumps({"create_time": T0, "importance": 0.8, "status": "active"} | more)

    here = about(session_id="qq:FriendMessage:1", persona_id="lan", key_facts=["每周三上课"])
    documents = [
        (1, "a", "聊了大提琴", here, "", ""),
        (2, "b", "不知道是哪", about(session_id="0f0f"), "", ""),
        (3, "c", "坏了", "{", "", ""),
        (4, "d", "在别处", about(session_id="0f0f", key_facts=5), "", ""),
    ]
    path = database(tmp_path / "livingmemory.db", "livingmemory", {"documents": documents})
    plan, _ = await brought(journal, path)
    assert plan.skipped == {"origin": 3}
    (episode,) = await scan(journal, Episode)
    assert episode.session == private("1", "lan").id
    assert episode.summary == "聊了大提琴\n每周三上课"
    assert episode.participants == (user("1"),)
    before = await exported(journal)
    await brought(journal, path)
    assert await exported(journal) == before
    # What does not say where it is from goes where the owner says, and nowhere else.
    await brought(journal, path, replace(OPTIONS, into="aiocqhttp:private:7"))
    found = await scan(journal, Episode)
    assert {e.session for e in found} == {private("1", "lan").id, private("7").id}


async def test_what_livingmemory_summed_up_during_a_pause_stays_outside(journal, tmp_path):
    await Pauses(journal, lambda: T0).pause("user", user("1"))
    chats = (("qq:FriendMessage:1", -9), ("qq:FriendMessage:1", 9), ("qq:FriendMessage:2", 9))
    documents = [
        (number, "a", "聊了", json.dumps({"create_time": T0 + at, "session_id": chat}), "", "")
        for number, (chat, at) in enumerate(chats)
    ]
    path = database(tmp_path / "livingmemory.db", "livingmemory", {"documents": documents})
    plan, _ = await brought(journal, path)
    assert (plan.skipped, plan.rows["episode"]) == ({"paused": 1}, 2)


async def test_livingmemorys_messages_are_messages(journal: Journal, tmp_path: Path) -> None:
    club = ("9", "aiocqhttp")
    messages = [
        (1, "qq:GroupMessage:9", "user", "我在学大提琴", "1", "小红", *club, T0, "{}"),
        (2, "qq:GroupMessage:9", "assistant", "真好", "0", "bot", *club, T0 + 1, "{}"),
        (3, "?", "user", "不知道是哪", "1", "小红", "", "x", T0, "{}"),
    ]
    await brought(
        journal,
        database(tmp_path / "conversations.db", "livingmemory_talk", {"messages": messages}),
    )
    found = [(m.sender, m.name) for m in await everything(journal)]
    assert found == [(user("1"), "小红"), ("bot", "")]


async def test_another_database_is_none(journal: Journal, tmp_path: Path) -> None:
    for kind, format in (("livingmemory", "astrbot"), ("astrbot", "livingmemory")):
        await refused(journal, database(tmp_path / f"{kind}.db", kind, {}), format=format)


async def test_graphmemory_goes_where_the_owner_says(journal: Journal, tmp_path: Path) -> None:
    path = FILES / "graphmemory.json"
    data = json.loads(path.read_text("utf-8"))
    assert (await refused(journal, path)).field == "into"
    options = replace(OPTIONS, into="aiocqhttp:private:1")
    await brought(journal, path, options)
    facts = await scan(journal, Fact)
    assert {(f.statement, f.predicate) for f in facts} == {
        ("小红：在学大提琴", "other"),
        ("小红likes大提琴", "likes"),
    }
    assert {f.session for f in facts} == {private("1").id}
    assert await journal.read(lambda rows: len(rows.find(Name))) == 2
    types = await journal.read(lambda rows: {m.type for m in rows.find(Mention)})
    assert types == {"person", "thing"}
    data["relations"][0]["strength"] = 10**400
    only = put(tmp_path / "y.json", json.dumps(data | {"sessions": data["sessions"][:1]}))
    await brought(journal, only)
    assert await journal.read(lambda rows: len(rows.find(Fact, session=group("9").id))) == 2
    wrong = put(tmp_path / "z.json", json.dumps(data | {"relations": [{"from": "小红"}]}))
    assert (await refused(journal, wrong, options)).field == "relations[1].to"


def qq(number: int, uin: str, text: str, **more: Any) -> dict[str, Any]:
    told = {"reply": {"content": "引用的话"}, "text": {"text": text}, "image": {"filename": "a"}}
    parts = [{"type": type, "data": data} for type, data in told.items()]
    return {
        "id": str(number), "timestamp": int((T0 + number) * 1000),
        "sender": {"uid": f"u_{uin}", "uin": uin, "name": f"名{uin}", "groupCard": f"卡{uin}"},
        "content": {"text": f"[图片]{text}", "elements": parts},
        "recalled": False, "system": False,
    } | more  # fmt: skip


def qq_file(info: dict[str, Any], *messages: dict[str, Any]) -> str:
    return json.dumps({
        "metadata": {"name": "QQChatExporter"}, "chatInfo": info, "statistics": {},
        "messages": messages, "avatars": {"1": "A" * 300_000},
    }, indent=2)  # fmt: skip


async def test_what_is_nested_without_end_is_no_chat_from_qq(journal, tmp_path):
    """The names that lead to its values would take gigabytes."""
    path = put(tmp_path / "x.json", '{"chatInfo":' * 5_000)
    assert "nested" in (await refused(journal, path, format="qq")).reason


async def test_a_group_from_qq(journal: Journal, tmp_path: Path) -> None:
    info = {"name": "乐团", "type": "group", "selfUin": "1", "peerUid": "9"}
    said = qq(1, "1", "我在学大提琴"), qq(2, "7", "真好"), qq(3, "2", "撤回的", recalled=True)
    path = put(tmp_path / "x.json", qq_file(info, *said))
    plan, _ = await brought(journal, path, replace(OPTIONS, bots=frozenset({"7"})))
    assert plan.skipped == {"recalled": 1}
    assert plan.chats == [(f"乐团 {group('9').circle}", "mei", 2)]
    found = await everything(journal)
    assert [(m.sender, m.name, m.text) for m in found] == [
        (user("1"), "卡1", "我在学大提琴"),
        ("bot", "", "真好"),
    ]
    assert {m.session for m in found} == {group("9").id}


async def test_a_private_chat_that_is_not_with_the_bot_stays_outside(journal, tmp_path):
    info = {"name": "小红", "type": "private", "selfUin": "1", "peerUin": "2"}
    path = put(tmp_path / "x.json", qq_file(info, qq(1, "1", "我在学大提琴")))
    assert (await refused(journal, path)).field == "into"
    await brought(journal, path, replace(OPTIONS, bots=frozenset({"2"})))
    (found,) = await everything(journal)
    assert found.session == private("1").id


async def test_a_chat_in_pieces_and_none_from_elsewhere(journal: Journal, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    piece = put(folder / "chunks" / "c000001.jsonl", json.dumps(qq(1, "1", "我在学大提琴")) + "\n")
    info = {"type": "group", "peerUid": "9"}

    def manifest(path: str) -> Path:
        chunks = {"chunks": [{"relativePath": path}]}
        return put(folder / "manifest.json", json.dumps({"chatInfo": info, "chunked": chunks}))

    for path in ("../a/journal.sqlite3", str(piece.parent.parent.parent / "a" / "journal.sqlite3")):
        await refused(journal, manifest(path))
    await brought(journal, manifest("chunks/c000001.jsonl"))
    assert [m.text for m in await everything(journal)] == ["我在学大提琴"]


@tabled
async def test_a_broken_chat_from_qq(journal: Journal, tmp_path: Path, broken: str) -> None:
    await refused(journal, put(tmp_path / "x.json", broken), format="qq")


async def test_what_a_broken_chat_says_is_in_no_error(journal: Journal, tmp_path: Path) -> None:
    """They stand in the log."""
    whole = qq_file({"type": "group", "peerUid": "9"}, qq(1, "1", "真名"), qq(2, "2", "真好"))
    for broken in (whole.replace("\\u771f\\u540d", "my secret\\q"), whole[: len(whole) // 4 * 3]):
        error = await refused(journal, put(tmp_path / "x.json", broken), format="qq")
        assert str(error) == "is no JSON"
    assert error.code == "cut_off"


@given(st.data())
@settings(max_examples=examples(30), deadline=None)
def test_a_chat_from_qq_that_is_cut_off_is_none(data: st.DataObject) -> None:
    text = qq_file({"type": "group", "peerUid": "9"}, qq(1, "1", "好"), qq(2, "2", "真好")).encode()
    text = text[: text.index(b'"avatars"')]
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(text[: data.draw(st.integers(0, len(text)))])
        file.flush()
        with pytest.raises(FormatError):
            list(read_qq_chat(Path(file.name), OPTIONS))


async def test_a_preview_tells_how_far_it_is(journal: Journal, tmp_path: Path) -> None:
    said = [{"time": T0 + n, "sender": "1", "text": f"第 {n} 句"} for n in range(3)]
    steps, path = Progress(), put(tmp_path / "x.jsonl", lines(*said))
    steps.take(0)
    assert (steps.done, steps.total) == (0, 0), "nobody knows yet how much it is"
    await importer(journal, path).preview(steps)
    far = steps.done, steps.total
    assert far == (12, 12), "each line is read, entered, cut into an episode, and compared"
