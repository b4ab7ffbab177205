"""Indexed writes and masks on the CPU device, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy

from ...core.graph.library_calls.elements import EQUAL_VALUES
from ...core.numpy_ufuncs import UFUNCS
from ..host.index_errors import index_errors
from ..host.selection import is_in_no_order

# A mask selects few elements if it selects less than one of so many.
_FEW = 8


def scatter(options: tuple[Any, ...], out: Any, value: Any, *rest: Any) -> None:
    """Run ``out[indices] = value`` or ``op.at(out, indices, value)``.

    If an index is out of bounds nothing is written, and the failure is recorded with the source location.
    """
    _, op, _ = options
    *indices, source_location = rest
    try:
        if op not in ("", EQUAL_VALUES):
            function = UFUNCS[op]
            # NumPy's fast loop for one index array reads past the end of values that it would have to broadcast.
            shape = numpy.broadcast_shapes(*(i.shape for i in indices)) + out.shape[len(indices) :]
            operands = (numpy.broadcast_to(value, shape),) if function.nin == 2 else ()
            function.at(out, tuple(indices), *operands)
        else:
            out[tuple(indices)] = value
    except IndexError as error:
        index_errors.append((str(error), source_location))


def mask_offsets(options: tuple[Any, ...], offsets: Any, count: Any, mask: Any) -> None:
    """Count the selected elements; of the tiles' offsets only the total is used, as NumPy needs no tiles."""
    offsets[:-1] = 0
    offsets[-1] = count[...] = numpy.count_nonzero(mask)


def mask_positions(options: tuple[Any, ...], out: Any, mask: Any, offsets: Any) -> None:
    """Write the positions of the selected elements; there may be room for more."""
    out[: offsets[-1]] = numpy.flatnonzero(mask)


def mask_elements(options: tuple[Any, ...], out: Any, values: Any, mask: Any, offsets: Any) -> None:
    """Write the selected elements; there may be room for more."""
    count = int(offsets[-1])
    # NumPy copies the elements of a run together; of those that a mask in no order selects it is to find positions.
    if count * _FEW >= mask.size and not is_in_no_order(mask):
        out[:count] = values[mask]
    else:
        numpy.compress(mask, values, out=out[:count])
