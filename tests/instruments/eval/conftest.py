"""The model that the tests of recall share."""

import asyncio
from collections.abc import Iterator

import pytest

from graph_memory.embedding import load
from graph_memory.inference.ports import Embedder

from .rehearsal import Lent


@pytest.fixture(scope="session")
def bundled() -> Iterator[Embedder]:
    """The bundled model, which no memory closes."""
    model = asyncio.run(load("bundled"))
    assert model
    yield Lent(model)
    asyncio.run(model.close())
