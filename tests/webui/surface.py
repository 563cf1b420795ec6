"""What the application can be asked: every route with its parameters, found by looking.

A route that is added tomorrow is in here without anybody thinking of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

STYLE = "/static/css/base.css"
"""Stands for the static files."""
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")


@dataclass(frozen=True, slots=True)
class Route:
    """A method of a path.

    Attributes:
        template: The path with its parameters in braces.
        path_names, query_names: What its parameters are called.
    """

    method: str
    template: str
    path_names: tuple[str, ...] = ()
    query_names: tuple[str, ...] = ()

    @property
    def is_change(self) -> bool:
        """Whether a browser must prove that our own page asks for it."""
        return self.method not in {"GET", "HEAD", "OPTIONS"}

    def path(self, **values: str) -> str:
        """The path with ``values``, and ``1`` for what is not given."""
        return _PARAMETER.sub(lambda found: values.get(found[1], "1"), self.template)

    def fits(self, path: str) -> bool:
        """Whether a path is one of this route's."""
        parts = _PARAMETER.split(self.template)
        pattern = "".join(
            "[^/]+" if number % 2 else re.escape(part) for number, part in enumerate(parts)
        )
        return re.fullmatch(pattern, path) is not None


def surface(app: FastAPI) -> list[Route]:
    """Every method of every route, included routers and static files too."""
    return sorted(_walk(app.routes), key=lambda route: (route.template, route.method))


def _walk(found: list[Any], prefix: str = "") -> Iterator[Route]:
    for route in found:
        if inner := getattr(route, "original_router", None):  # FastAPI since 0.13x
            yield from _walk(inner.routes, prefix + route.include_context.prefix)
        elif not hasattr(route, "methods"):
            assert route.path == "/static", "a mount that nobody checks"
            yield Route("GET", STYLE)
        else:
            known = getattr(route, "dependant", None)
            template = prefix + route.path
            for method in sorted(route.methods):
                yield Route(
                    method,
                    template,
                    tuple(_PARAMETER.findall(template)),
                    tuple(dict.fromkeys(_queries(known))) if known else (),
                )


def _queries(dependant: Any) -> Iterator[str]:
    """Names of query parameters, those of dependencies and of models included."""
    for field in dependant.query_params:
        inner = getattr(field.field_info.annotation, "model_fields", None)
        if inner:
            yield from (info.alias or name for name, info in inner.items())
        else:
            yield field.alias
    for each in dependant.dependencies:
        yield from _queries(each)
