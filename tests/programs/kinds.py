"""Arrays of every other kind for random programs: dtypes that no kernel computes, a subclass, masked arrays.

The rows are those of `features`: what is called, on what, with what. Results that are arrays of numbers go on as
variables of all other rows, so that fields of records, for one, are written to through views.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy

from . import draw
from .draw import Arguments
from .features import Feature

if TYPE_CHECKING:
    from .machine import Machine

NUMBERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
           "float16", "float32", "float64", "complex64", "complex128")  # fmt: skip
_NUMBERS = frozenset(map(numpy.dtype, NUMBERS))

# --- data -------------------------------------------------------------------------------------------------------------

_TEXTS = ("", "a", "ab", "b", "Ab", "10", "2", " b")
_RECORDS = {
    "record": [("x", "f8"), ("n", "i4"), ("s", "U2")],
    "packed record": [("b", "i1"), ("x", "f4"), ("n", "i8")],
    "nested record": [("p", "i2", (2,)), ("x", [("re", "f8"), ("n", "i2")]), ("n", "u1")],
}
_ELEMENTS: dict[str, tuple[Any, ...]] = {
    "U3": _TEXTS,
    "S2": tuple(text.encode() for text in _TEXTS),
    "M8[D]": ("2020-02-29", "2020-01-01", "NaT", "1969-07-20", "2021-01-01", "2020-02-28"),
    "M8[s]": ("2020-02-29T12:00", "2020-02-29", "NaT", "1969-12-31T23:59:59", "2021-01-01"),
    "m8[D]": (3, 1, -2, 0, "NaT", 7),
    "m8[ms]": (3, 1, -2, 0, 86400000),
    "O": (3, -1, 0, True, 2, 10**20),
    "g": (1, -2, 0, 3, 4),
    "G": (1, -2, 0, 3 + 1j, 2j),
    ">i4": (3, 1, -2, 0, 4),
    ">f8": (3, 1, -2, 0, 4),
    ">u2": (3, 1, 0, 4),
    ">c8": (3, 1j, -2, 0, 4),
}


def elements(m: Machine, shape: tuple[int, ...], dtype: str) -> Any:
    """Return an array of a dtype with some of its elements, of which many are equal."""
    made = numpy.empty(shape, dtype)
    places = m.numbers(shape, 0, len(_ELEMENTS[dtype]))
    for place in numpy.ndindex(shape):
        made[place] = _ELEMENTS[dtype][int(places[place])]
    return made


def records(m: Machine, shape: tuple[int, ...], name: str) -> Any:
    made = numpy.zeros(shape, _RECORDS[name])
    _fill_fields(m, made)
    return made


def _fill_fields(m: Machine, made: Any) -> None:
    for name in made.dtype.names:
        field = made[name]
        if field.dtype.names:
            _fill_fields(m, field)
        else:
            field[...] = elements(m, field.shape, "U3") if field.dtype.kind == "U" else m.numbers(field.shape, 0, 5)


@cache
def tagged(xp: Any) -> Any:
    """Return a class of arrays that keep a tag."""

    class Tagged(xp.ndarray):  # type: ignore[misc]
        tag = "none"

        def __array_finalize__(self, source: Any) -> None:
            self.tag = getattr(source, "tag", "none")

    return Tagged


def _make_tagged(xp: Any, data: Any, o: Arguments) -> Any:
    made = xp.array(data).view(tagged(xp))
    made.tag = o.tag
    return made


def _make_masked(xp: Any, data: Any, o: Arguments) -> Any:
    return xp.ma.array(xp.array(data), mask=xp.ma.nomask if o.mask is None else xp.array(o.mask))


# --- conditions -------------------------------------------------------------------------------------------------------


def is_masked(x: Any) -> bool:
    return isinstance(x, numpy.ma.MaskedArray) and x.ndim > 0


def is_number(x: Any) -> bool:
    """Whether it is an array of numbers that kernels compute."""
    return not isinstance(x, numpy.ma.MaskedArray) and x.dtype in _NUMBERS and x.dtype.isnative


def other(x: Any) -> bool:
    return x.ndim > 0 and not is_masked(x) and not is_number(x)


def has_no_padding(x: Any) -> bool:
    """Whether all bytes of elements are values."""
    return other(x) and x.dtype.kind in "USMmiufc" and x.dtype.char not in "gG"


def number(x: Any) -> bool:
    """Whether it is an array of numbers of the class `ndarray`: of a subclass, what runs on the host gives no other."""
    return x.ndim > 0 and is_number(x) and not hasattr(x, "tag")


def is_tagged(x: Any) -> bool:
    return x.ndim > 0 and hasattr(x, "tag")


def tagged_target(x: Any) -> bool:
    return is_tagged(x) and isinstance(x, numpy.ndarray) and bool(x.flags.writeable)


def other_target(x: Any) -> bool:
    return other(x) and bool(x.flags.writeable)


def number_target(x: Any) -> bool:
    return number(x) and isinstance(x, numpy.ndarray) and bool(x.flags.writeable)


def of(*kinds: str) -> Callable[[Any], bool]:
    """Return a condition: that an array is of a dtype whose letter is one of these."""
    return lambda x: other(x) and x.dtype.kind in kinds


def target_of(*kinds: str) -> Callable[[Any], bool]:
    return lambda x: other_target(x) and x.dtype.kind in kinds


def any_array(x: Any) -> bool:
    return other(x) or number(x)


def masked_or_number(x: Any) -> bool:
    return is_masked(x) or number(x)


def masked_target(x: Any) -> bool:
    return is_masked(x) and bool(x.flags.writeable)


# --- arguments --------------------------------------------------------------------------------------------------------


def _shape(m: Machine, o: Arguments) -> tuple[int, ...]:
    """Return the shape of a variable, or another with dimensions."""
    shapes = [pair.reference.shape for pair in (*m.others, *m.vars) if pair.reference.ndim]
    return shapes[m.below(len(shapes))] if shapes and m.random.random() < 0.6 else m.shape() or (3,)


def _element(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    """Return an element of the array, as NumPy's scalar or Python's; now and then of another kind."""
    if not x.size or m.random.random() < 0.1:
        return m.choice((0, 1, "a", b"b", None, 2.0))
    found = x.reshape(-1)[m.below(x.size)]
    return found.item() if m.random.random() < 0.3 and x.dtype.kind in "USgGifc" else found


def _key(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    return m.key(x.shape) if m.random.random() < 0.6 else draw.index(m, o, x)


def _basic_key(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    return m.key(x.shape)


def _axis(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    return m.choice((0, -1, None, x.ndim - 1))


def _mask(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    return m.mask(x.shape)


def _mask_or_none(m: Machine, o: Arguments) -> Any:
    return m.choice((None, m.mask(o.shape), numpy.ones(o.shape, bool), numpy.zeros(o.shape, bool)))


def _field(m: Machine, o: Arguments, x: Any, *_: Any) -> str:
    return m.choice(x.dtype.names or ("x",))


def _fields(m: Machine, o: Arguments, x: Any, *_: Any) -> list[str]:
    names = list(x.dtype.names or ("x",))
    m.random.shuffle(names)
    return names[: 1 + m.below(len(names))]


def _numbers_like(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    shape = draw._fitting(m, x.shape)
    if len(shape) > x.ndim:
        return 1  # of two faults either may be named
    return m.data(shape, m.choice(NUMBERS))


def _data(m: Machine, o: Arguments) -> Any:
    return m.data(o.shape, m.choice(NUMBERS))


# --- rows -------------------------------------------------------------------------------------------------------------


def _set(x: Any, key: Any, value: Any) -> None:
    x[key] = value


def _add_to(x: Any, key: Any, value: Any) -> None:
    x[key] += value


def _set_field_of_element(x: Any, o: Arguments) -> None:
    if x.size:
        element = x[(o.place % x.shape[0],) + (0,) * (x.ndim - 1)]
        element["n"] = o.value


def _change(x: Any, method: str, *args: Any, **options: Any) -> None:
    getattr(x, method)(*args, **options)


_LIKE = ("U3", "U1", "S2", "O", "g", ">f8", ">i4", "M8[D]", "m8[s]", "int64", "float64", "bool", "V4")
_TEXT_FUNCTIONS = ("upper", "lower", "strip", "str_len", "isalpha", "isdigit", "capitalize", "swapcase")
_COMPARISONS = ("equal", "not_equal", "less", "greater_equal")
_WINDOWS = (slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(None, None, 2), Ellipsis, None)


def _making(name: str, data: Callable[..., Any]) -> Feature:
    options = {"shape": _shape, "data": lambda m, o: data(m, o.shape, name), "order": ("C", "C", "F")}
    return Feature(f"make {name}", lambda xp, o: xp.array(o.data, order=o.order), (), options)


MAKING = [
    *(_making(dtype, elements) for dtype in _ELEMENTS),
    *(_making(name, records) for name in (*_RECORDS, "record")),
    *[Feature("make tagged", lambda xp, o: _make_tagged(xp, o.data, o), (),
              {"shape": _shape, "data": _data, "tag": ("one", "two")})] * 4,
    *[Feature("make masked", lambda xp, o: _make_masked(xp, o.data, o), (),
              {"shape": _shape, "data": _data, "mask": _mask_or_none})] * 5,
    Feature("zeros", lambda xp, o: getattr(xp, o.name)(o.shape, o.dtype), (),
            {"shape": _shape, "name": ("zeros", "ones"), "dtype": ("U2", "O", "g", ">i4", "m8[s]", "i4,f8")}),
    Feature("full", lambda xp, o: xp.full(o.shape, o.value, o.dtype), (),
            {"shape": _shape, "value": (1, 2), "dtype": ("U2", "S1", "O", "g", ">i4", "m8[s]")}),
    Feature("arange", lambda xp, o: xp.arange(o.first, o.last, dtype="M8[D]"), (),
            {"first": ("2020-02-27",), "last": ("2020-02-27", "2020-03-01", "2020-03-09")}),
    Feature("as a kind", lambda xp, o, x: x.astype(o.dtype), (number,), {"dtype": ("O", "g", ">i4", ">f8", "G")}),
    Feature("as text", lambda xp, o, x: (x * 0 + 2).astype(o.dtype), (number,), {"dtype": ("U", "S", "U2")}),
    Feature("as dates", lambda xp, o, x: x.astype(o.dtype), (lambda x: number(x) and x.dtype.kind in "iu",),
            {"dtype": ("m8[s]", "m8[D]", "M8[D]")}),
]  # fmt: skip

VIEWS_OF_OTHERS = [
    Feature("part", lambda xp, o, x: x[o.key], (other,), {"key": _basic_key}, layout="view"),
    Feature("window", lambda xp, o, x: x[o.first][o.second], (other,), {"first": _WINDOWS, "second": _WINDOWS},
            layout="view"),
    Feature("transpose", lambda xp, o, x: x.T, (other,), layout="view"),
    Feature("reshape", lambda xp, o, x: x.reshape(o.shape), (other,), {"shape": draw.reshape}, layout="view"),
    Feature("ravel", lambda xp, o, x: x.ravel(o.order), (other,), {"order": ("C", "F", "K")}, layout="view"),
    Feature("diagonal", lambda xp, o, x: x.diagonal(), (lambda x: other(x) and x.ndim > 1,), layout="view"),
    Feature("broadcast", lambda xp, o, x: xp.broadcast_to(x, (2, *x.shape)), (other,), layout="view"),
    Feature("field", lambda xp, o, x: x[o.name], (of("V"),), {"name": _field}, layout="view"),
    Feature("fields", lambda xp, o, x: x[o.names], (of("V"),), {"names": _fields}),
    Feature("field of a part", lambda xp, o, x: x[o.key][o.name], (of("V"),), {"key": _WINDOWS, "name": _field},
            layout="view"),
    Feature("view", lambda xp, o, x: x.view(o.dtype), (has_no_padding,),
            {"dtype": ("i8", "S1", "u1", "<f8", ">i4", "m8[s]", "f4,i4")}, layout="view"),
    Feature("real", lambda xp, o, x: getattr(x, o.part), (of("c", "f", "i"),), {"part": ("real", "imag")},
            layout="view"),
    Feature("tagged view", lambda xp, o, x: x.view(tagged(xp)), (number,), layout="view"),
    Feature("plain view", lambda xp, o, x: x.view(xp.ndarray), (any_array,), layout="view"),
]  # fmt: skip

WRITES_TO_OTHERS = [
    Feature("x[key] = element", lambda xp, o, x: _set(x, o.key, o.value), (other_target,),
            {"key": _key, "value": _element}, "written"),
    Feature("x[key] = x[key] of another", lambda xp, o, x, y: _set(x, o.key, y[o.key]), (other_target, other),
            {"key": _WINDOWS}, "written"),
    Feature("x[mask] = element", lambda xp, o, x: _set(x, o.mask, o.value), (other_target,),
            {"mask": _mask, "value": _element}, "written"),
    Feature("x[...] = numbers", lambda xp, o, x: _set(x, ..., o.values), (target_of("O", "f", "i", "u", "c", "m"),),
            {"values": _numbers_like}, "written"),
    Feature("numbers[...] = x", lambda xp, o, y, x: _set(y, ..., x), (number_target, of("f", "i", "u")), {},
            "written"),
    Feature("x += x", lambda xp, o, x, y: x.__iadd__(y), (target_of("O", "f", "i", "u", "c", "m", "M"), any_array), {},
            "written"),
    Feature("x += numbers", lambda xp, o, x: x.__iadd__(o.y), (target_of("O", "f", "i", "u", "c", "m", "M"),),
            {"y": _numbers_like}, "written"),
    Feature("x[::-1]", lambda xp, o, x: _set(x, slice(None), x[::-1]), (other_target,), {}, "written"),
    Feature("field = number", lambda xp, o, x: _set(x, o.name, o.value), (target_of("V"),),
            {"name": _field, "value": (0, 1, 2)}, "written"),
    Feature("field += number", lambda xp, o, x: _add_to(x, o.name, o.value), (target_of("V"),),
            {"name": ("n", "n", "x"), "value": (1, 2)}, "written"),
    Feature("field = numbers", lambda xp, o, x: _set(x, "n", o.values), (target_of("V"),), {"values": _numbers_like},
            "written"),
    Feature("field[mask] = number", lambda xp, o, x: _set(x["n"], x["n"] > o.value, 3), (target_of("V"),),
            {"value": (0, 1, 2)}, "written"),
    Feature("field of an element", lambda xp, o, x: _set_field_of_element(x, o), (target_of("V"),),
            {"place": (0, 1, 2, 5), "value": (1, 2)}, "written"),
    Feature("sort in place", lambda xp, o, x: x.sort(axis=o.axis, kind="stable"), (other_target,), {"axis": (0, -1)},
            "written"),
    Feature("sort by a field", lambda xp, o, x: x.sort(axis=0, order=o.order), (target_of("V"),),
            {"order": _fields}, "written"),
    Feature("fill", lambda xp, o, x: x.fill(o.value), (other_target,), {"value": _element}, "written"),
    Feature("copyto", lambda xp, o, x, y: xp.copyto(x, y, casting=o.casting, where=o.mask), (other_target, other),
            {"casting": ("same_kind", "unsafe"), "mask": _mask}, "written"),
    Feature("put", lambda xp, o, x: xp.put(x, o.places, o.value, mode="wrap"), (other_target,),
            {"places": ([0, -1], [3, 3], [1]), "value": _element}, "written"),
    Feature("flat", lambda xp, o, x: _set(x.flat, o.key, o.value), (other_target,),
            {"key": (slice(None, None, 2), 0, slice(1, None)), "value": _element}, "written"),
    Feature("ufunc.at", lambda xp, o, x: xp.add.at(x, o.index, o.value), (target_of("O", "f", "m", "i"),),
            {"index": draw.places, "value": (1, 2)}, "written"),
    Feature("ufunc out=", lambda xp, o, x: getattr(xp, o.ufunc)(x, o.y, out=x), (target_of("O", "f", "i", "c", "m"),),
            {"ufunc": ("add", "maximum", "multiply"), "y": _numbers_like}, "written"),
    Feature("comparison out=", lambda xp, o, y, x: xp.equal(x, x, out=y), (number_target, other), {}, "written"),
]  # fmt: skip

OTHERS = [
    Feature("x[key]", lambda xp, o, x: x[o.key], (other,), {"key": _key}),
    Feature("take", lambda xp, o, x: xp.take(x, o.places, axis=o.axis, mode=o.mode), (other,),
            {"axis": draw.axis, "mode": ("raise", "wrap", "clip"), "places": draw.places_by_mode}),
    Feature("compress", lambda xp, o, x: x[o.mask], (other,), {"mask": _mask}),
    Feature("copy", lambda xp, o, x: x.copy(order=o.order), (other,), {"order": ("C", "F", "A", "K")},
            layout="strides"),
    Feature("concatenate", lambda xp, o, x, y: xp.concatenate([x, y, x], axis=o.axis), (other, any_array),
            {"axis": _axis}),
    Feature("stack", lambda xp, o, x: xp.stack([x, x], axis=o.axis), (other,), {"axis": (0, -1)}),
    Feature("where", lambda xp, o, x, y: xp.where(o.mask, x, y), (other, any_array), {"mask": _mask}),
    Feature("rearranged", lambda xp, o, x: getattr(xp, o.name)(x, o.n), (other,),
            {"name": ("roll", "repeat", "tile", "flip", "atleast_2d"), "n": (0, 1, 2)}),
    Feature("delete", lambda xp, o, x: xp.delete(x, 0, axis=o.axis), (other,), {"axis": _axis}),
    Feature("insert", lambda xp, o, x: xp.insert(x, 0, o.value, axis=o.axis), (other,),
            {"axis": _axis, "value": _element}),
    Feature("comparison", lambda xp, o, x, y: getattr(xp, o.ufunc)(x, y), (other, any_array), {"ufunc": _COMPARISONS}),
    Feature("comparison with an element", lambda xp, o, x: getattr(xp, o.ufunc)(x, o.value), (other,),
            {"ufunc": _COMPARISONS, "value": _element}),
    Feature("==", lambda xp, o, x, y: x == y, (other, any_array)),
    Feature("arithmetic", lambda xp, o, x, y: getattr(xp, o.ufunc)(x, y), (other, any_array),
            {"ufunc": ("add", "subtract", "multiply", "maximum", "fmin", "floor_divide")}),
    Feature("arithmetic the other way", lambda xp, o, x, y: getattr(xp, o.ufunc)(y, x), (other, any_array),
            {"ufunc": ("add", "subtract", "multiply", "minimum")}),
    Feature("with a number", lambda xp, o, x: getattr(xp, o.ufunc)(x, o.y), (other,),
            {"ufunc": ("add", "subtract", "multiply"), "y": (1, 2, True, "a", numpy.timedelta64(1, "D"))}),
    Feature("unary", lambda xp, o, x: getattr(xp, o.ufunc)(x), (other,),
            {"ufunc": ("negative", "absolute", "sign", "isnat", "isfinite", "logical_not", "square")}),
    Feature("reduction", lambda xp, o, x: getattr(xp, o.name)(x, axis=o.axis, keepdims=o.keepdims), (other,),
            {"name": ("sum", "max", "min", "any", "all", "prod"), "axis": _axis, "keepdims": (False, True)}),
    Feature("place of", lambda xp, o, x: getattr(xp, o.name)(x, axis=o.axis), (other,),
            {"name": ("argmax", "argmin", "count_nonzero", "cumsum", "ptp"), "axis": _axis}),
    Feature("sort", lambda xp, o, x: xp.sort(x, axis=o.axis, kind="stable"), (other,), {"axis": _axis}),
    Feature("argsort", lambda xp, o, x: xp.argsort(x, axis=o.axis, kind="stable"), (other,), {"axis": _axis}),
    Feature("argsort by a field", lambda xp, o, x: xp.argsort(x, axis=0, kind="stable", order=o.order), (of("V"),),
            {"order": _fields}),
    Feature("unique", lambda xp, o, x: xp.unique(x, return_index=o.index, return_counts=o.counts), (other,),
            {"index": (False, True), "counts": (False, True)}),
    Feature("searchsorted", lambda xp, o, x, y: xp.searchsorted(xp.sort(x.ravel()), y), (other, other)),
    Feature("isin", lambda xp, o, x, y: xp.isin(x, y), (other, other)),
    Feature("nonzero", lambda xp, o, x: xp.nonzero(x), (other,)),
    Feature("astype", lambda xp, o, x: x.astype(o.dtype), (other,), {"dtype": _LIKE}),
    Feature("astype of dates", lambda xp, o, x: x.astype(o.dtype), (of("M", "m"),),
            {"dtype": ("i8", "M8[s]", "m8[s]", "U", "M8[M]", "O")}),
    Feature("byteswap", lambda xp, o, x: x.byteswap(), (of("i", "u"),)),
    Feature("other order", lambda xp, o, x: x.astype(x.dtype.newbyteorder("=")), (of("i", "u", "f", "c"),)),
    Feature("text functions", lambda xp, o, x: getattr(xp.strings, o.name)(x), (of("U", "S"),),
            {"name": _TEXT_FUNCTIONS}),
    Feature("strings.add", lambda xp, o, x, y: xp.strings.add(x, y), (of("U", "S"), of("U", "S"))),
    Feature("strings.find", lambda xp, o, x: xp.strings.find(x, o.text), (of("U", "S"),), {"text": ("a", b"b", "")}),
    Feature("text", lambda xp, o, x: (str(x), repr(x.tolist())), (other,)),
    Feature("pickle", lambda xp, o, x: pickle.loads(pickle.dumps(x)), (other,)),
    Feature("iteration", lambda xp, o, x: list(x), (other,)),
]  # fmt: skip

MIXED = [
    Feature("numbers[argsort of others]",
            lambda xp, o, x, y: xp.resize(y, x.size)[xp.argsort(x, axis=None, kind="stable")], (other, number)),
    Feature("numbers[comparison]", lambda xp, o, x, y: xp.resize(y, x.shape)[x == o.value], (other, number),
            {"value": _element}),
    Feature("numbers[comparison] = number", lambda xp, o, y: _set(y, y.astype(o.dtype) == o.value, 1), (number_target,),
            {"dtype": ("O", "g", ">f8"), "value": (0, 1, 2)}, "written"),
    Feature("where of numbers", lambda xp, o, x, y, z: xp.where(x == o.value, y, z), (other, number, number),
            {"value": _element}),
    Feature("others[numbers]", lambda xp, o, x, y: x[y.astype("i8").ravel() % max(1, len(x))],
            (other, lambda x: number(x) and x.dtype.kind in "iub")),
    Feature("others[numbers > 1]", lambda xp, o, x, y: x[xp.resize(y, x.shape) > 1],
            (other, lambda x: number(x) and x.dtype.kind in "iuf")),
    Feature("dates as numbers", lambda xp, o, x: x.astype("i8") % 13, (of("M", "m"),)),
    Feature("numbers times a step of time", lambda xp, o, x: x * numpy.timedelta64(2, "s"),
            (lambda x: number(x) and x.dtype.kind in "iu",)),
    Feature("numbers of texts", lambda xp, o, x: xp.strings.str_len(x) + 1, (of("U", "S"),)),
    Feature("product of objects", lambda xp, o, x, y: xp.multiply(x, y), (of("O", "f"), number)),
    Feature("made of fields", lambda xp, o, x: xp.asarray(xp.rec.fromarrays([x, x], names="x,n")), (number,)),
    Feature("numbers in records", lambda xp, o, x: xp.array([(1, 2), (3, 4)], "i4,f8")["f0"] + x.ravel()[:1],
            (number,)),
]  # fmt: skip


TAGGED = [
    *(Feature(name, call, (is_tagged,), layout="view") for name, call in {
        "tagged view": lambda xp, o, x: x.view(tagged(xp)),
        "plain view": lambda xp, o, x: x.view(xp.ndarray),
        "view of the class": lambda xp, o, x: x.view(type(x)),
        "tagged part": lambda xp, o, x: x[1:],
    }.items()),
    Feature("new tag", lambda xp, o, x: setattr(x, "tag", o.tag), (is_tagged,), {"tag": ("three", "four")}, "written",
            loop=True),
    Feature("mixed classes", lambda xp, o, x, y: getattr(xp, o.ufunc)(*((y, x) if o.swap else (x, y))),
            (is_tagged, number), {"ufunc": ("add", "maximum", "less", "arctan2"), "swap": (False, True)}),
    Feature("plain[tagged]", lambda xp, o, x, y: y[x.astype("i8").ravel() % max(1, len(y))],
            (lambda x: is_tagged(x) and x.dtype.kind in "iub", any_array)),
    Feature("plain[tagged > 0]", lambda xp, o, x, y: xp.resize(y, x.shape)[x > 0],
            (lambda x: is_tagged(x) and x.dtype.kind in "iuf", number)),
    Feature("tagged[plain]", lambda xp, o, x: x[o.key], (is_tagged,), {"key": _basic_key}),
    Feature("tagged += plain", lambda xp, o, x: x.__iadd__(o.y), (tagged_target,), {"y": _numbers_like}, "written"),
    Feature("out= of the class", lambda xp, o, x: xp.add(x, 1, out=x), (tagged_target,), {}, "written"),
    Feature("reductions of the class", lambda xp, o, x: getattr(x, o.name)(axis=o.axis), (is_tagged,),
            {"name": ("max", "min", "any", "all"), "axis": _axis}),
    Feature("methods of the class", lambda xp, o, x: getattr(x, o.name)(), (is_tagged,),
            {"name": ("copy", "flatten", "conj", "transpose", "squeeze", "nonzero", "argmax", "ravel")}),
    Feature("functions of the class", lambda xp, o, x: getattr(xp, o.name)(x), (is_tagged,),
            {"name": ("zeros_like", "atleast_2d", "asarray", "asanyarray", "isnan", "sign", "negative", "fliplr",
                      "array", "ascontiguousarray", "diff", "triu", "sort", "concatenate", "trace")}),
]  # fmt: skip


def _masked_writes(name: str, call: Callable[..., Any], /, **options: Any) -> Feature:
    """Return a row that writes to data and to mask, in several statements."""
    return Feature(name, call, (masked_target,), options, "written", loop=True)


# Copies are made of what in NumPy may or may not be the mask or the data of an operand.
MASKED = [
    Feature("ufunc", lambda xp, o, x, y: getattr(xp, o.ufunc)(x, y).copy(), (is_masked, masked_or_number),
            {"ufunc": ("add", "subtract", "multiply", "maximum", "less", "equal", "logical_and")}),
    Feature("ufunc the other way", lambda xp, o, x, y: getattr(xp, o.ufunc)(y, x).copy(), (is_masked, number),
            {"ufunc": ("add", "subtract", "multiply", "minimum")}),
    Feature("operator", lambda xp, o, x, y: getattr(x, o.name)(y), (is_masked, masked_or_number),
            {"name": ("__add__", "__rsub__", "__mul__", "__gt__", "__eq__", "__ne__")}),
    Feature("with a number", lambda xp, o, x: getattr(xp.ma, o.name)(x, o.y), (is_masked,),
            {"name": ("add", "multiply", "subtract", "maximum", "greater"), "y": (0, 1, 2.0, -1, True)}),
    Feature("unary", lambda xp, o, x: getattr(xp.ma, o.name)(x), (is_masked,),
            {"name": ("negative", "absolute", "logical_not", "conjugate")}),
    Feature("reduction", lambda xp, o, x: getattr(x, o.name)(axis=o.axis), (is_masked,),
            {"name": ("sum", "max", "min", "any", "all", "count", "cumsum"), "axis": _axis}, sums=True),
    Feature("reduction of the module", lambda xp, o, x: getattr(xp, o.name)(x, axis=o.axis), (is_masked,),
            {"name": ("sum", "max", "min", "any", "all"), "axis": _axis}, sums=True),
    Feature("mean", lambda xp, o, x: getattr(x, o.name)(axis=o.axis), (is_masked,),
            {"name": ("mean", "var"), "axis": _axis}, "close", sums=True),
    Feature("filled", lambda xp, o, x: x.filled(o.value).copy(), (is_masked,), {"value": (0, 1, 2)}),
    Feature("mask", lambda xp, o, x: xp.ma.getmaskarray(x).copy(), (is_masked,)),
    Feature("compressed", lambda xp, o, x: x.compressed(), (is_masked,)),
    Feature("x[key]", lambda xp, o, x: x[o.key], (is_masked,), {"key": _basic_key}),
    Feature("x[index]", lambda xp, o, x: x[o.key].copy(), (is_masked,), {"key": draw.index}),
    Feature("x[mask]", lambda xp, o, x: x[o.mask], (is_masked,), {"mask": _mask}),
    Feature("shapes", lambda xp, o, x: getattr(x, o.name)(), (is_masked,),
            {"name": ("transpose", "ravel", "copy", "squeeze", "flatten")}),
    Feature("reshape", lambda xp, o, x: x.reshape(o.shape), (is_masked,), {"shape": draw.reshape}),
    Feature("concatenate", lambda xp, o, x, y: xp.ma.concatenate([x, y], axis=o.axis),
            (is_masked, masked_or_number), {"axis": (0, -1)}),
    Feature("where", lambda xp, o, x, y: xp.ma.where(o.mask, x, y), (is_masked, masked_or_number),
            {"mask": _mask}),
    Feature("masked where", lambda xp, o, x: getattr(xp.ma, o.name)(x, o.value), (masked_or_number,),
            {"name": ("masked_greater", "masked_equal", "masked_less_equal", "masked_not_equal"), "value": (0, 1, 2)}),
    Feature("sort", lambda xp, o, x: xp.ma.sort(x, axis=o.axis), (is_masked,), {"axis": (0, -1)}),
    Feature("astype", lambda xp, o, x: x.astype(o.dtype), (is_masked,), {"dtype": ("float64", "float32", "c16")}),
    Feature("count_masked", lambda xp, o, x: xp.ma.count_masked(x, axis=o.axis), (is_masked,), {"axis": _axis}),
    Feature("place of", lambda xp, o, x: getattr(x, o.name)(axis=o.axis), (is_masked,),
            {"name": ("argmax", "argmin"), "axis": _axis}),
    Feature("numbers[masked comparison]", lambda xp, o, x: xp.asarray(x.data)[(x > o.value).filled(False)],
            (lambda x: is_masked(x) and x.dtype.kind in "iuf",), {"value": (0, 1, 2)}),
    _masked_writes("x[key] = masked", lambda xp, o, x: _set(x, o.key, xp.ma.masked), key=_basic_key),
    _masked_writes("x[key] = number", lambda xp, o, x: _set(x, o.key, o.value), key=_basic_key, value=(0, 1, 2)),
    _masked_writes("x[index] = number", lambda xp, o, x: _set(x, o.key, o.value), key=draw.index, value=(0, 1, 2)),
    _masked_writes("x[mask] = number", lambda xp, o, x: _set(x, o.mask, o.value), mask=_mask, value=(0, 1, 2)),
    _masked_writes("x += numbers", lambda xp, o, x: x.__iadd__(o.y), y=_numbers_like),
    _masked_writes("mask", lambda xp, o, x: setattr(x, "mask", o.mask), mask=_mask),
    _masked_writes("harden", lambda xp, o, x: getattr(x, o.name)(), name=("harden_mask", "soften_mask")),
    _masked_writes("fill_value", lambda xp, o, x: setattr(x, "fill_value", o.value), value=(1, 2)),
    Feature("x += masked", lambda xp, o, x, y: x.__iadd__(y), (masked_target, is_masked), {}, "written", loop=True),
]  # fmt: skip

# The groups of rows, and how often a step of other kinds is from each.
GROUPS: list[tuple[list[Feature], float]] = [
    (MAKING, 5), (VIEWS_OF_OTHERS, 4), (WRITES_TO_OTHERS, 4), (OTHERS, 4), (MIXED, 2), (TAGGED, 2), (MASKED, 4),
]  # fmt: skip
