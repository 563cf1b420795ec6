"""A plot of some years as SVG, drawn by hand: panels of lines over months."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

COLOURS = ("#2f6db5", "#c8553d", "#4f9d69", "#8a5fb0")
WIDTH, HEIGHT = 420, 200
MARGIN = (46, 14, 34, 30)
"""Left, right, top and bottom of a panel."""
COLUMNS = 2

Series = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Panel:
    """A plot of one quantity.

    Attributes:
        lines: Values by month, ``None`` where there is none, by name of the line; the
            same name has the same colour in all panels. A name with a trailing ``*`` is
            drawn dashed.
        most: Top of the axis; found by itself if 0.
    """

    title: str
    lines: Mapping[str, Series]
    most: float = 0.0


def draw(title: str, months: Sequence[str], panels: Sequence[Panel]) -> str:
    names = list(dict.fromkeys(name.rstrip("*") for panel in panels for name in panel.lines))
    colours = {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(names)}
    width, height = COLUMNS * WIDTH, 62 + math.ceil(len(panels) / COLUMNS) * HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(14, 22, title, size=15, weight="bold"),
    ]
    x = 14.0
    for name in names:
        parts += [_line([(x, 42), (x + 18, 42)], colours[name]), _text(x + 23, 46, name)]
        x += 44 + 6.2 * len(name)
    for at, panel in enumerate(panels):
        left, top = at % COLUMNS * WIDTH, 58 + at // COLUMNS * HEIGHT
        parts += _panel(panel, months, left, top, colours)
    return "\n".join([*parts, "</svg>", ""])


def _panel(
    panel: Panel, months: Sequence[str], left: float, top: float, colours: Mapping[str, str]
) -> list[str]:
    inset_left, inset_right, inset_top, inset_bottom = MARGIN
    x0, x1 = left + inset_left, left + WIDTH - inset_right
    y0, y1 = top + HEIGHT - inset_bottom, top + inset_top
    values = [value for line in panel.lines.values() for value in line if value is not None]
    most = panel.most or _round(max(values, default=1.0))
    parts = [_text(x0, top + 22, panel.title, weight="bold")]
    for part in range(5):
        y = y0 + (y1 - y0) * part / 4
        parts.append(_line([(x0, y), (x1, y)], "#dddddd", 1))
        parts.append(_text(x0 - 6, y + 4, f"{most * part / 4:g}", anchor="end", colour="#555555"))
    count = max(1, len(months) - 1)
    step = 6 if len(months) <= 30 else 12
    for at, month in enumerate(months):
        if at == count or (at % step == 0 and count - at > step / 2):
            x = x0 + (x1 - x0) * at / count
            anchor = "middle" if at < count else "end"
            parts.append(_text(min(x, x1 + 8), y0 + 16, month, anchor=anchor, colour="#555555"))
    for name, line in panel.lines.items():
        points = [
            (x0 + (x1 - x0) * at / count, y0 + (y1 - y0) * min(1.0, value / most))
            for at, value in enumerate(line)
            if value is not None
        ]
        parts.append(_line(points, colours[name.rstrip("*")], dashed=name.endswith("*")))
    return parts


def _round(value: float) -> float:
    """The next round number above, for an axis of four steps."""
    if value <= 0:
        return 1.0
    power = math.pow(10, math.floor(math.log10(value)))
    return next(step * power for step in (1, 1.2, 1.6, 2, 3, 4, 6, 8, 10) if step * power >= value)


def _line(
    points: Sequence[tuple[float, float]], colour: str, width: float = 2, *, dashed: bool = False
) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashes}/>'
    )


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 11,
    weight: str = "normal",
    anchor: str = "start",
    colour: str = "#222222",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}"'
        f' text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
    )
