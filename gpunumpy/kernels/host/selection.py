"""Elements of one array or another, as a mask says, on the CPU: by bits where a processor would guess in vain.

NumPy's loops branch at every element. A processor that guesses the branches wrong, as of a mask in no order, takes some
5 ns for each; operations on the bits of both elements take a fifth of that, whatever the mask.
"""

from __future__ import annotations

from typing import Any

import numpy

# Fewer elements take longer to look at than they can save.
_MIN_ELEMENTS = 1 << 13
# Elements between which a mask is looked at, and how many of them may differ from the one before.
_LOOKED_AT = 1 << 10
_MAX_CHANGES = _LOOKED_AT >> 4
# The bytes of a part, whose bits stay in the cache from one operation to the next.
_PART_BYTES = 1 << 17
_BITS = {n: numpy.dtype(f"i{n}") for n in (1, 2, 4, 8)}  # by the bytes of an element


def where(condition: Any, x: Any, y: Any, out: Any = None) -> Any:
    """Select as `numpy.where`, with no temporary of the size of an output, if there is one.

    The output is the memory of no operand.
    """
    if out is None:
        return numpy.where(condition, x, y)
    if out.size >= _MIN_ELEMENTS and out.itemsize in _BITS and _is_guessed_in_vain(condition, out):
        first, last = _bits(x, out), _bits(y, out)
        if first is not None and last is not None:
            _by_bits(condition.reshape(-1), first, last, out.reshape(-1))
            return out
    if _is_mostly_true(condition, out):
        x, y, condition = y, x, ~condition
    numpy.copyto(out, y)
    numpy.copyto(out, x, where=condition)  # a copy of an element takes a multiple of the time to pass it over
    return out


def _is_mostly_true(condition: Any, out: Any) -> bool:
    if type(condition) is not numpy.ndarray or condition.shape != out.shape or condition.dtype != bool:
        return False
    return bool(2 * numpy.count_nonzero(condition) > condition.size)


def _is_guessed_in_vain(condition: Any, out: Any) -> bool:
    """Return whether a mask like a dense output often changes from one element to the next."""
    if type(condition) is not numpy.ndarray or condition.shape != out.shape:
        return False
    if not (condition.flags.c_contiguous and out.flags.c_contiguous and condition.dtype == bool):
        return False
    return is_in_no_order(condition.reshape(-1))


def is_in_no_order(mask: Any) -> bool:
    """Return whether a mask, in one dimension, often changes from one element to the next."""
    middle = mask.size // 2
    part = mask[middle : middle + _LOOKED_AT]
    return bool(numpy.count_nonzero(part[1:] != part[:-1]) > _MAX_CHANGES)


def _bits(operand: Any, out: Any) -> Any:
    """Return the bits of an operand in one dimension, or of its only element; None if they are in another order."""
    operand = numpy.asarray(operand)
    if operand.size == 1:
        operand = operand.reshape(())
    elif operand.shape != out.shape or not (operand.ndim == 1 or operand.flags.c_contiguous):
        return None
    if operand.dtype != out.dtype:
        return None
    bits = operand.view(_BITS[out.itemsize])
    return bits.reshape(-1) if bits.ndim else bits


def _by_bits(condition: Any, x: Any, y: Any, out: Any) -> None:
    """Select bits: where a condition is true the difference of both is taken from `y`."""
    length = _PART_BYTES // out.itemsize
    bits, mask = out.view(_BITS[out.itemsize]), numpy.empty(min(length, out.size), _BITS[out.itemsize])
    for start in range(0, out.size, length):
        part = slice(start, start + length)
        selected, chosen = bits[part], condition[part].view(numpy.int8)
        first, last = (operand[part] if operand.ndim else operand for operand in (x, y))
        every_bit = numpy.negative(chosen, out=mask[: len(chosen)])
        numpy.bitwise_xor(first, last, out=selected)
        numpy.bitwise_and(selected, every_bit, out=selected)
        numpy.bitwise_xor(selected, last, out=selected)
