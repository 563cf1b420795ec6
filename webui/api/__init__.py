"""JSON endpoints below ``/api/v1`` that scripts of our pages call."""

from __future__ import annotations

from fastapi import APIRouter

from ..core import service
from . import graph_json, imports


def router(memory: service.MemoryService) -> APIRouter:
    """The routes of those that have no module in common with their page."""
    api = APIRouter(prefix="/api/v1")
    for part in (imports, graph_json):
        api.include_router(part.routes(memory))
    return api
