"""Consolidation and precision, on small data of this project's own."""

from __future__ import annotations

import json
from pathlib import Path

from graph_memory.store import Journal

from . import corpus
from .consolidation import Consolidation
from .precision import Precision


def said(id: str, text: str, minute: int) -> dict[str, object]:
    time = f"2024-03-0{1 + minute // 100} 10:{minute % 60:02}"
    return {"t": "mem", "ns": "u", "id": id, "text": text, "speaker": "user", "time": time}


def asked(*slots: str) -> dict[str, object]:
    gold = [slot.split() for slot in slots]
    return {
        "t": "q", "ns": "u", "id": "q", "text": "？", "cat": "c",
        "gold": [each[0] for each in gold], "gold_any": gold,
    }  # fmt: skip


async def test_what_is_said_again_is_kept_once(tmp_path: Path) -> None:
    read = corpus.parse(
        [
            said("1", "我同事今年31岁。", 0),
            said("2", "我表姐身高165厘米。", 1),
            said("3", "我的同事今年31岁了。", 100),
            said("4", "我表姐的身高有165厘米。", 201),
            said("5", "我住的小区里有一棵很老的银杏。", 202),
            asked("1 3", "2 4", "5"),
        ]
    )
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    try:
        summary = (await Consolidation(read, journal, None).run()).summary()
    finally:
        await journal.close()
    assert (summary["messages"], summary["calls"], summary["facts"]) == (5, 3, 3)
    assert (summary["duplicates"], summary["slots"], summary["retrievable"]) == (0, 3, 1)


async def test_two_facts_of_one_slot_are_counted(tmp_path: Path) -> None:
    read = corpus.parse(
        [
            said("1", "我家猫叫团子。", 0),
            said("2", "昨天去了美术馆。", 1),
            said("3", "团子这名字是给猫起的。", 100),
            asked("1 3", "2"),
        ]
    )
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    try:
        summary = (await Consolidation(read, journal, None).run()).summary()
    finally:
        await journal.close()
    assert summary["facts_stating_a_slot"] == 3
    assert summary["duplicates"] == round(2 / 3, 4)


def belief(id: str, scope: str, content: str, **more: object) -> dict[str, object]:
    return {
        "_id": id, "user_id": "test-user", "type": "entity", "canonical_name": id,
        "aliases": [], "content": content, "scope": [scope], "confidence": 0.9,
        "pinned": False, "reinforcement_count": 1, "resolved_at": None,
        "superseded_by": None, "created_at": "2026-03-01T00:00:00Z",
        "updated_at": "2026-03-02T00:00:00Z", "last_reinforced_at": None, **more,
    }  # fmt: skip


async def test_domains_are_kept_apart_as_personas(tmp_path: Path) -> None:
    beliefs = [
        belief("garden", "domain:home", "The walnut tree stands behind the greenhouse."),
        belief("novel", "domain:writing", "The walnut tree is where the novel begins."),
        belief("secret", "domain:home", "A walnut tree of somebody else.", user_id="other"),
    ]
    expect = {"relevantBeliefs": {"shouldOnlyInclude": ["garden"], "mustExclude": ["secret"]}}
    case = {"category": "scope", "scope": ["domain:home"], "query": "Where is the walnut tree?"}
    for name, given in (
        ("beliefs.seed.json", beliefs),
        ("retrieval.cases.json", [{**case, "expect": expect}]),
        ("session-retrieval.cases.json", []),
    ):
        (tmp_path / name).write_text(json.dumps(given), encoding="utf-8")
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    try:
        summary = (await Precision(tmp_path, journal, None).run()).summary()
    finally:
        await journal.close()
    assert summary["scope"] == {"only_include": 1, "must_exclude": 1, "all_checks": 1, "n": 1}
    assert summary["relevant_shown"] == 1
    assert summary["leak"] == 0
