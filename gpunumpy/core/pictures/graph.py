"""A drawing of steps that hand values to each other: boxes from top to bottom, with arrows, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap
from typing import NamedTuple

_COLUMNS = 44  # of text in a box
_LINE, _PAD, _GAP_X, _GAP_Y, _CHARACTER = 17, 11, 26, 40, 6.9
# Stroke and fill by what a box stands for; both are seen on light and on dark pages.
_COLOURS = {"kernel": ("#2f6fdb", "#e8f0fd"), "call": ("#7b4fd0", "#f0eafb"), "array": ("#60646c", "#f6f7f9")}


class Box(NamedTuple):
    """A step, or an array that is given or asked for: its kind ("kernel", "call", "array"), its title, and text."""

    kind: str
    title: str
    lines: Sequence[str] = ()


def draw(boxes: Sequence[Box], arrows: Sequence[tuple[int, int]]) -> str:
    """Return the boxes as SVG. An arrow leads from one box to a later one, by their numbers."""
    ranks = [0] * len(boxes)
    for start, end in sorted(set(arrows), key=lambda arrow: arrow[1]):
        ranks[end] = max(ranks[end], ranks[start] + 1)
    for k in range(len(boxes)):  # what is given stands just above the first box that takes it
        ends = [end for start, end in arrows if start == k]
        if ends and not any(end == k for _, end in arrows):
            ranks[k] = min(ranks[end] for end in ends) - 1
    texts = [[line for text in box.lines for line in wrap(text, _COLUMNS) or [""]] for box in boxes]
    widths = [
        2 * _PAD + _CHARACTER * max(map(len, [box.title, *lines])) for box, lines in zip(boxes, texts, strict=True)
    ]
    heights = [2 * _PAD + _LINE * (1 + len(lines)) - 4 for lines in texts]
    rows = [[k for k in range(len(boxes)) if ranks[k] == rank] for rank in range(max(ranks, default=0) + 1)]
    row_widths = [sum(widths[k] for k in row) + _GAP_X * (len(row) - 1) for row in rows]
    width = max(row_widths, default=0.0) + 2 * _GAP_X
    frames: list[_Frame] = [_Frame(0, 0, 0, 0)] * len(boxes)
    y: float = _PAD
    for row, row_width in zip(rows, row_widths, strict=True):
        x = (width - row_width) / 2
        for k in row:
            frames[k] = _Frame(x, y, widths[k], heights[k])
            x += widths[k] + _GAP_X
        y += max(heights[k] for k in row) + _GAP_Y
    height = y - _GAP_Y + _PAD
    parts, taken = [], set[float]()
    for start, end in dict.fromkeys(arrows):
        between = [frames[k] for row in rows[ranks[start] + 1 : ranks[end]] for k in row]
        beside = [frames[k] for k in rows[ranks[start]]]
        parts.append(_arrow(frames[start], frames[end], beside, between, taken))
    parts += [_box(box, lines, frame) for box, lines, frame in zip(boxes, texts, frames, strict=True)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" '
        'font-size="11.5px"><defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#8b929b"/></marker></defs>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>'
    )


class _Frame(NamedTuple):
    """Where a box stands."""

    x: float
    y: float
    width: float
    height: float


def _box(box: Box, lines: Sequence[str], frame: _Frame) -> str:
    stroke, fill = _COLOURS[box.kind]
    x, y = frame.x + _PAD, frame.y + _PAD + 9
    text = f'<text x="{x:.1f}" y="{y:.1f}" font-weight="bold" fill="{stroke}">{escape(box.title)}</text>'
    for k, line in enumerate(lines, 1):
        text += f'<text x="{x:.1f}" y="{y + k * _LINE:.1f}" fill="#1c2024">{escape(line)}</text>'
    place = f'x="{frame.x:.1f}" y="{frame.y:.1f}" width="{frame.width:.1f}" height="{frame.height:.1f}"'
    rounded = 14 if box.kind == "array" else 4
    return f'<rect {place} rx="{rounded}" fill="{fill}" stroke="{stroke}" stroke-width="1.2"/>{text}'


def _arrow(start: _Frame, end: _Frame, beside: Sequence[_Frame], between: Sequence[_Frame], taken: set[float]) -> str:
    """Return a curve from the bottom of a box to the top of another one, past the boxes of the rows between them.

    There it runs where no other arrow does, whose places are `taken`. It bends below the boxes that stand `beside`.
    """
    x0, y0, x1, y1 = start.x + start.width / 2, start.y + start.height, end.x + end.width / 2, end.y
    path = f"M{x0:.1f} {y0:.1f}"
    if (below := max(frame.y + frame.height for frame in beside)) > y0:
        path, y0 = f"{path}L{x0:.1f} {below:.1f}", below
    if between:
        gap = _GAP_X / 3
        places = [x for frame in between for x in (frame.x - gap, frame.x + frame.width + gap)]
        free = [x for x in places if not any(frame.x < x < frame.x + frame.width for frame in between)]
        x = min([x for x in free if x not in taken] or free, key=lambda x: abs(x - (x0 + x1) / 2))
        taken.add(x)
        top, bottom = min(frame.y for frame in between), max(frame.y + frame.height for frame in between)
        path += _curve(x0, y0, x, top) + f"L{x:.1f} {bottom:.1f}"
        x0, y0 = x, bottom
    path += _curve(x0, y0, x1, y1)
    return f'<path d="{path}" fill="none" stroke="#8b929b" stroke-width="1.3" marker-end="url(#tip)"/>'


def _curve(x0: float, y0: float, x1: float, y1: float) -> str:
    bend = (y1 - y0) / 2
    return f"C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
