"""Arrays that come in pieces, each with some of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..core.recording.array import ndarray


def rows_of(pieces: Iterable[ndarray]) -> Iterator[tuple[slice, ndarray]]:
    """Return pieces that have rows, with the place of these among all."""
    first = 0
    for piece in pieces:
        rows = slice(first, first + piece.shape[0])
        first = rows.stop
        if piece.shape[0]:
            yield rows, piece
