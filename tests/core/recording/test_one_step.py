"""Operations that read an array and write it back, by many threads at once: no thread loses what another has written.

Between the two, every thread rests, so that it meets the others there unless reading and writing are one step.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.arrays import operators
from gpunumpy.arrays.binding import METHODS, PROPERTIES
from gpunumpy.arrays.operators import OPERATORS
from gpunumpy.core.recording.array import hand_over, ndarray

THREADS, ROUNDS, COLUMNS = 8, 6, 6
REST_S = 2e-4

Write = Callable[[Any, Any, int, int], Any]  # of the module, the array, the number of the thread, and of the round


def my_row(xp: Any, k: int) -> Any:
    return xp.asarray(numpy.arange(THREADS)[:, None] == k)


# Writes of a thread to its own row of an integer array, given the whole array.
OWN_ELEMENTS: dict[str, Write] = {
    "setitem": lambda xp, x, k, step: x.__setitem__(k, step),
    "setitem slice": lambda xp, x, k, step: x.__setitem__((k, slice(1, 3)), step),
    "setitem index": lambda xp, x, k, step: x.__setitem__((k, [0, 3]), step),
    "setitem mask": lambda xp, x, k, step: x.__setitem__(numpy.arange(THREADS) == k, step),
    "setitem mask of rows": lambda xp, x, k, step: x.__setitem__(xp.broadcast_to(my_row(xp, k), x.shape), step),
    "setitem of many": lambda xp, x, k, step: x.__setitem__(numpy.arange(THREADS) == k, [range(step, step + COLUMNS)]),
    "flat": lambda xp, x, k, step: x.flat.__setitem__(k * COLUMNS + 2, step),
    "flat of a transpose": lambda xp, x, k, step: x.T.flat.__setitem__([k, k + THREADS], step),
    "fill": lambda xp, x, k, step: x[k].fill(step),
    "put": lambda xp, x, k, step: xp.put(x, [k * COLUMNS, k * COLUMNS + 2], step),
    "put method": lambda xp, x, k, step: x.T.put([k, k + THREADS], step),
    "putmask": lambda xp, x, k, step: xp.putmask(x, xp.broadcast_to(my_row(xp, k), x.shape), step),
    "place": lambda xp, x, k, step: xp.place(x, xp.broadcast_to(my_row(xp, k), x.shape), [step, 3]),
    "put_along_axis": lambda xp, x, k, step: xp.put_along_axis(x, xp.full((1, COLUMNS), k), step, 0),
    "copyto": lambda xp, x, k, step: xp.copyto(x[k], step),
    "copyto where": lambda xp, x, k, step: xp.copyto(x, step, where=my_row(xp, k)),
    "fill_diagonal": lambda xp, x, k, step: xp.fill_diagonal(x[k].reshape(2, 3), step),
    "fill_diagonal wrapped": lambda xp, x, k, step: xp.fill_diagonal(x[k].reshape(2, 3).T, step, wrap=True),
    "at": lambda xp, x, k, step: xp.add.at(x, (k, [1, 1, 4]), step),
    "at rows": lambda xp, x, k, step: xp.maximum.at(x, [k], step),
    "at unary": lambda xp, x, k, step: xp.negative.at(x, (k, [2, 3])),
    "out": lambda xp, x, k, step: xp.add(x[k], step, out=x[k]),
    "out where": lambda xp, x, k, step: xp.add(x, step, out=x, where=my_row(xp, k)),
    "row += ": lambda xp, x, k, step: x[k].__iadd__(step),
    "sort": lambda xp, x, k, step: (x.__setitem__((k, 0), 100 - step), x[k].sort()),
    "partition": lambda xp, x, k, step: (x.__setitem__((k, 0), 100 - step), x[k].partition(range(COLUMNS))),
    "accumulate": lambda xp, x, k, step: xp.add.accumulate(x[k] % 7, out=x[k]),
    "byteswap": lambda xp, x, k, step: x[k].byteswap(True),
    "setfield": lambda xp, x, k, step: x[k].setfield(step, "i4", 4),
    "setfield of bytes": lambda xp, x, k, step: x[k].setfield(step, "i2", 3),
    "real": lambda xp, x, k, step: setattr(x[k], "real", step),
    "real of complex elements": lambda xp, x, k, step: setattr(x[k].view("c16"), "imag", step),
}  # fmt: skip

# Operations on a whole array that leave the elements as they are.
WITHOUT_EFFECT: dict[str, Callable[[Any], Any]] = {
    "+=": lambda x: x.__iadd__(0),
    "|=": lambda x: x.__ior__(0),
    "**=": lambda x: x.__ipow__(1),
    "@=": lambda x: x.__imatmul__(np.eye(COLUMNS, dtype=int)),
    "a view +=": lambda x: x.T.__iadd__(0),
    "out": lambda x: np.add(x, 0, out=x),
    "out where": lambda x: np.add(x, 1, out=x, where=False),
    "clip": lambda x: x.clip(-1000, 1000, out=x),
    "round": lambda x: x.round(out=x),
    "nan_to_num": lambda x: np.nan_to_num(x, copy=False),
    "nan_to_num of a view": lambda x: np.nan_to_num(x.view(float), copy=False),
    "at": lambda x: np.add.at(x, (), 0),
    "sort": lambda x: x[..., None].sort(),
    "partition": lambda x: x[..., None].partition(0),
    "accumulate": lambda x: np.add.accumulate(x[..., None], axis=2, out=x[..., None]),
    "cumsum": lambda x: np.cumsum(x[..., None], axis=2, out=x[..., None]),
    "resize": lambda x: x.resize(THREADS, COLUMNS),
    "shape": lambda x: setattr(x, "shape", x.shape),
    "strides": lambda x: setattr(x, "strides", x.strides),
    "flags": lambda x: (x.setflags(write=True), setattr(x.flags, "writeable", True)),
    "shuffle": lambda x: np.random.default_rng(1).shuffle(x[None]),
    "permuted": lambda x: np.random.default_rng(1).permuted(x[None], axis=0, out=x[None]),
    "legacy shuffle": lambda x: np.random.RandomState(1).shuffle(x[None]),
    "putmask": lambda x: np.putmask(x, np.zeros(x.shape, bool), 1),
    "place": lambda x: np.place(x, np.zeros(x.shape, bool), [1]),
    "copyto": lambda x: np.copyto(x, 1, where=False),
    "flat": lambda x: x.T.flat.__setitem__([], 1),
}

# Operations of all threads on the same elements, in which the order does not matter.
SAME_ELEMENTS: dict[str, Write] = {
    "add.at": lambda xp, x, k, step: xp.add.at(x, (3, [1, 1]), 1),
    "subtract.at": lambda xp, x, k, step: xp.subtract.at(x, [3], k),
    "maximum.at": lambda xp, x, k, step: xp.maximum.at(x, (slice(None), 2), 10 * k + step),
    "+=": lambda xp, x, k, step: x.__iadd__(k),
    "-=": lambda xp, x, k, step: x.__isub__(x.dtype.type(1)),
    "*=": lambda xp, x, k, step: x.__imul__([-1]),
    "^=": lambda xp, x, k, step: x.__ixor__(1 << k),
    "|=": lambda xp, x, k, step: x.__ior__(1 << k),
    "&=": lambda xp, x, k, step: x.__iand__(~(1 << k)),
    "//=": lambda xp, x, k, step: x.__ifloordiv__(1),
    "@=": lambda xp, x, k, step: x.__imatmul__(-xp.eye(COLUMNS, dtype=int)),
    "a view +=": lambda xp, x, k, step: x[2:5, ::2].__iadd__(1),
    "out": lambda xp, x, k, step: xp.add(x, 1, out=x),
    "out where": lambda xp, x, k, step: xp.add(x, 1, out=x, where=my_row(xp, 3)),
    "setitem": lambda xp, x, k, step: x.__setitem__((slice(None), 1), 7),
    "put": lambda xp, x, k, step: xp.put(x, [1, 4], 7),
    "sort": lambda xp, x, k, step: x.sort(axis=0),
}


def statement(xp: Any, x: Any, k: int, step: int) -> None:
    x[1:3] += 1
    x[:, ::2] -= k


SAME_ELEMENTS["x[i:j] += 1"] = statement


@pytest.fixture(autouse=True)
def resting(device: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """On each device in turn, with threads that rest between reading and writing."""

    def rest_before(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            time.sleep(REST_S)
            return function(*args)

        return run

    monkeypatch.setattr(ndarray, "assign", rest_before(ndarray.assign))
    monkeypatch.setattr(ndarray, "_set", rest_before(ndarray._set))
    monkeypatch.setattr(operators, "hand_over", rest_before(hand_over))
    with np.Device(device):
        yield
        np.synchronize()


def in_threads(device: str, *works: Callable[[int], Any]) -> None:
    """Run every one of `works` in a thread for all rounds, begun at once."""
    start = Barrier(len(works), timeout=60)

    def one(work: Callable[[int], Any]) -> None:
        with np.Device(device):
            start.wait()
            for step in range(ROUNDS):
                work(step)

    with ThreadPoolExecutor(len(works)) as pool:
        for future in [pool.submit(one, work) for work in works]:
            future.result(timeout=120)


def values() -> Any:
    return numpy.arange(THREADS * COLUMNS).reshape(THREADS, COLUMNS) % 17


def by_all_threads(write: Write, device: str) -> None:
    x, expected = np.array(values()), values()
    in_threads(device, *(lambda step, k=k: write(np, x, k, step) for k in range(THREADS)))  # type: ignore[misc]
    for k in range(THREADS):
        for step in range(ROUNDS):
            write(numpy, expected, k, step)
    numpy.testing.assert_array_equal(x.get(), expected)


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.parametrize("name", OWN_ELEMENTS)
def test_threads_that_write_their_own_elements(name: str, device: str) -> None:
    by_all_threads(OWN_ELEMENTS[name], device)


@pytest.mark.parametrize("name", SAME_ELEMENTS)
def test_threads_that_write_the_same_elements(name: str, device: str) -> None:
    by_all_threads(SAME_ELEMENTS[name], device)


@pytest.mark.filterwarnings("ignore:setting the (shape|strides):DeprecationWarning")
@pytest.mark.parametrize("name", WITHOUT_EFFECT)
def test_writes_beside_an_operation_on_the_whole_array(name: str, device: str) -> None:
    x, operation = np.array(values()), WITHOUT_EFFECT[name]

    def write(step: int) -> None:
        for k in range(THREADS):
            x[k, step % COLUMNS] = 100 * k + step

    in_threads(device, write, *[lambda step: operation(x)] * 3)
    expected = values()
    for step in range(ROUNDS):
        expected[:, step % COLUMNS] = 100 * numpy.arange(THREADS) + step
    numpy.testing.assert_array_equal(x.get(), expected)


def in_own_rows(device: str, write: Callable[[Any, Any, int], Any], start: Any) -> None:
    """Assert that rows that all threads write at once, each its own, hold what NumPy writes into them."""
    x, expected = np.array(start), start
    works = [lambda step, k=k: write(np, x, k) for k in range(THREADS)]  # type: ignore[misc]
    in_threads(device, *works)
    for k in range(THREADS):
        for _ in range(ROUNDS):
            write(numpy, expected, k)
    found = x.get()
    if expected.dtype.kind in "fc":
        numpy.testing.assert_allclose(found, expected, 1e-5, 1e-12)
    else:
        numpy.testing.assert_array_equal(found, expected)


UFUNCS = [name for name, function in vars(np).items() if isinstance(function, type(np.add)) and function.nout == 1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", UFUNCS)
def test_at_of_every_ufunc(name: str, device: str) -> None:
    ufunc = getattr(numpy, name)
    if ufunc.nin > 2:
        pytest.skip("takes two arrays of operands, which `at` refuses")
    for dtype in ("i8", "f8", "?"):
        start = (values() % 3).astype(dtype)
        operands = [numpy.array([1, 2, 1]).astype(dtype)] * (ufunc.nin - 1)
        try:
            ufunc.at(start.copy(), (0, [0, 2, 2]), *operands)
        except TypeError:
            continue
        write = lambda xp, x, k: getattr(xp, name).at(x, (k, [0, 2, 2]), *operands)  # noqa: B023, E731
        in_own_rows(device, write, start)
        return
    pytest.skip("no dtype of these stays as it is")


def signals() -> Any:
    return numpy.arange(24.0).reshape(4, 6) % 7 + 1


# Arguments of the functions that take `out` and are no ufuncs. Those that are not here take one array.
ARGUMENTS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "choose": lambda: (numpy.arange(6) % 4, signals()),
    "compress": lambda: ([True, False, True], signals()),
    "take": lambda: (signals(), [3, 1, 20]),
    "concatenate": lambda: ([signals(), signals()],),
    "concat": lambda: ([signals(), signals()],),
    "stack": lambda: ([signals(), signals()],),
    "einsum": lambda: ("ij,kj->ik", signals(), signals()),
    "matmul": lambda: (signals(), signals().T),
    "matvec": lambda: (signals(), signals()[0]),
    "vecmat": lambda: (signals()[:, 0], signals()),
    "vecdot": lambda: (signals(), signals()),
    "dot": lambda: (signals(), signals().T),
    "outer": lambda: (signals()[0], signals()[1]),
    "cumulative_sum": lambda: (signals()[0],),
    "cumulative_prod": lambda: (signals()[0],),
    "percentile": lambda: (signals(), 30),
    "nanpercentile": lambda: (signals(), 30),
    "quantile": lambda: (signals(), 0.3),
    "nanquantile": lambda: (signals(), 0.3),
    "clip": lambda: (signals(), 2, 5),
    "multi_dot": lambda: ([signals(), signals().T, signals()],),
    "hfft": lambda: (signals() + 1j,),
}


def takes_out(function: Any) -> bool:
    try:
        return "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


WITH_OUT = [
    (module, name)
    for module in ("", "linalg", "fft")
    for name, function in vars(getattr(np, module) if module else np).items()
    if hasattr(getattr(numpy, module) if module else numpy, name)
    and callable(function)
    and not isinstance(function, type(np.add))
    and takes_out(function)
]


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(("module", "name"), WITH_OUT)
def test_out_of_every_function(module: str, name: str, device: str) -> None:
    if name in ("hfft", "ifft2", "irfft2") and tuple(map(int, numpy.__version__.split(".")[:2])) < (2, 5):
        pytest.skip("NumPy wrote nothing to `out` before 2.5")

    def function(xp: Any) -> Any:
        return getattr(getattr(xp, module) if module else xp, name)

    args = ARGUMENTS.get(name, lambda: (signals(),))()
    result = numpy.asarray(function(numpy)(*args))

    def write(xp: Any, x: Any, k: int) -> None:
        x[k] = 0
        function(xp)(*args, out=x[k, ...])

    in_own_rows(device, write, numpy.zeros((THREADS, *result.shape), result.dtype))


DRAWS = ("random", "standard_exponential", "standard_normal", "standard_gamma")


@pytest.mark.parametrize("name", DRAWS)
def test_out_of_random_numbers(name: str, device: str) -> None:
    args = (2.0,) if name == "standard_gamma" else ()
    generators = [np.random.default_rng(k) for k in range(THREADS)]
    x = np.zeros((THREADS, 1000))
    in_threads(
        device,
        *(lambda step, k=k: getattr(generators[k], name)(*args, out=x[k]) for k in range(THREADS)),  # type: ignore[misc]
    )
    for k in range(THREADS):
        generator = np.random.default_rng(k)
        for _ in range(ROUNDS):
            expected = getattr(generator, name)(*args, 1000)
        numpy.testing.assert_array_equal(x[k].get(), np.asnumpy(expected))


def test_flags_that_two_threads_set() -> None:
    for _ in range(20):
        x = (np.arange(3.0) + 1).sum()  # acts as a scalar until it is written to
        in_threads("cpu", lambda step, x=x: x.__setitem__((), 1.0), lambda step, x=x: x.setflags(write=True))  # type: ignore[misc]
        assert x.flags.writeable


def test_every_operation_that_writes_is_here() -> None:
    """What the tables of the package and NumPy's own names say writes to an array is in one of the tables above."""
    tested = " ".join([*OWN_ELEMENTS, *WITHOUT_EFFECT, *SAME_ELEMENTS])
    symbols = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "and": "&", "or": "|", "xor": "^", "pow": "**"}
    symbols |= {"matmul": "@"}
    # These run the code of the others, with another op.
    same_code = {"truediv", "mod", "lshift", "rshift"}
    in_place = {name[3:-2] for name in OPERATORS if name.startswith("__i") and f"__{name[3:]}" in OPERATORS}
    assert all(f"{symbols[name]}=" in tested for name in in_place - same_code)
    methods = {"put", "sort", "partition", "fill", "resize", "byteswap", "setfield"}
    assert methods <= set(METHODS)
    assert {"setitem", *methods} <= set(tested.split())
    written_properties = {name for name, (_, write) in PROPERTIES.items() if write is not None}
    assert written_properties == {"dtype", "flat", "real", "imag", "shape", "strides"}
    originals = {name: getattr(function, "__wrapped__", function) for name, function in vars(np).items()}
    codes = {name: getattr(function, "__code__", None) for name, function in originals.items()}
    functions = {name for name, code in codes.items() if code and code.co_qualname == "in_place.<locals>.run"}
    assert functions == {"put", "putmask", "place", "put_along_axis", "fill_diagonal"}
    assert functions | {"copyto"} <= set(tested.split())
