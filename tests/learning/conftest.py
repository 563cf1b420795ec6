"""Conversations that are learned step by step."""

import pytest

from graph_memory.store import Journal

from ..makers import group, private
from .chat import Chat


@pytest.fixture
async def chat(journal: Journal) -> Chat:
    """With one person."""
    return Chat(journal, private("zhang"))


@pytest.fixture
async def room(journal: Journal) -> Chat:
    """In a group."""
    return Chat(journal, group("100"))
