"""MT19937 on the CPU executor: NumPy's generator, from and to the state as kernels take it."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy

from .mt19937_jumps import LENGTH, STATE_POSITIONS, STATE_WORDS


def unpack_state(state: Any) -> tuple[Any, ...]:
    """Return a kernel's state as an argument of `RandomState.set_state`.

    A normal number left over on a device is computed again with the host's logarithm, so that its last bits are
    those of NumPy.
    """
    has_gauss, left = int(state[STATE_POSITIONS["has_normal"]]), STATE_POSITIONS["normal"]
    gauss = float(state[left : left + 2].view(numpy.float64)[0]) if has_gauss else 0.0
    if has_gauss and state[STATE_POSITIONS["knows_normal_words"]]:
        gauss = _first_of_pair(state[STATE_POSITIONS["normal_words"] : STATE_POSITIONS["normal_words"] + 4].tolist())
    return "MT19937", state[:LENGTH], int(state[STATE_POSITIONS["position"]]), has_gauss, gauss


def _first_of_pair(words: list[int]) -> float:
    """Return the normal number of the first coordinate that the polar method makes of four words."""
    units = [((words[k] >> 5 << 26) + (words[k + 1] >> 6)) / 9007199254740992.0 for k in (0, 2)]
    x, y = (2.0 * unit - 1.0 for unit in units)
    r = x * x + y * y
    return math.sqrt(-2.0 * math.log(r) / r) * x


def pack_state(numpy_state: dict[str, Any]) -> Any:
    """Return a dictionary of `RandomState.get_state` as kernels take the state."""
    state = numpy.zeros(STATE_WORDS, numpy.uint32)
    state[:LENGTH] = numpy_state["state"]["key"]
    state[STATE_POSITIONS["position"]], state[STATE_POSITIONS["has_normal"]] = (
        numpy_state["state"]["pos"],
        numpy_state["has_gauss"],
    )
    left = STATE_POSITIONS["normal"]
    state[left : left + 2] = numpy.array([numpy_state["gauss"]]).view(numpy.uint32)
    return state


def _write_state(out: Any, random_state: Any) -> None:
    out[...] = pack_state(random_state.get_state(legacy=False))


def _random_state(state: Any) -> Any:
    random_state = import_module("numpy.random").RandomState(0)
    random_state.set_state(unpack_state(numpy.array(state)))
    return random_state


def _next_words(random_state: Any, count: int) -> Any:
    return random_state.randint(0, 1 << 32, count, numpy.uint32)


def twister_words(options: tuple[Any, ...], out: Any, after: Any, state: Any, jumps: Any) -> None:
    """Write to `out` the words after a state, single or in pairs, and to `after` the state after them."""
    random_state = _random_state(state)
    words = _next_words(random_state, out.size * out.itemsize // 4)
    out[...] = words.view(out.dtype)
    _write_state(after, random_state)


def twister_numbers(
    options: tuple[Any, ...], out: Any, state: Any, words: Any, before: Any, after: Any, *bounds: Any
) -> None:
    """Write to `out` numbers by independent attempts, and to `state` the state after them.

    NumPy draws them from the state `before` the words; see `cuda_mt19937.twister_numbers` for options and bounds.
    """
    kind, _, _ = options
    random_state = _random_state(before)
    if kind == "normal":
        out[...] = random_state.standard_normal(out.shape)
    elif kind == "positive":
        numbers = numpy.zeros(0)
        while numbers.size < out.size:
            uniforms = random_state.random_sample(out.size - numbers.size)
            numbers = numpy.concatenate((numbers, uniforms[uniforms > 0]))
        out[...] = numbers
    elif kind == "product":
        span, _, offset = map(int, bounds[0])
        low = offset - (1 << 64) if out.dtype.kind == "i" and offset >> 63 else offset
        generator = import_module("numpy.random").Generator(random_state._bit_generator)
        out[...] = generator.integers(low, low + span, out.shape, out.dtype)
    else:
        greatest, _, offset = map(int, bounds[0])
        low = offset - (1 << 64) if out.dtype.kind == "i" and offset >> 63 else offset
        out[...] = random_state.randint(low, low + greatest + 1, out.shape, out.dtype)
    _write_state(state, random_state)


def twister_advance(options: tuple[Any, ...], out: Any, words: Any, before: Any, after: Any, taken: Any) -> None:
    """Write to `out` the state after the first ``taken[0]`` of the words.

    If `taken` has a second number, that is the word at which the pair of normal numbers begins of which one is left
    over, or -1 if none is.
    """
    random_state = _random_state(before)
    count, *pair_left_at = taken.reshape(-1).tolist()
    _next_words(random_state, count)
    if pair_left_at:
        has_gauss = pair_left_at[0] >= 0
        gauss = _first_of_pair(words.view(numpy.uint32)[pair_left_at[0] :][:4].tolist()) if has_gauss else 0.0
        random_state.set_state((*random_state.get_state()[:3], int(has_gauss), gauss))
    _write_state(out, random_state)
