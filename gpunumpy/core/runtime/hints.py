"""Hints: what makes a program slow on a GPU is told once, as a warning at the user's line that says what to do instead.

Nothing is timed. Few of the events are looked at: those between are counted, which takes a tenth of a microsecond where
each event takes tens. A hint needs the same statement, with values of the same structure, at every look. On the CPU
device a look, a copy and an element cost what they cost NumPy, so nothing is told there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from math import prod
from typing import Any, NamedTuple

from ..errors import PerformanceWarning
from ..graph.node import Node
from ..graph.primitives import LibraryCall, View
from ..graph.queue import Queue
from ..graph.signature import Signature
from ..source_location import source_location, warn
from . import evaluate
from .byte_sizes import bytes_text

IS_ON = os.environ.get("GPUNUMPY_HINTS", "1") != "0"


class Hint(NamedTuple):
    """A slow pattern.

    Attributes
    ----------
    text
        What is told; `{device}` and `{size}` stand for the device and the bytes of the array.
    interval
        One of so many events is looked at.
    times
        The same statement is found so often in a row.
    """

    text: str
    interval: int
    times: int


# Primes, so that a loop with several such statements does not show the same one at every look.
HINTS = {
    "look": Hint(
        "a value is read in every turn of a loop: each time the host waits for {device}, which then waits for the host."
        " Look every tenth turn, or keep the values in an array and read it after the loop",
        interval=251,
        times=4,
    ),
    "copy": Hint(
        "{size} are copied from {device} to the host in every turn of a loop. Compute with the array itself, or "
        "collect results in one array on the device and copy it once",
        interval=7,
        times=16,
    ),
    "elements": Hint(
        "a loop reads or writes an array of {size} on {device} element by element, which Python does on the host. "
        "Write one statement over the whole array, with slices, index arrays, np.where or np.vectorize",
        interval=1,
        times=1,
    ),
}
# Element accesses to one array, without a use as a whole in between, after which the core calls `note_elements`.
ELEMENT_COUNT = 1000
# A copy of fewer bytes is a look.
_COPY_BYTES = 1 << 16
# A flush that reads more takes the device longer than the host waits.
_LOOKED_BYTES = 1 << 26
# A loop that copies in each turn records few values between two copies: they are computed in so many flushes at most.
_FLUSHES_BETWEEN = 2
_MAX_LINES = 64


class _Found:
    """What was found at a line when it was last looked at."""

    __slots__ = ("publications", "signature", "times")

    def __init__(self) -> None:
        self.signature: Signature | None = None
        self.times = 0
        self.publications = 0


_found: dict[tuple[str, str], _Found] = {}
_told: set[tuple[str, str]] = set()
_next: dict[str, Callable[[], int]] = {name: count(1).__next__ for name in HINTS}


def note_look(node: Node) -> None:
    """Count that the host is about to read a value."""
    if _next["look"]() % HINTS["look"].interval == 0 and IS_ON:
        queue = node.signature.queue
        if queue is not None and not queue.shares_memory and _is_short_work(queue, node):
            _find("look", queue, node)


def note_copy(node: Node, nbytes: int) -> None:
    """Count a copy of a computed value to the host."""
    if nbytes >= _COPY_BYTES and _next["copy"]() % HINTS["copy"].interval == 0 and IS_ON:
        queue = node.signature.queue
        assert queue is not None
        _find("copy", queue, node)


def note_elements(array: Any) -> None:
    """Tell that an array is accessed element by element. The core calls this, which counts these accesses."""
    if IS_ON and not array.queue.shares_memory:
        _find("elements", array.queue, array._node)


def _find(name: str, queue: Queue, node: Node) -> None:
    """Note that a pattern was found at the user's line, and tell so if it was found often."""
    key = name, source_location()
    if key in _told:
        return
    if len(_found) >= _MAX_LINES:
        _found.clear()
    found = _found.setdefault(key, _Found())
    hint, publications = HINTS[name], queue.publications
    flushes = publications - found.publications
    is_repeated = found.signature is node.signature and (name != "copy" or flushes <= hint.interval * _FLUSHES_BETWEEN)
    found.times = found.times + 1 if is_repeated else 1
    found.signature, found.publications = node.signature, publications
    if found.times >= hint.times:
        _told.add(key)
        signature = node.signature
        size = bytes_text(prod(signature.shape) * signature.dtype.itemsize)
        warn(f"{hint.text.format(device=queue.device, size=size)} (GPUNUMPY_HINTS=0 silences)", PerformanceWarning)


def _is_short_work(queue: Queue, node: Node) -> bool:
    """Return whether what is computed for a look takes the device less time than the host waits for it."""
    if node.data is not None or (isinstance(node.signature.primitive, View) and node.args[0].data is not None):
        return False  # nothing is computed for it
    with queue.lock:
        nodes = evaluate.walk(evaluate.live_roots(queue, (node,))[0])[0]
    if any(isinstance(n.signature.primitive, LibraryCall) for n in nodes if n.data is None):
        return False
    leaves = [n.signature for n in nodes if n.data is not None]
    return sum(prod(leaf.shape) * leaf.dtype.itemsize for leaf in leaves) <= _LOOKED_BYTES
