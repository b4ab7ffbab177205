"""Tables as text."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], left: int) -> str:
    """Return rows as lines of columns: the first `left` are aligned to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths, left) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int], left: int) -> str:
    cells = [c.ljust(w) if n < left else c.rjust(w) for n, (c, w) in enumerate(zip(row, widths, strict=True))]
    return "  ".join(cells).rstrip()
