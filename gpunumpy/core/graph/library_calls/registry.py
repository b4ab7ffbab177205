"""The registry of library calls: one record for each, by name."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import allowed
from ..primitives import LibraryCall
from ..signature import Signature
from . import elements, linear_algebra, products, random, transforms
from .record import Batch, Record, Results

RECORDS: dict[str, Record] = {
    record.name: record
    for family in (elements, linear_algebra, products, random, transforms)
    for record in family.RECORDS
}


def record_of(name: str) -> Record:
    """The record of the library call of this name.

    Raises
    ------
    LookupError
        If there is none.
    """
    record = RECORDS.get(name)
    if record is None:
        raise LookupError(f"no library call is named {name!r}; {allowed(RECORDS)}")
    return record


def results_of(call: LibraryCall, args: Sequence[Signature]) -> Results | None:
    """The shapes and dtypes that follow for the outputs of a call; None where its record leaves them to the caller."""
    results, options = record_of(call.name).results, call.options
    if results is None:
        return None
    if not isinstance(options, Batch):
        return results(options, args)
    each = len(args) // options.calls
    return tuple(
        result for k in range(options.calls) for result in results(options.options, args[k * each : (k + 1) * each])
    )
