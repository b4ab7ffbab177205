"""Draws the README's figure, of rows of the first table of `docs/performance.md`.

    python -m tools.site.figure

It writes `docs/_static/speed.svg`: a line for each row, a dot for each library, on a logarithmic scale of time.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "performance.md"
FIGURE = DOCS / "_static" / "speed.svg"

# Rows of the table, and what the figure calls them.
ROWS = {
    "expression float32": "12 operations, float32",
    "expression, transposed input": "… with a transposed input",
    "mean((a-b)**2)": "mean((a - b)**2)",
    "softmax, rows of 8,192": "softmax of rows",
    "Jacobi step, 8192 x 8192": "Jacobi step, in place",
    "cumsum": "cumsum",
    "a[index]": "a[index]",
}
COLOURS = {"torch": "#e8590c", "jax.jit": "#9c36b5", "CuPy": "#5c940d", "gpunumpy": "#0b7285"}
_WIDTH, _LEFT, _RIGHT, _TOP, _STEP = 760, 215, 30, 70, 34
_MIN_MS, _MAX_MS = 0.1, 10.0


def table() -> tuple[str, list[str], dict[str, list[str]]]:
    """Return the line above the table, its header, and its rows by their names."""
    text = PAGE.read_text(encoding="utf-8").split("## The H200, beside its peers")[1]
    above = " ".join(text.split("\n\n| ")[0].split())
    header, *lines = re.findall(r"^\| (.*) \|$", text.split("\n\n")[2], re.MULTILINE)
    rows = [line.split(" | ") for line in lines]
    return above, header.split(" | "), {row[0]: row for row in rows}


def position(milliseconds: float) -> float:
    """Return where on the axis a time is."""
    share = math.log(milliseconds / _MIN_MS) / math.log(_MAX_MS / _MIN_MS)
    return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)


def figure() -> str:
    """Return the figure, as SVG."""
    above, header, rows = table()
    bottom = _TOP + _STEP * len(ROWS)
    hardware = re.search(r"NVIDIA (\w+)", above)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {bottom + 44}" font-family="sans-serif" '
        'font-size="13">',
        f'<rect width="{_WIDTH}" height="{bottom + 44}" fill="white"/>',
        f'<text x="{_LEFT}" y="20" font-weight="bold">Milliseconds on an NVIDIA {hardware and hardware[1]}; '
        "left is faster</text>",
    ]
    for k, (library, colour) in enumerate(reversed(COLOURS.items())):
        left = _LEFT + 8 + 125 * k
        parts += [f'<circle cx="{left}" cy="42" r="6" fill="{colour}"/>']
        parts += [f'<text x="{left + 12}" y="46">{library}</text>']
    for milliseconds in (0.1, 0.2, 0.5, 1, 2, 5, 10):
        x = position(milliseconds)
        parts += [
            f'<line x1="{x}" x2="{x}" y1="{_TOP - 8}" y2="{bottom}" stroke="#dee2e6"/>',
            f'<text x="{x}" y="{bottom + 18}" text-anchor="middle" fill="#495057">{milliseconds:g}</text>',
        ]
    for k, (row, title) in enumerate(ROWS.items()):
        y = _TOP + _STEP * k + _STEP / 2 - 6
        times = {library: float(rows[row][header.index(library)]) for library in COLOURS}
        ends = position(min(times.values())), position(max(times.values()))
        parts += [
            f'<text x="{_LEFT - 14}" y="{y + 4}" text-anchor="end">{title}</text>',
            f'<line x1="{ends[0]}" x2="{ends[1]}" y1="{y}" y2="{y}" stroke="#adb5bd"/>',
            *(
                f'<circle cx="{position(times[library])}" cy="{y + 5 * (1.5 - n)}" r="5" fill="{colour}"/>'
                for n, (library, colour) in enumerate(COLOURS.items())
            ),
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    FIGURE.write_text(figure(), encoding="utf-8")
