"""What must and what must not be shown, asked of a folder of beliefs."""

import json
from pathlib import Path

from graph_memory.store import Journal

from .precision import Precision


def belief(id: str, scope: str, content: str, **more: object) -> dict[str, object]:
    return {
        "_id": id, "user_id": "test-user", "type": "entity", "canonical_name": id,
        "aliases": [], "content": content, "scope": [scope], "confidence": 0.9,
        "pinned": False, "reinforcement_count": 1, "resolved_at": None,
        "superseded_by": None, "created_at": "2026-03-01T00:00:00Z",
        "updated_at": "2026-03-02T00:00:00Z", "last_reinforced_at": None, **more,
    }  # fmt: skip


async def test_domains_are_kept_apart_as_personas(tmp_path: Path, journal: Journal) -> None:
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
    summary = (await Precision(tmp_path, journal, None).run()).summary()
    assert summary["scope"] == {"only_include": 1, "must_exclude": 1, "all_checks": 1, "n": 1}
    assert summary["relevant_shown"] == 1
    assert summary["leak"] == 0
