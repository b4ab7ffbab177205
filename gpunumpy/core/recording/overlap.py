"""Views whose elements may overlap, as those by strides can: they are written on the host, one after the other."""

from __future__ import annotations

from ..graph import layout
from ..graph.layout import Layout
from .array import make_view, memory_on_host, ndarray


def overlaps(array: ndarray) -> bool:
    """Return whether elements of an array may overlap."""
    memory = memory_on_host(array)
    if memory is None:
        return array._base is not None and not layout.are_distinct(*array._layout[:2])
    return array._owner is not None and not layout.are_distinct(memory.shape, memory.strides)


def stored_elements(view: ndarray) -> ndarray:
    """Return the view, in one dimension, of all elements that the layout of a view counts, as the view shows them."""
    owner = view._base
    count = owner.nbytes // view.itemsize if view._component == "view" else owner.size
    return make_view(view, Layout((count,), (1,), 0))
