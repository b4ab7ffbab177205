"""Page-locked memory, which a forked child may share with its parent: here it does, and it is no GPU's."""

from __future__ import annotations

import mmap
from typing import Any

import numpy
import pytest

from gpunumpy.core.runtime import page_locked, spill_store

from ...support.forks import in_child, needs_fork

pytestmark = needs_fork

BYTES = 4096


class Gpu:
    """A device with a stream, as far as page-locked memory asks."""

    has_stream = True


@pytest.fixture(autouse=True)
def shared_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    def pinned(nbytes: int, device: Any) -> numpy.ndarray:
        return numpy.frombuffer(mmap.mmap(-1, nbytes), numpy.uint8)

    for module in (page_locked, spill_store):
        monkeypatch.setattr(module, "pinned", pinned)


def test_a_child_keeps_values_that_were_moved() -> None:
    """Its parent writes no others over them."""
    device: Any = Gpu()
    store = spill_store.SpillStore(device)
    places = [store.place(BYTES)]
    _content(places[0])[:] = 1

    def bring_back() -> None:
        places.clear()
        places.extend([store.place(BYTES) for _ in range(3)])
        for place in places:
            _content(place)[:] = 2

    assert in_child(lambda: int(_content(places[0]).sum()), bring_back) == BYTES
    assert store._pinned_bytes == 3 * BYTES  # what the child may read is given back to the system
    last = places.pop()
    del last
    assert store._pinned_block(BYTES) is not None  # and other blocks are kept
    assert store._pinned_bytes == 3 * BYTES


def _content(place: Any) -> numpy.ndarray:
    content: numpy.ndarray = place.content
    return content


def test_a_child_keeps_arrays() -> None:
    """Other arrays of its parent are not in their memory."""
    device: Any = Gpu()
    arrays = [page_locked.new_array((BYTES,), numpy.dtype(numpy.uint8), device)]
    arrays[0][:] = 1

    def make_others() -> None:
        arrays.clear()
        arrays.extend([page_locked.new_array((BYTES,), numpy.dtype(numpy.uint8), device) for _ in range(3)])
        for other in arrays:
            other[:] = 2

    assert in_child(lambda: int(arrays[0].sum()), make_others) == BYTES
    arrays.clear()
    assert page_locked.free_bytes() >= 3 * BYTES
    page_locked.unlock_free_blocks()
