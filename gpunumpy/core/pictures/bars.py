"""Bars of ratios in groups, on a logarithmic axis from 1 to both sides, as a page of HTML that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from .pages import fill

_WIDTH, _LEFT, _RIGHT = 960, 280, 130  # of the drawing, of the names before the bars, of the texts behind them
_BAR, _GAP, _HEAD, _LEGEND = 19, 14, 24, 30


class Bar(NamedTuple):
    """A ratio above 0 and the text at the end of its bar."""

    ratio: float
    text: str


class Group(NamedTuple):
    """What a group of bars is of, a second line about it, and a bar for each series."""

    name: str
    detail: str
    bars: Sequence[Bar]


def page(title: str, notes: Sequence[str], series: Sequence[str], groups: Sequence[Group]) -> str:
    """Return a page of HTML with the bars.

    Parameters
    ----------
    notes
        Sentences to print above the bars.
    series
        The name of the first bar of every group, of the second, and so on; at most four.
    """
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return fill("bars.html", {"title": escape(title), "notes": listed, "drawing": draw(series, groups)})


def draw(series: Sequence[str], groups: Sequence[Group]) -> str:
    """Return the bars as SVG, whose colours are those of the page."""
    ratios = [bar.ratio for group in groups for bar in group.bars]
    lowest = min(0, math.floor(math.log10(min(ratios, default=1.0))))
    highest = max(1, math.ceil(math.log10(max(ratios, default=1.0))))
    decade = (_WIDTH - _LEFT - _RIGHT) / (highest - lowest)

    def x(ratio: float) -> float:
        return _LEFT + (math.log10(ratio) - lowest) * decade

    top = _LEGEND + _HEAD
    parts, y = [], top + _GAP / 2
    for group in groups:
        height = max(len(group.bars), 2) * _BAR  # a name has two lines
        parts.append(_text(0, y + 14, group.name) + _text(0, y + 31, group.detail, ' class="faint"'))
        for number, bar in enumerate(group.bars):
            parts.append(_bar(x(1), x(bar.ratio), y + number * _BAR, number, bar.text))
        y += height + _GAP
    bottom = y - _GAP / 2
    axis = []
    for power in range(lowest, highest + 1):
        place, kind = x(10.0**power), ' class="one"' if power == 0 else ""
        axis.append(f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{top}" y2="{bottom:.1f}"{kind}/>')
        axis.append(_text(place, top - 7, f"{10.0**power:g} x", ' class="faint" text-anchor="middle"'))
    legend, left = [], float(_LEFT)
    for number, name in enumerate(series):
        legend.append(f'<rect x="{left:.1f}" y="3" width="12" height="12" rx="2" class="bar{number}"/>')
        legend.append(_text(left + 18, 14, name))
        left += 48 + 7.5 * len(name)
    drawn = "".join([*legend, *axis, *parts])
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {bottom + 6:.0f}" role="img">{drawn}</svg>'


def _bar(one: float, end: float, y: float, number: int, text: str) -> str:
    left, width = min(one, end), max(abs(end - one), 1.5)
    place = f'x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_BAR - 4}"'
    label = _text(max(one, end) + 6, y + 12, text, ' class="faint"')
    return f'<rect {place} rx="2" class="bar{number}"/>{label}'


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{attributes}>{escape(text)}</text>'
