"""Which public functions repeat what their calls recorded, and by what; see `core.recording.calls`.

What these functions record follows from signatures and static arguments: they look at no element, neither of arrays nor
of host data. Functions whose results another layer already repeats, such as the ufuncs, are not here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..core.recording.calls import memoize_recording, memoize_view
from .products.precision import PRECISION


def _named(memoize: Callable[..., Any], names: str) -> dict[str, Callable[..., Any]]:
    return dict.fromkeys(names.split(), memoize)


# How the calls of functions, methods and attributes are kept, by their names.
_MEMOS: dict[str, Callable[..., Any]] = {
    **_named(
        memoize_view,
        """
        T atleast_1d atleast_2d atleast_3d broadcast_to diag diagonal expand_dims flip fliplr flipud mT matrix_transpose
        moveaxis permute_dims ravel reshape rollaxis rot90 squeeze swapaxes transpose
        """,
    ),
    **_named(
        memoize_recording,
        """
        all any append argmax argmin argsort around array astype average column_stack concat concatenate copy
        count_nonzero cross cumprod cumsum diff dstack flatten gradient hstack isclose kron max mean median min
        pad prod ptp repeat round searchsorted sort stack std sum tile trace trapezoid tril triu var vstack
        """,
    ),
    **_named(partial(memoize_recording, uses_values=False), "empty_like ones_like zeros_like"),
    **_named(partial(memoize_recording, setting=PRECISION), "einsum inner norm tensordot vdot"),
    **_named(partial(memoize_recording, setting=PRECISION, are_products=True), "dot"),
    **_named(partial(memoize_recording, makes_arrays=True), "arange empty eye full identity linspace ones tri zeros"),
}


def repeated(function: Any, name: str) -> Any:
    """Return a function, method or attribute of a name with a memo of its calls, if it is one that repeats them."""
    memoize = _MEMOS.get(name)
    return function if memoize is None or hasattr(function, "call_memo") else memoize(function)
