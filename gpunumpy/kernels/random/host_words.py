"""Random words and numbers on the CPU executor, from and to the state as kernels take it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy

from ...core.ops.streams import CONGRUENTIAL, DIGIT_BITS, DIGITS, STATE_POSITIONS, STATE_WORDS, digits

_HALF = numpy.uint64(32)
_LOW = numpy.uint64(0xFFFFFFFF)
_LOW_WORD = (1 << 64) - 1
Wide = tuple[Any, Any]


# --- numbers of 128 bits as an upper and a lower half -----------------------------------------------------------------


def _wide(value: int) -> Wide:
    return numpy.uint64(value >> 64), numpy.uint64(value % (1 << 64))


def _high(a: Any, b: Any) -> Any:
    """Return the upper half of the product of numbers of 64 bits."""
    a_hi, a_lo, b_hi, b_lo = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    middle = a_hi * b_lo + (a_lo * b_lo >> _HALF)
    return a_hi * b_hi + (middle >> _HALF) + ((middle & _LOW) + a_lo * b_hi >> _HALF)


def _times(a: Wide, b: Wide) -> Wide:
    return _high(a[1], b[1]) + a[0] * b[1] + a[1] * b[0], a[1] * b[1]


def _plus(a: Wide, b: Wide) -> Wide:
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]), low


# --- words as functions of their positions ----------------------------------------------------------------------------


def _xsl_rr(x: Wide) -> Any:
    mixed, turn = x[0] ^ x[1], x[0] >> numpy.uint64(58)
    return mixed >> turn | mixed << (numpy.uint64(64) - turn & numpy.uint64(63))


def _dxsm(x: Wide) -> Any:
    hi = x[0] ^ x[0] >> _HALF
    hi = hi * numpy.uint64(0xDA942042E4DD58B5)
    hi = hi ^ hi >> numpy.uint64(48)
    return hi * (x[1] | numpy.uint64(1))


_OUTPUTS: dict[str, Callable[[Wide], Any]] = {"xsl_rr": _xsl_rr, "dxsm": _dxsm}


def _congruential(name: str) -> Callable[..., Any]:
    """Return the function that computes word i of a congruential generator from the state at word 0."""
    multiplier, output, _ = CONGRUENTIAL[name]
    parts = ([_wide(pair[k]) for pair in digits(multiplier)] for k in (0, 1))
    powers, sums = ([numpy.array(half) for half in zip(*part, strict=True)] for part in parts)

    def word(i: Any, x_hi: Any, x_lo: Any, c_hi: Any, c_lo: Any) -> Any:
        i = numpy.maximum(i, 0)
        x: Wide = (numpy.asarray(x_hi), numpy.asarray(x_lo))
        c: Wide = (numpy.asarray(c_hi), numpy.asarray(c_lo))
        for place in range(DIGITS):
            entry = (i >> DIGIT_BITS * place & (1 << DIGIT_BITS) - 1) + (place << DIGIT_BITS)
            if entry.max() > place << DIGIT_BITS:
                power, total = ((table[0][entry], table[1][entry]) for table in (powers, sums))
                x = _plus(_times(x, power), _times(c, total))
        return numpy.broadcast_to(_OUTPUTS[output](x), numpy.shape(i))

    return word


def _philox(i: Any, *state: Any) -> Any:
    """Return word i of Philox4x64-10, given the counter of word 0 and the key."""
    c0, c1, c2, c3, k0, k1 = (numpy.asarray(word, numpy.uint64) for word in state)
    block = numpy.asarray(i).astype(numpy.uint64) >> numpy.uint64(2)
    c0 = c0 + block
    carry = c0 < block
    c1 = c1 + carry
    carry = carry & (c1 == 0)
    c2 = c2 + carry
    c3 = c3 + (carry & (c2 == 0))
    a0, a1 = numpy.uint64(0xD2E7470EE14C6C93), numpy.uint64(0xCA5A826395121157)
    for _ in range(10):
        c0, c1, c2, c3 = _high(a1, c2) ^ c1 ^ k0, a1 * c2, _high(a0, c0) ^ c3 ^ k1, a0 * c0
        k0, k1 = k0 + numpy.uint64(0x9E3779B97F4A7C15), k1 + numpy.uint64(0xBB67AE8584CAA73B)
    return numpy.choose(numpy.asarray(i) & 3, [c0, c1, c2, c3])


def _stream_half(q: Any, word: Any) -> Any:
    return numpy.where(q & 1, word >> _HALF, word).astype(numpy.uint32)


def _stream_half_after(q: Any, word: Any, left: Any) -> Any:
    return numpy.where(q == 1, numpy.uint32(left), _stream_half(q, word))


def _unit_double(x: Any) -> Any:
    return (x >> numpy.uint64(11)) * (1.0 / 9007199254740992.0)


def _unit_float(x: Any) -> Any:
    return (x >> numpy.uint32(8)).astype(numpy.float32) * numpy.float32(1 / 16777216)


def host_function(make: Callable[[Any], Callable[..., Any]]) -> Callable[[Any], Callable[..., Any]]:
    """Return the implementation of an operation: by loop dtypes, a function with an optional `out` as ufuncs have.

    ``make(dtype)`` returns the function that computes results of a dtype.
    """

    def of_loop(loop: Any) -> Callable[..., Any]:
        compute = make(loop[-1])

        def run(*args: Any, out: Any = None) -> Any:
            result = compute(*args)
            if out is None:
                return result
            numpy.copyto(out, result)
            return out

        return run

    return of_loop


# By operation, the function that returns its implementation for the dtypes of a loop.
OP_FUNCTIONS: dict[str, Callable[[Any], Callable[..., Any]]] = {
    **{name: host_function(lambda _, name=name: _congruential(name)) for name in CONGRUENTIAL},  # type: ignore[misc]
    "philox": host_function(lambda _: _philox),
    "stream_half": host_function(lambda _: _stream_half),
    "stream_half_after": host_function(lambda _: _stream_half_after),
    "stream_place": host_function(lambda _: lambda q: q >> 1),
    "unit_double": host_function(lambda _: _unit_double),
    "unit_float": host_function(lambda _: _unit_float),
}


# --- library calls ----------------------------------------------------------------------------------------------------


def read_state_words(name: str, bits: Any) -> list[int]:
    """Return the state of a NumPy bit generator in the words that kernels take: see `core.ops.streams`."""
    state = bits.state
    inner, words = state["state"], [0] * STATE_WORDS
    if name == "philox":
        words[:4] = inner["counter"].tolist()
        words[4:6] = inner["key"].tolist()
        words[STATE_POSITIONS["used_words"]] = state["buffer_pos"]
    else:
        x, c = inner["state"], inner["inc"]
        words[:4] = x >> 64, x & _LOW_WORD, c >> 64, c & _LOW_WORD
    words[STATE_POSITIONS["has_half"]], words[STATE_POSITIONS["half"]] = state["has_uint32"], state["uinteger"]
    return words


def write_state_words(name: str, bits: Any, words: list[int]) -> None:
    """Set the state of a NumPy bit generator from the words that kernels take."""
    new = bits.state
    if name == "philox":
        counter = sum(words[k] << 64 * k for k in range(4))
        # Start one block earlier and draw: NumPy then buffers the block, at the right word.
        before = (counter - 1) % (1 << 256)
        new["state"]["counter"] = numpy.array([before >> 64 * k & _LOW_WORD for k in range(4)], numpy.uint64)
        new["state"]["key"] = numpy.array(words[4:6], numpy.uint64)
        new["buffer_pos"] = 4
        bits.state = new
        bits.random_raw(words[STATE_POSITIONS["used_words"]], False)
        new = bits.state
    else:
        new["state"] = {"state": words[0] << 64 | words[1], "inc": words[2] << 64 | words[3]}
    new["has_uint32"], new["uinteger"] = words[STATE_POSITIONS["has_half"]], words[STATE_POSITIONS["half"]]
    bits.state = new


def piecewise_draws(options: tuple[Any, ...], out: Any, after: Any, state: Any, bounds: Any = None) -> None:
    """Write to `out` integers or ziggurat numbers, and to `after` the state after them. See `cuda_draws`."""
    name, distribution = options[:2]
    bits = getattr(import_module("numpy.random"), {"philox": "Philox"}.get(name, name.upper()))(0)
    write_state_words(name, bits, state.tolist())
    generator = import_module("numpy.random").Generator(bits)
    if distribution == "integers":
        span, _, offset = bounds.tolist()
        low = offset - (1 << 64) if out.dtype.kind == "i" and offset >> 63 else offset
        out[...] = generator.integers(low, low + span - 1, out.shape, out.dtype, endpoint=True)
    else:
        getattr(generator, f"standard_{distribution}")(dtype=out.dtype, out=out)
    after[...] = read_state_words(name, bits)
