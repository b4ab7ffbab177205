"""The registry of library calls: the record of every call, by name."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import allowed
from ..primitives import LibraryCall
from ..signature import Signature
from . import elements, linear_algebra, products, random, transforms, user_kernels
from .record import Batch, Record, Results

RECORDS: dict[str, Record] = {
    record.name: record
    for family in (elements, linear_algebra, products, random, transforms, user_kernels)
    for record in family.RECORDS
}


def record_of(name: str) -> Record:
    """Return the record of the library call of this name.

    Raises
    ------
    LookupError
        If no library call has this name.
    """
    record = RECORDS.get(name)
    if record is None:
        raise LookupError(f"no library call is named {name!r}; {allowed(RECORDS)}")
    return record


def begun_outputs(call: LibraryCall) -> int:
    """Return how many of a call's last arguments are values that its outputs have before: see `Record`."""
    return record_of(call.name).begun_outputs(call.options)


def results_of(call: LibraryCall, args: Sequence[Signature]) -> Results | None:
    """Return the shapes and dtypes of a call's outputs; None if its record leaves them to the caller."""
    results, options = record_of(call.name).results, call.options
    if results is None:
        return None
    if not isinstance(options, Batch):
        return results(options, args)
    count = len(args) // options.calls  # arguments of one call
    return tuple(
        result for k in range(options.calls) for result in results(options.options, args[k * count : (k + 1) * count])
    )
