"""MT19937 as the CPU executor has it: by NumPy, from the state that kernels take."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy

from .mt19937_jumps import KEEPS, LENGTH, STATE


def unpack_state(state: Any) -> tuple[Any, ...]:
    """A state that kernels take, as `RandomState.set_state` takes it.

    A normal number that was left on a device is made again, as NumPy makes it.
    """
    has, left = int(state[KEEPS["has"]]), KEEPS["left"]
    gauss = float(state[left : left + 2].view(numpy.float64)[0]) if has else 0.0
    if has and state[KEEPS["known"]]:
        gauss = _first_of_pair(state[KEEPS["words"] : KEEPS["words"] + 4].tolist())
    return "MT19937", state[:LENGTH], int(state[KEEPS["place"]]), has, gauss


def _first_of_pair(words: list[int]) -> float:
    units = [((words[k] >> 5 << 26) + (words[k + 1] >> 6)) / 9007199254740992.0 for k in (0, 2)]
    x, y = (2.0 * unit - 1.0 for unit in units)
    r = x * x + y * y
    return math.sqrt(-2.0 * math.log(r) / r) * x


def pack_state(given: dict[str, Any]) -> Any:
    """A state of NumPy's, for kernels."""
    state = numpy.zeros(STATE, numpy.uint32)
    state[:LENGTH] = given["state"]["key"]
    state[KEEPS["place"]], state[KEEPS["has"]] = given["state"]["pos"], given["has_gauss"]
    left = KEEPS["left"]
    state[left : left + 2] = numpy.array([given["gauss"]]).view(numpy.uint32)
    return state


def _pack(out: Any, made: Any) -> None:
    out[...] = pack_state(made.get_state(legacy=False))


def _generator(state: Any) -> Any:
    made = import_module("numpy.random").RandomState(0)
    made.set_state(unpack_state(numpy.array(state)))
    return made


def _raw(made: Any, count: int) -> Any:
    return made.randint(0, 1 << 32, count, numpy.uint32)


def twister_words(options: tuple[Any, ...], out: Any, after: Any, state: Any, jumps: Any) -> None:
    """Words after a state, alone or in pairs, and the state after them."""
    made = _generator(state)
    words = _raw(made, out.size * out.itemsize // 4)
    out[...] = words.view(out.dtype)
    _pack(after, made)


def twister_picks(
    options: tuple[Any, ...], out: Any, state: Any, words: Any, before: Any, after: Any, *bounds: Any
) -> None:
    """Numbers, and the state after them, of words with the states before and after these."""
    kind, _, _ = options
    made = _generator(before)
    if kind == "normal":
        out[...] = made.standard_normal(out.shape)
    elif kind == "positive":
        numbers = numpy.zeros(0)
        while numbers.size < out.size:
            more = made.random_sample(out.size - numbers.size)
            numbers = numpy.concatenate((numbers, more[more > 0]))
        out[...] = numbers
    elif kind == "product":
        span, _, offset = map(int, bounds[0])
        low = offset - (1 << 64) if out.dtype.kind == "i" and offset >> 63 else offset
        generator = import_module("numpy.random").Generator(made._bit_generator)
        out[...] = generator.integers(low, low + span, out.shape, out.dtype)
    else:
        most, _, offset = map(int, bounds[0])
        low = offset - (1 << 64) if out.dtype.kind == "i" and offset >> 63 else offset
        out[...] = made.randint(low, low + most + 1, out.shape, out.dtype)
    _pack(state, made)


def twister_stand(options: tuple[Any, ...], out: Any, words: Any, before: Any, after: Any, taken: Any) -> None:
    """The state after so many words as were taken, of words with the states before and after these.

    Where `taken` has a second number, it is the word of the two normal numbers of which one is left, or -1.
    """
    made = _generator(before)
    count, *left = taken.reshape(-1).tolist()
    _raw(made, count)
    if left:
        has = left[0] >= 0
        gauss = _first_of_pair(words.view(numpy.uint32)[left[0] :][:4].tolist()) if has else 0.0
        made.set_state((*made.get_state()[:3], int(has), gauss))
    _pack(out, made)
