"""Errors as people and programs read them: a page, or problem+json (RFC 9457)."""

from __future__ import annotations

import http
import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from graph_memory.errors import (
    BondError,
    ClosedError,
    ConflictError,
    FormatError,
    GraphMemoryError,
    NotFoundError,
    StorageError,
)


def problem(
    status: int,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """An error for programs.

    Args:
        status: HTTP status.
        detail: What happened and what can be done about it.
        more: Further members of the problem object.
    """
    body = {
        "type": "about:blank",
        "title": http.HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **more,
    }
    return Response(
        json.dumps(body, ensure_ascii=False),
        status,
        dict(headers or {}),
        media_type="application/problem+json",
    )


def status_of(error: GraphMemoryError) -> int:
    """The HTTP status that says what ``error`` says."""
    match error:
        case NotFoundError():
            return 404
        case ConflictError() | BondError():
            return 409
        case FormatError():
            return 422
        case StorageError() | ClosedError():
            return 503
        case _:
            return 500
