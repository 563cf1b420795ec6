"""The JSON API under ``/api/v1``: what the pages use, and programs may.

A module for each thing it is about: what is answered, as types, and the routes.
"""

from __future__ import annotations

from fastapi import APIRouter

from graph_memory.service import MemoryService

from . import (
    changes,
    data,
    facts,
    graph,
    health,
    people,
    questions,
    records,
    tuning,
    viewas,
    why,
)
from .base import PROBLEMS

_PARTS = (facts, people, records, changes, questions, graph, viewas, why, tuning, data, health)


def router(service: MemoryService) -> APIRouter:
    """The API's routes."""
    api = APIRouter(prefix="/api/v1", responses=PROBLEMS)
    for part in _PARTS:
        api.include_router(part.routes(service))
    return api
