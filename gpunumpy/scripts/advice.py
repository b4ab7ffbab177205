"""What a report advises for a line: what the counts of the line show, and what to write instead."""

from __future__ import annotations

from typing import NamedTuple

from ..core.late_dataclasses import dataclass
from ..core.runtime.byte_sizes import bytes_text
from ..core.runtime.host_work import HostCalls
from ..core.runtime.step_times import Record

# The bytes of the largest number.
_ELEMENT_BYTES = 32
# Runs of a kernel or a library call over so few bytes each are taken for those of a loop over rows.
_MANY_RUNS = 100
_ROW_BYTES = 1 << 15
ACCESSES = frozenset(("__getitem__", "__setitem__"))
# Where the statements of a loop are recorded so often between two looks, the program looks seldom enough.
_SELDOM = 5


class _Advice(NamedTuple):
    """What is told where a number of `Counts` is at least so large, and what to do."""

    least: int
    told: str
    advised: str


# By the names of the numbers, the ones that cost most first.
_ADVICE = {
    "elements": _Advice(
        1000,
        "elements are read or written one by one",
        "write one statement over the whole array, with slices, index arrays, np.where or np.vectorize",
    ),
    "copies": _Advice(
        10,
        "copies to the host",
        "compute with the array itself, or collect results in one array and copy it once",
    ),
    "looks": _Advice(
        20,
        "times a value was needed, and all before it was computed",
        "look every tenth turn, or keep the values in an array and read it after the loop",
    ),
    "small_calls": _Advice(
        10_000,
        "calls with small arrays, where Python takes the time",
        "put many small problems into one array with another axis",
    ),
}


@dataclass(slots=True)
class Counts:
    """What a line did.

    Attributes
    ----------
    elements, small_calls
        Elements that were read or written one by one, and other calls that NumPy computed with small arrays.
    looks
        How often the line asked for values that were pending.
    turns
        How often one statement recorded something between two looks of the line, of all its looks.
    copies
        Large copies to the host.
    """

    elements: int = 0
    small_calls: int = 0
    looks: int = 0
    turns: int = 0
    copies: int = 0

    def add_calls(self, calls: HostCalls) -> None:
        """Add what NumPy computed on the host."""
        accesses, nbytes = (sum(numbers[name] for name in ACCESSES) for numbers in (calls.counts, calls.nbytes))
        if nbytes <= accesses * _ELEMENT_BYTES:
            self.elements += accesses
        self.small_calls += calls.counts.total() - accesses

    def advice(self) -> str | None:
        """Return what costs most and what to do about it, in two lines, or None."""
        for name, (least, told, advised) in _ADVICE.items():
            count: int = getattr(self, name)
            is_seldom = name == "looks" and self.turns >= _SELDOM * count
            if count >= least and not is_seldom:
                return f"{count} {told}\n    {advised}"
        return None


def advice_of_runs(record: Record) -> str | None:
    """Return what to do about a kernel or a library call that ran often over few bytes, in two lines, or None."""
    if record.count < _MANY_RUNS or record.nbytes > record.count * _ROW_BYTES:
        return None
    size = bytes_text(record.nbytes // record.count)
    return f"{record.count} runs of {record.name}, each over {size}\n    call it once for all rows, with axis="
