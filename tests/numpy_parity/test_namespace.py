"""The namespace: every public name of NumPy, its own objects where they are right, the host for the rest."""

from __future__ import annotations

import copy
import importlib
import inspect
import operator
import pickle
import subprocess
import sys
import types
import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
from ml_dtypes import bfloat16

import gpunumpy as np
from gpunumpy.arrays.operators import OPERATORS
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.functions import fallback

from ..support.arrays import to_host
from .parity import check, same, sample


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if nothing had been said yet."""
    monkeypatch.setattr(fallback, "_warned", set())
    np.host_fallback("warn")
    yield
    np.host_fallback("warn")


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
def test_every_public_name_is_here() -> None:
    names = {*numpy.__all__} - {"core"}  # which is a folder here
    for name in names:
        found = getattr(np, name)
        assert callable(found) == callable(getattr(numpy, name)), name
    assert names <= set(np.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        np.nonsense  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError):
        np.linalg.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_star_import_binds_what_is_listed() -> None:
    code = "import warnings; warnings.simplefilter('ignore'); from gpunumpy import *; print(pi, sum([1, 2]), float32)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split()[:2] == ["3.141592653589793", "3"]


NUMPYS_OWN = (
    "float32 float64 int8 uint16 complex128 bool bool_ intp floating integer generic number dtype iinfo pi e inf nan "
    "newaxis euler_gamma True_ False_ geterrcall seterrcall set_printoptions printoptions issubdtype "
    "format_float_positional"
)


@pytest.mark.parametrize("name", NUMPYS_OWN.split())
def test_objects_of_numpy(name: str) -> None:
    assert getattr(np, name) is getattr(numpy, name)


def test_dtypes_of_arrays() -> None:
    a = np.zeros(3, np.float32)
    assert a.dtype is np.dtype("f4")
    assert np.issubdtype(a.dtype, np.floating)
    assert isinstance(a.dtype.type(0), np.floating)
    assert np.bfloat16 is bfloat16


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", float, numpy.longdouble])
def test_limits_of_floats(dtype: Any) -> None:
    tested, reference = np.finfo(dtype), numpy.finfo(dtype)
    for name in (n for n in dir(reference) if not n.startswith("_")):
        assert getattr(tested, name) == getattr(reference, name), name
    if dtype is not numpy.longdouble:
        for name in ("eps", "max", "min", "smallest_normal", "tiny"):
            assert type(getattr(tested, name)) is type(getattr(reference, name))
        assert tested == np.finfo(np.ones(2, dtype)) == np.finfo(np.ones(2, dtype).dtype)
    assert (repr(tested), str(tested), hash(tested)) == (repr(reference), str(reference), hash(copy.copy(tested)))
    assert tested != np.finfo("f4" if tested.bits == 16 else "f2")
    with pytest.raises(AttributeError):
        tested.nonsense  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ValueError):
        np.finfo(int)


def test_limits_of_bfloat16() -> None:
    for dtype in (np.bfloat16, "bfloat16", np.ones(2, np.bfloat16), np.ones(2, np.bfloat16).dtype):
        assert np.finfo(dtype).max == float(bfloat16(3.3895e38))
        assert type(np.finfo(dtype).eps) is float
        assert np.finfo(dtype).dtype == bfloat16
        assert np.finfo(dtype) != np.finfo("f4")


@pytest.mark.parametrize("dtype", ["f4", numpy.float64, ">f8", "c8", "g", np.bfloat16])
def test_limits_are_made_once(dtype: Any) -> None:
    limits = np.finfo(dtype)
    assert limits is np.finfo(dtype) is np.finfo(limits.dtype)
    assert all(copied is limits for copied in (copy.copy(limits), pickle.loads(pickle.dumps(limits))))
    assert limits is not np.finfo("f2")


def test_kinds_of_dtypes() -> None:
    kinds = ("bool", "integral", "signed integer", "unsigned integer", "real floating", "complex floating", "numeric")
    for dtype in (*map(numpy.dtype, "?bhiqBHIQefdFD"), numpy.float32):
        for kind in (*kinds, numpy.float32, ("bool", "real floating"), (numpy.dtype("f8"), "bool"), ()):
            assert np.isdtype(dtype, kind) == numpy.isdtype(dtype, kind), (dtype, kind)
        assert not np.isdtype(dtype, np.bfloat16)
    for dtype in (np.bfloat16, np.dtype(np.bfloat16)):
        assert [kind for kind in kinds if np.isdtype(dtype, kind)] == ["real floating", "numeric"]
        assert np.isdtype(dtype, ("bool", np.bfloat16))
        assert not np.isdtype(dtype, np.float32)
        with pytest.raises(ValueError):
            np.isdtype(dtype, "text")


def test_promotion() -> None:
    f, i = np.zeros(2, "f4"), np.zeros(2, "i8")
    hf, hi = f.get(), i.get()
    for tested, reference in (
        ((f, i), (hf, hi)),
        ((f, 1.0), (hf, 1.0)),
        ((i, 2.5), (hi, 2.5)),
        (("i2", f), ("i2", hf)),
    ):
        assert np.result_type(*tested) == numpy.result_type(*reference)
    assert np.promote_types("i4", "f4") == numpy.promote_types("i4", "f4")
    assert np.can_cast(i.dtype, "f4") == numpy.can_cast(hi.dtype, "f4")
    assert np.can_cast(i, "f4", "same_kind")
    assert np.min_scalar_type(200) == numpy.min_scalar_type(200)
    assert np.min_scalar_type(f) == numpy.min_scalar_type(hf)
    assert np.common_type(f, i) is numpy.common_type(hf, hi)
    with pytest.raises(ValueError):
        np.result_type()


def test_questions_about_arrays() -> None:
    a = np.zeros((2, 3))
    assert (np.ndim(a), np.shape(a), np.size(a), np.size(a, 1)) == (2, (2, 3), 6, 3)
    check(np.size, numpy.size, numpy.zeros((2, 3)), (0, 1))
    assert (np.ndim([1]), np.shape([[1, 2]]), np.size(3)) == (1, (1, 2), 1)
    assert np.isscalar(np.sum(a))
    assert np.isscalar(3)
    assert not np.isscalar(np.array(3))
    assert np.iterable(a)
    assert not np.iterable(3)
    assert np.broadcast_shapes((2, 1), (3,)) == (2, 3)


@pytest.mark.usefixtures("fresh")
def test_the_host_says_so_once() -> None:
    a = np.array([0.5, 1, 2])
    log2 = fallback.on_host(numpy.log2, "gpunumpy.some.log2")
    with pytest.warns(np.HostFallbackWarning, match=r"gpunumpy\.some\.log2") as caught:
        same(to_host(log2(a)), numpy.array([-1.0, 0, 1]))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log2(a)
    np.host_fallback("error")
    with pytest.raises(np.HostFallbackWarning):
        log2(a)
    np.host_fallback("ignore")
    log2(a)
    assert np.host_fallback() == "ignore"
    with pytest.raises(ValueError, match="allowed"):
        np.host_fallback("shout")


@pytest.mark.usefixtures("fresh")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("action", ["warn", "error", "ignore"])
def test_a_look_at_a_name_says_nothing(action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in fallback._HOLDERS & vars(np).keys():
        monkeypatch.delattr(np, name)
    np.host_fallback(action)
    for name in {*numpy.__all__, *dir(numpy), "matrixlib", "float_", "in1d", "nonsense"}:
        if not name.startswith("_"):
            assert hasattr(np, name) == hasattr(numpy, name), name
    assert hasattr(np.rec, "recarray")


@pytest.mark.parametrize(
    "name",
    [
        *(f"{name}" for name in ("float_", "int", "product", "find_common_type", "nonsense")),
        *(f"lib.{name}" for name in ("function_base", "arrayterator", "nanfunctions", "nonsense")),
    ],
)
def test_names_that_numpy_has_no_more(name: str) -> None:
    texts = []
    for module in (numpy, np):
        with pytest.raises(AttributeError) as raised:
            operator.attrgetter(name)(module)
        texts.append(str(raised.value))
    # NumPy does not say what to write instead of some names that it has dropped.
    assert texts[1].replace("gpunumpy", "numpy").removesuffix("; use prod") == texts[0]


HELD: dict[str, Any] = {
    "matrix": lambda np_, x: np_.matrix(x).shape,
}


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("name", HELD)
def test_calls_of_classes_that_hold_arrays_say_so(name: str) -> None:
    x = np.arange(3.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert HELD[name](np, x) == HELD[name](numpy, x.get())
    ours = [warning for warning in caught if warning.category is np.HostFallbackWarning]
    assert [(f".{name} runs" in str(warning.message), warning.filename) for warning in ours] == [(True, __file__)]
    np.host_fallback("error")
    with pytest.raises(np.HostFallbackWarning, match=name):
        HELD[name](np, x)


@pytest.mark.usefixtures("fresh")
def test_classes_of_records_and_files_say_nothing() -> None:
    assert np.recarray(2, [("a", "f8")]).dtype.names == ("a",)
    assert np.memmap(__file__, mode="r", shape=(2,)).shape == (2,)


@pytest.mark.usefixtures("fresh")
def test_classes_that_hold_arrays_are_classes() -> None:
    np.host_fallback("ignore")
    made = np.poly1d([1, 2])
    assert type(made) is numpy.poly1d
    assert isinstance(made * made, np.poly1d)
    assert isinstance(numpy.broadcast(1, 2), np.broadcast)
    assert issubclass(np.broadcast, np.broadcast)
    assert issubclass(np.memmap, numpy.ndarray)
    assert issubclass(numpy.memmap, np.memmap)
    assert not isinstance(np.zeros(3), np.matrix)
    assert np.rec.recarray is np.recarray

    class Line(np.poly1d):
        def __init__(self, slope: float) -> None:
            super().__init__([slope, 0])

    assert Line(2)(3) == 6
    assert isinstance(Line(2), np.poly1d)
    assert Line.__mro__[1] is numpy.poly1d
    viewed = numpy.zeros(2, [("a", "f8")]).view(np.recarray)
    assert isinstance(viewed, np.recarray)
    assert viewed.a.tolist() == [0, 0]
    assert pickle.loads(pickle.dumps(viewed)).a.tolist() == [0, 0]


@pytest.mark.usefixtures("fresh")
def test_a_warning_that_is_an_error_stays_one() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(np.HostFallbackWarning):
                fallback.on_host(numpy.log2, "log2")(np.arange(1.0, 4))


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
def test_the_host_writes_into_our_arrays() -> None:
    run = fallback.on_host(numpy.copyto, "copyto")
    a = np.zeros((2, 3))
    assert run(a[:, 1], numpy.array([5.0, 6.0])) is None
    same(to_host(a), numpy.array([[0, 5, 0], [0, 6, 0.0]]))
    total = np.zeros(3)
    assert fallback.on_host(numpy.add, "add")(a[0], a[1], out=total) is total
    same(to_host(total), numpy.array([0, 11, 0.0]))
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        run(a, 1)


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
def test_submodules() -> None:
    x = sample("d", (3, 3)) + numpy.eye(3) * 20
    check(np.linalg.inv, numpy.linalg.inv, x, ulp=100)
    assert isinstance(np.linalg.eigh(np.asarray(x + x.T)).eigenvalues, np.ndarray)
    assert issubclass(np.linalg.LinAlgError, ValueError)
    check(np.fft.fft, numpy.fft.fft, sample("d", (8,)), ulp=100)
    assert isinstance(np.random.default_rng(0), object)
    assert isinstance(np.ma, types.ModuleType)


SUBMODULES = (
    "lib lib.stride_tricks lib.mixins lib.scimath lib.array_utils lib.npyio ma ma.extras polynomial "
    "polynomial.polynomial polynomial.chebyshev char strings rec exceptions dtypes typing ctypeslib version "
    "random.mtrand linalg fft random testing testing.overrides matrixlib.defmatrix"
)


@pytest.mark.parametrize("name", SUBMODULES.split())
@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
def test_import_statements_find_submodules(name: str) -> None:
    """In a program that has met none of them yet."""
    parent, _, last = f"gpunumpy.{name}".rpartition(".")
    code = (
        f"import gpunumpy.{name} as found; from {parent} import {last} as again; import gpunumpy, numpy; "
        f"print(found is again is gpunumpy.{name}, hasattr(found, '__file__'), numpy.{name}.__spec__.name)"
    )
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    own = (
        name in ("linalg", "fft", "ma", "polynomial", "random", "testing", "typing") or name in fallback._PLAIN_MODULES
    )
    assert ran.stdout.split() == ["True", str(own), f"numpy.{name}"], ran.stderr


def test_names_that_numpy_does_not_list() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vars(np).pop("chararray", None)
        fallback._FOUND.clear()
        assert hasattr(np, "chararray") == hasattr(numpy, "chararray")
        matlib = importlib.import_module("gpunumpy.matlib")
        assert isinstance(matlib.eye(2), numpy.matrix)
    assert matlib.sum is np.sum
    assert np.strings.equal is np.equal


@pytest.mark.parametrize("name", ["array", "asarray", "chararray", "upper"])
def test_numpy_warns_each_time_that_a_name_is_asked_for(name: str) -> None:
    def warnings_of(module: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            for _ in range(3):
                assert callable(getattr(module, name))
        return [str(one.message) for one in given]

    assert warnings_of(np.char) == warnings_of(numpy.char)


def test_signatures_of_ufuncs_are_numpys() -> None:
    for name in ("sin", "add", "divmod", "isnan", "frexp"):
        numpys: Any = getattr(numpy, name)
        try:
            expected = inspect.signature(numpys)
        except ValueError:  # before NumPy 2.4
            continue
        assert inspect.signature(getattr(np, name)) == expected
    inspect.signature(np.ufunc)


@pytest.mark.parametrize(
    "name",
    [
        *("add.accumulate", "add.at", "add.outer", "add.reduce", "add.reduceat"),
        *("matmul", "matvec", "vecdot", "vecmat"),
        *("array2string", "array_repr", "errstate", "matrix", "memmap", "ndenumerate", "nditer", "nested_iters"),
        *("poly1d", "recarray"),
    ],
)
def test_parameters_of_functions_are_numpys(name: str) -> None:
    if name in ("add.at", "add.reduce") and not IS_COMPILED:
        return  # the methods of the class itself, in which parameters are named that NumPy takes as ``**kwargs``
    reference, tested = (operator.attrgetter(name)(xp) for xp in (numpy, np))
    try:
        expected = inspect.signature(reference).parameters
    except ValueError:  # before NumPy 2.4
        return
    if "style" in expected:  # before NumPy 2.4, where more parameters of `array2string` are positional
        return
    found = inspect.signature(tested).parameters
    assert [(p.name, p.kind) for p in found.values()] == [(p.name, p.kind) for p in expected.values()]


@pytest.mark.parametrize("name", ["nonsense", "lib.nonsense", "_core", "exceptions.nonsense"])
def test_other_submodules_are_not_found(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"No module named 'gpunumpy.{name}'"):
        importlib.import_module(f"gpunumpy.{name}")


def test_array_namespace_info() -> None:
    tested, reference = np.__array_namespace_info__(), numpy.__array_namespace_info__()
    more = {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert tested.capabilities() == reference.capabilities() | more
    assert tested.default_device() is np.default_device()
    assert tested.devices() == tuple(np.devices())  # as the standard has it; NumPy gives a list
    assert tested.default_dtypes() == reference.default_dtypes()
    assert tested.default_dtypes(device="cpu") == reference.default_dtypes()
    for kind in (None, "bool", "signed integer", "unsigned integer", "integral", "real floating", "numeric"):
        assert tested.dtypes(kind=kind) == reference.dtypes(kind=kind), kind
    kinds = ("bool", "complex floating")
    assert tested.dtypes(device=np.Device("cpu"), kind=kinds) == reference.dtypes(kind=kinds)
    with pytest.raises(ValueError):
        tested.dtypes(kind="text")
    with pytest.raises(ValueError):
        tested.dtypes(device="tpu")


def test_testing() -> None:
    a = np.arange(3.0)
    np.testing.assert_array_equal(a, [0, 1, 2])
    np.testing.assert_allclose(np.sum(a), 3.0)
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(a, [0, 1, 3])
    with pytest.raises(AssertionError):
        np.testing.assert_equal([a, 1], [a, 2])
    np.testing.assert_equal(np.linalg.slogdet(np.zeros((0, 0), "F")), (1, 0))
    with np.testing.assert_raises(ValueError):
        raise ValueError


NESTED: dict[str, Any] = {
    "alone": lambda x: x,
    "list": lambda x: [1, x],
    "tuple": lambda x: ("a", (x, None)),
    "dict": lambda x: {"k": [x], "l": 2},
    "dict of a subclass": lambda x: OrderedDict(k=x),
    "list of a subclass": lambda x: UserSubclassOfList([x, x]),
    "named tuple": lambda x: Pair(x, 3),
}
Pair = namedtuple("Pair", "first second")


class UserSubclassOfList(list[Any]):
    pass


@pytest.mark.parametrize("other", [3.0, [1.0, numpy.nan, -0.0], [1.0, numpy.nan, 0.0], [1.0, 2.0], "text"], ids=repr)
@pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED)
def test_assert_equal_compares_what_is_nested(nested: Any, other: Any) -> None:
    values = numpy.array([1.0, numpy.nan, -0.0])
    x = np.asarray(values)
    np.testing.assert_equal(nested(x), nested(np.asarray(values)))
    np.testing.assert_equal(nested(x), nested(values))
    np.testing.assert_equal(nested(x[2]), nested(numpy.float64(-0.0)))
    for tested, reference in ((x, values), (x[0], values[0]), (np.array(3.0), numpy.array(3.0))):
        assert _failure(np, nested(tested), nested(other)) == _failure(numpy, nested(reference), nested(other))
        assert _failure(np, nested(other), nested(tested)) == _failure(numpy, nested(other), nested(reference))


def _failure(np_: Any, actual: Any, desired: Any) -> str | None:
    try:
        np_.testing.assert_equal(actual, desired)
    except AssertionError as error:
        return str(error)
    return None


def test_what_testing_calls_gets_arrays_of_ours() -> None:
    x = np.zeros(3)

    def fail(a: Any) -> None:
        a[0] = 1
        raise ValueError(type(a).__module__)

    np.testing.assert_raises(ValueError, fail, x)
    np.testing.assert_raises_regex(ValueError, "gpunumpy", fail, x)
    assert x[0] == 1


def test_copies_and_pickles() -> None:
    a = np.arange(6.0).reshape(2, 3)
    for made in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a)), pickle.loads(pickle.dumps(a.T)).T):
        same(to_host(made), a.get())
        made[0, 0] = 9
        assert float(a[0, 0]) == 0
    s = np.sum(a)
    for made in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert np.isscalar(made)
        assert float(made) == 15
    b = np.ones(2, np.bfloat16)
    assert pickle.loads(pickle.dumps(b)).dtype == b.dtype
    assert str(pickle.loads(pickle.dumps(a)).device) == str(a.device)


def test_to_the_host_and_between_devices() -> None:
    a = np.arange(6).reshape(2, 3)
    for host in (a.get(), np.asnumpy(a), np.asnumpy([[0, 1, 2], [3, 4, 5]])):
        assert type(host) is numpy.ndarray
        numpy.testing.assert_array_equal(host, numpy.arange(6).reshape(2, 3))
    assert np.asnumpy(a, order="F").flags.f_contiguous
    assert a.to_device(a.device) is a
    assert a.to_device("cpu").device is np.Device("cpu")
    with pytest.raises(ValueError, match="stream"):
        a.to_device("cpu", stream=1)
    for order in ("C", "F", "A"):
        assert a.T.tobytes(order) == a.get().T.tobytes(order)


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.parametrize(("name", "args"), [("byteswap", ()), ("getfield", (float,))])
def test_methods_on_the_host(name: str, args: tuple[Any, ...]) -> None:
    reference = sample("d", (7,), 3)
    tested = np.asarray(reference)
    same(outcome_of(tested, name, args), outcome_of(reference, name, args))
    same(to_host(tested), reference)


def outcome_of(x: Any, name: str, args: tuple[Any, ...]) -> Any:
    return np.asnumpy(getattr(x, name)(*args))


_METHODS = sorted(
    name
    for name, x in vars(numpy.ndarray).items()
    if isinstance(x, (types.MethodDescriptorType, types.WrapperDescriptorType)) and hasattr(np.ndarray, name)
)


@pytest.mark.parametrize("name", _METHODS)
def test_methods_know_their_names(name: str) -> None:
    method, original = (getattr(cls, name) for cls in (np.ndarray, numpy.ndarray))
    assert method.__name__ == original.__name__
    if not isinstance(method, (types.MethodDescriptorType, types.WrapperDescriptorType)):  # of the core, or of `object`
        assert method.__qualname__ == original.__qualname__
    if name in OPERATORS:
        assert method.__doc__ == original.__doc__
    assert pickle.loads(pickle.dumps(method)) is getattr(np.ndarray, name)


def test_bound_methods_are_pickled() -> None:
    x = np.arange(3)
    assert pickle.loads(pickle.dumps(x.__add__))(2).tolist() == [2, 3, 4]
    assert int(pickle.loads(pickle.dumps(x.__matmul__))(x)) == 5
    assert int(pickle.loads(pickle.dumps(x.sum))()) == 3
