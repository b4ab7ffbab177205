"""The memo: its bounds, results that are repeated from it, and threads that compute operands meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.graph import bounded_table, layout
from gpunumpy.core.graph import node as graph
from gpunumpy.core.graph.bounded_table import BoundedTable, forget_all
from gpunumpy.core.graph.node import Node
from gpunumpy.core.graph.primitives import Gather, Iota
from gpunumpy.core.graph.signature import Signature
from gpunumpy.core.recording import calls as calls_module
from gpunumpy.core.recording import memo
from gpunumpy.core.recording.array import MADE_AS_ARRAY, ndarray, wrap, wrap_ordered
from gpunumpy.core.recording.memo import MemoizedFunction, MemoizedOperation, Recipe, StandIns, static_key
from gpunumpy.core.runtime import evaluate
from gpunumpy.fft import transforms
from gpunumpy.functions.creation import ranges
from gpunumpy.functions.manipulation import repeating
from gpunumpy.functions.products import einsum, matrix_product, stacked
from gpunumpy.functions.sorting import searching, sort
from tests.support.arrays import to_host

from ...support.met_nodes import Met

# --- the bounded table ------------------------------------------------------------------------------------------------


@pytest.fixture
def fresh_tables() -> Iterator[None]:
    forget_all()
    yield
    forget_all()


@pytest.mark.usefixtures("fresh_tables")
def test_all_tables_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_table, "MAX_ENTRIES", 10)
    tables: list[BoundedTable[int, int]] = [BoundedTable() for _ in range(3)]
    for k in range(100):
        assert tables[k % 3].keep(k, k * k) == k * k
        assert tables[k % 3].find(k) == k * k
        assert sum(len(table._entries) for table in bounded_table._tables) <= 10
    assert tables[0].find(0) is None


def test_the_first_value_that_is_kept_stays() -> None:
    table: BoundedTable[str, object] = BoundedTable()
    first, second = object(), object()
    assert table.find("key") is None
    assert table.keep("key", first) is first
    assert table.keep("key", second) is first
    assert table.find("key") is first


@pytest.mark.usefixtures("fresh_tables")
@pytest.mark.parametrize("limit", [0, 1, 2, 3, 5, 8, 40])
def test_forgetting_changes_no_result(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that are emptied in the middle of all that is recorded and computed."""
    monkeypatch.setattr(bounded_table, "MAX_ENTRIES", limit)
    host = numpy.random.default_rng(0).random((4, 4)) + numpy.eye(4)
    for _ in range(3):
        x = np.asarray(host)
        y = x.T + x * 2.0
        y[1:, ::2] -= x[:-1, 1::2]
        expected = host.T + host * 2.0
        expected[1:, ::2] -= host[:-1, 1::2]
        numpy.testing.assert_array_equal(np.asnumpy(y), expected)
        numpy.testing.assert_array_equal(np.asnumpy(np.roll(y, 1, 0)), numpy.roll(expected, 1, 0))
        numpy.testing.assert_allclose(np.asnumpy(np.fft.ifft(np.fft.fft(y))), expected, atol=1e-12)
        numpy.testing.assert_allclose(np.asnumpy(np.einsum("ij,kj->ki", y, x)), host @ expected.T)
        q, r = np.linalg.qr(y)  # two outputs of one call, of which one stays alone
        numpy.testing.assert_allclose(np.asnumpy(q @ r), expected)
        assert np.linalg.slogdet(y)[0] == numpy.linalg.slogdet(expected)[0]


@pytest.mark.usefixtures("fresh_tables")
def test_outputs_are_known_again_after_forgetting() -> None:
    x = np.asarray(numpy.eye(3) * 2)
    values, _ = np.linalg.eigh(x)
    (call,) = values._node.args if values._node.args else (None,)
    if call is not None:  # pending: its outputs are those of its signature, whatever is forgotten
        forget_all()
        assert values._node.signature in call.signature.outputs
    numpy.testing.assert_allclose(np.asnumpy(values), [2, 2, 2])


# --- results that are repeated ----------------------------------------------------------------------------------------

_HOST = numpy.random.default_rng(1).random((4, 6)) - 0.3
_INTEGERS = numpy.arange(24).reshape(4, 6) % 7 + 1

# Operands of two dimensions of equal length, from an array and from its host.
_LOOKS: dict[str, Callable[[Any], Any]] = {
    "leaf": lambda x: x[:, :4] * 1 if isinstance(x, numpy.ndarray) else np.asarray(np.asnumpy(x)[:, :4]),
    "window": lambda x: x[:, 1:5],
    "odd window": lambda x: x[:, 2:],
    "columns": lambda x: x[:, :4].T,
    "backwards": lambda x: x[::-1, 3::-1],
    "pending": lambda x: x[:, :4] + 1,
    "pending columns": lambda x: (x[:, :4] + 1).T,
    "window of pending": lambda x: (x + 1)[:, 1:5],
    "copy of columns": lambda x: x[:, 1:5].T.copy(),
    "a row": lambda x: x[2, :4],
    "number": lambda x: x.sum(),
}

_BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda m, x, y: x + y,
    "reflected": lambda m, x, y: m.subtract(y, x) / (x * x + 1),
    "scalars": lambda m, x, y: 2 - (x * 3 + 0.5 * y),
    "compare": lambda m, x, y: (x < y) | (x == 300),
    "where": lambda m, x, y: m.where(x > y, x, y),
    "where with scalars": lambda m, x, y: m.where(x > y, x, 0) + m.where(x > 0, 1.5, y),
    "minimum": lambda m, x, y: m.minimum(x, y),
    "einsum": lambda m, x, y: m.einsum("...,...->...", x, y),
}
_UNARY: dict[str, Callable[[Any, Any], Any]] = {
    "negative": lambda m, x: -x,
    "sum": lambda m, x: x.sum(),
    "sum of columns": lambda m, x: x.sum(0),
    "sum of rows": lambda m, x: x.sum(-1),
    "reduce": lambda m, x: m.add.reduce(x, axis=()) + m.maximum.reduce(x),
    "fold": lambda m, x: m.subtract.reduce(x),
    "roll": lambda m, x: m.roll(x, 1, 0) + m.roll(x, (2, 1), (0, -1)) - m.roll(x, 3),
    "sort": lambda m, x: m.sort(x, 0) * m.argsort(x, -1),
    "fft": lambda m, x: m.fft.fft(x) + m.fft.ifft(x, axis=0, norm="ortho"),
    "matmul": lambda m, x: x @ x + m.matvec(x, x[0]),
    "conjugates": lambda m, x: m.matmul((x * 1j).conj(), x) + m.vecdot(x * 1j, x * 1j),
    "search": lambda m, x: m.searchsorted(m.sort(m.ravel(x)), x),
    "power": lambda m, x: abs(x) ** 2 + abs(x) ** 0.5,
    "means": lambda m, x: x.mean() + m.mean(x, axis=0) * m.mean(x, -1, keepdims=True),
    "deviations": lambda m, x: x.std(0) - m.var(x, axis=-1, keepdims=True) + x.std(ddof=1),
    "positions": lambda m, x: x.argmax() + m.argmin(x, 0) + m.argmax(x, axis=-1, keepdims=True),
    "truth": lambda m, x: m.any(x) & m.all(x > 0, axis=0) | x.any(-1, keepdims=True),
    "dimensions kept": lambda m, x: x.sum(0, keepdims=True) + m.max(x, axis=-1, keepdims=True),
    "limits": lambda m, x: m.clip(x, 0, 1) + x.clip(0.25, x[0]),
    "dot": lambda m, x: x.dot(x) + x.dot(x[0]) + m.dot(x[0], x.T),
    "shapes": lambda m, x: x.reshape(-1)[::2].sum() + x.T.reshape(2, -1)[:, :1] + x.swapaxes(0, -1).transpose().ravel(),
}


def same(found: Any, expected: Any) -> None:
    """Sums add in another order on a GPU, so floats agree to a few units of their last places."""
    expected = numpy.asarray(expected)
    tolerance = 1e-5 if expected.dtype.char in "fF" else 1e-12
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    numpy.testing.assert_allclose(np.asnumpy(found), expected, rtol=tolerance, atol=tolerance)


def repeats(record: Callable[..., Any], expected: Any) -> None:
    """A call gives the same each time: recorded, recorded and traced, and repeated twice from the memo."""
    made = [record() for _ in range(4)]
    assert len({x.strides for x in made}) == 1
    assert len({x._flags for x in made}) == 1
    for x in made:
        same(x, expected)
    same(record(), expected)


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("fresh_tables")
@pytest.mark.parametrize("name", _BINARY)
@pytest.mark.parametrize("host", [_HOST, _INTEGERS], ids=["floats", "integers"])
def test_functions_of_two_arrays(name: str, host: Any) -> None:
    function = _BINARY[name]
    device = np.asarray(host)
    looks = list(_LOOKS.values())
    for one, two in (pair for step in (0, 1, 3) for pair in zip(looks, looks[step:] + looks[:step])):
        x, y = one(device), two(device)
        expected = function(numpy, one(host), two(host))
        repeats(lambda one=one, two=two: function(np, one(device), two(device)), expected)
        repeats(partial(function, np, x, y), expected)
        repeats(partial(function, np, x, x), function(numpy, one(host), one(host)))


@pytest.mark.sampled(5)
@pytest.mark.usefixtures("fresh_tables")
@pytest.mark.parametrize("name", _UNARY)
@pytest.mark.parametrize("host", [_HOST, _INTEGERS], ids=["floats", "integers"])
def test_functions_of_one_array(name: str, host: Any) -> None:
    function = _UNARY[name]
    device = np.asarray(host)
    for look in list(_LOOKS.values())[:9]:
        expected = function(numpy, look(host))
        repeats(lambda look=look: function(np, look(device)), expected)
        repeats(partial(function, np, look(device)), expected)


@pytest.mark.usefixtures("fresh_tables")
def test_recipes_take_nothing_from_the_operands_that_they_were_made_of() -> None:
    rng = numpy.random.default_rng(2)
    for dtype in (numpy.float64, numpy.float32, numpy.int32):
        for turn in range(6):
            host = (rng.random((2, 5, 5)) * 100).astype(dtype)
            x, y = (np.asarray(h) for h in host) if turn % 2 else np.asarray(host)
            same(x.T + y.T, host[0].T + host[1].T)
            same(x.T[1:] * y.T[:-1], host[0].T[1:] * host[1].T[:-1])
            same((x.T * 2).sum(1), (host[0].T * 2).sum(1, dtype=(x.T * 2).sum(1).dtype))
            same(np.einsum("ij,kj->ki", x, y), numpy.einsum("ij,kj->ki", *host))


def test_order_of_a_copy_and_of_a_view_that_look_alike_while_pending() -> None:
    for views_first in (True, False):
        forget_all()
        x = np.asarray(_HOST) * 2
        y = _HOST * 2
        pair = [(x.T, y.T), (x.T.copy(), y.T.copy())]
        for tested, reference in pair if views_first else pair[::-1]:
            for function in (lambda m, a: m.sort(a, 0), lambda m, a: m.roll(a, 1, 0)):
                assert function(np, tested).strides == function(numpy, reference).strides


@pytest.mark.usefixtures("fresh_tables")
def test_static_arguments_count_with_their_types() -> None:
    x = np.asarray(_HOST)
    for _ in range(3):
        same(np.roll(x, 1, 1), numpy.roll(_HOST, 1, 1))
        same(np.sum(x, axis=(1,)), _HOST.sum(axis=(1,)))
        with pytest.raises(TypeError):
            np.sum(x, axis=(1.0,))
        with pytest.raises(TypeError):
            np.sum(x, axis=1.0)
    assert static_key(1) != static_key(1.0) != static_key(True)
    assert static_key((1, (2,))) != static_key((1, (2.0,)))
    assert static_key((1, (2,))) == static_key((1, (2,)))
    for arrays in (x, (x, 1), (1, (2, x))):
        with pytest.raises(TypeError):
            static_key(arrays)


@pytest.mark.usefixtures("fresh_tables")
def test_integers_out_of_range_raise_each_time() -> None:
    x = np.asarray([1, 200, 3], np.uint8)
    for value, equal in ((300, False), (-300, False), (200, True), (-1, False)):
        for _ in range(4):
            assert (x == value).tolist() == [False, equal, False]
            assert (x < value).tolist() == [value > 1, value > 200, value > 3]
            if not 0 <= value < 256:
                with pytest.raises(OverflowError):
                    x + value
            assert (np.asarray(x, np.int16) + value).tolist() == [1 + value, 200 + value, 3 + value]
            assert np.where(x > 2, x, 7).tolist() == [7, 200, 3]


@pytest.mark.usefixtures("fresh_tables")
def test_scalars_alone_are_kept_by_nobody() -> None:
    def record(operands: tuple[Node, ...]) -> tuple[Node, None]:
        calls.append(operands)
        return graph.fill(graph.typed_scalar(1.0, numpy.dtype(float)), (2,), x.queue), None

    calls: list[Any] = []
    x = np.asarray([1.0])
    function = MemoizedFunction(record)
    for _ in range(4):
        function((graph.scalar(1.0), graph.scalar(2.0)))
    assert len(calls) == 4


@pytest.mark.usefixtures("fresh_tables")
def test_a_recipe_is_traced_at_the_second_call() -> None:
    def record(operands: tuple[Node, ...], axis: int) -> tuple[Node, None]:
        calls.append([type(x) for x in operands])
        a, b = operands
        dtype = a.signature.dtype
        return graph.reduce("add", (dtype, dtype), (axis,), (graph.map_node("add", (dtype,) * 3, (b, a)),)), None

    calls: list[Any] = []
    function = MemoizedFunction(record)
    x, y = np.asarray(_HOST), np.asarray(_HOST + 1)
    for turn in range(4):
        same(function((x._node, y._node), 1), (_HOST + _HOST + 1).sum(1))
        assert len(calls) == (1, 3, 3, 3)[turn]
    assert calls[0] == calls[1] == [Node, Node] != calls[2]
    same(function((x._node, x._node), 1), (_HOST + _HOST).sum(1))
    same(function((x._node, y._node), 0), (_HOST + _HOST + 1).sum(0))
    assert len(calls) == 4


# Pending values with more or less behind them that look the same from outside.
_SIMILAR: dict[str, Callable[[Any], Any]] = {
    "pending": lambda x: x * 2,
    "columns": lambda x: (x * 2).T,
    "window": lambda x: (x * 2)[:, 1:],
    "conjugate": lambda x: (x * 2).conj(),
    "columns of a conjugate": lambda x: (x * 2).conj().T,
    "gathered": lambda x: x[numpy.array([2, 0, 1])],
    "outputs": lambda x: np.linalg.qr(x)[0],
}
_MEMOIZED: dict[str, Callable[..., Any]] = {
    "roll": lambda x: repeating.roll(x, 1, 0),
    "roll along two axes": lambda x: repeating.roll(x, (1, 2), (0, 1)),
    "sort": lambda x: sort.sort(x, 0),
    "argsort": lambda x: sort.argsort(x),
    "search": lambda x: searching.searchsorted(np.asarray([0.5, 1]), x),
    "fft": lambda x: transforms.fft(x, axis=0),
    "ifft": lambda x: transforms.ifft(x, 5, norm="ortho"),
    "irfft": lambda x: transforms.irfft(x),
    "two axes": lambda x: transforms.irfftn(x),
    "product": lambda x: np.matmul(x, x.T),
    "product with a vector": lambda x: np.vecmat(x[0], x.T),
    "sum with columns": lambda x: x + x.T.copy().T,
    "mean": lambda x: x.mean(axis=0),
    "mean of rows": lambda x: x.mean(-1, keepdims=True),
    "variance": lambda x: x.var(axis=0),
    "limits": lambda x: x.real.clip(0, 1),
    "position": lambda x: x.argmax(0),
}


_HISTORIES: tuple[Callable[[Any], Any], ...] = (
    lambda x: x + 1,
    lambda x: (x + 1) * 3,
    lambda x: np.roll(x * x, 1) - x[0],
    lambda x: x @ x,
)


def told(signature: Signature) -> Any:
    return repr(signature.primitive), signature.shape, signature.dtype, tuple(map(told, signature.args))


@pytest.mark.usefixtures("fresh_tables")
@pytest.mark.parametrize("name", _MEMOIZED)
def test_what_is_recorded_of_similar_operands(name: str) -> None:
    """The same as if nothing was known."""
    host = numpy.random.default_rng(3).random((3, 3)) * (1 if name in ("search", "sort", "argsort") else 1 + 1j)

    def recorded(look: Callable[[Any], Any], history: Callable[[Any], Any]) -> Any:
        result = _MEMOIZED[name](look(history(np.asarray(host))))
        return told(result.value().signature), result.strides, result._flags & ~MADE_AS_ARRAY

    for look in _SIMILAR.values():
        found = [recorded(look, history) for history in _HISTORIES]
        for known, history in zip(found, _HISTORIES, strict=True):
            forget_all()
            assert known == recorded(look, history)


@pytest.mark.usefixtures("fresh_tables")
def test_a_loop_records_once_what_it_does_in_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its operands have a longer calculation behind them in each step."""
    recorded = []
    for module, function in ((repeating, "gather_along_axes"), (matrix_product, "matrix_product")):
        record = getattr(module, function)
        monkeypatch.setattr(module, function, lambda *args, record=record: recorded.append(record) or record(*args))
    monkeypatch.setattr(stacked, "matrix_product", matrix_product.matrix_product)
    host = _HOST[:, :4]
    x = np.asarray(host)
    for _ in range(10):
        x, host = np.roll(x, 1, 0) * 0.5 + x[1:3].T @ x[::2], numpy.roll(host, 1, 0) * 0.5 + host[1:3].T @ host[::2]
    same(x, host)
    assert len(recorded) <= 2 * 3  # for values in memory, and for pending ones when they are traced


@pytest.mark.usefixtures("fresh_tables")
def test_an_operation_is_recorded_once_for_all_sizes() -> None:
    def record(operands: tuple[Node, ...], axis: int) -> tuple[Node, None]:
        calls.append(axis)
        (a,) = operands
        dtype = a.signature.dtype
        return graph.reduce("add", (dtype, dtype), (axis,), (a,)), None

    calls: list[int] = []
    function = MemoizedOperation(record)
    for shape in ((2, 3), (4, 5), (1, 7), (4, 5)):
        host = numpy.random.default_rng(0).random(shape)
        x = np.asarray(host)
        same(function((x._node,), 1), host.sum(1))
        same(function((x[:, ::-1][:, 1:].value(),), 0), host[:, ::-1][:, 1:].sum(0))
    assert calls == [1, 0]
    function((np.asarray(numpy.ones((2, 3, 4)))._node,), 1)
    assert len(calls) == 3  # another number of dimensions


@pytest.mark.usefixtures("fresh_tables")
def test_triangles_are_recorded_once_for_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: list[Any] = []
    record = ranges._record_where._record
    monkeypatch.setattr(ranges._record_where, "_record", lambda *args: recorded.append(args) or record(*args))  # type: ignore[func-returns-value]
    host = numpy.random.default_rng(0).random((8, 8))
    x = np.asarray(host)
    for n in range(7):
        same(np.tril(x[n:, n:] * 2), numpy.tril(host[n:, n:] * 2))
        same(np.triu(x[n:, n:] * 2, 1), numpy.triu(host[n:, n:] * 2, 1))
    assert len(recorded) == 1


@pytest.mark.usefixtures("fresh_tables")
@pytest.mark.parametrize("case", ["c", "f", "reversed", "broadcast", "permuted", "mixed", "empty", "scalar"])
def test_memory_order_and_broadcasting_at_new_sizes(case: str) -> None:
    for n in range(2, 7):
        a = numpy.arange(2.0 * n * (n + 1)).reshape(2, n, n + 1)
        b = numpy.ones((n, n + 1), numpy.float32)
        pair: Any = {
            "c": (a, a + 1),
            "f": (numpy.asfortranarray(a), numpy.asfortranarray(a) + 1),
            "reversed": (a[:, ::-1], a[::-1]),
            "broadcast": (a[:, :, :1], b),
            "permuted": (a.transpose(1, 0, 2), a.transpose(1, 0, 2)),
            "mixed": (a, numpy.asfortranarray(a)),
            "empty": (a[:, :0], b[:0]),
            "scalar": (a, 3),
        }[case]
        x: Any = np.asarray(pair[0])
        y: Any = 3 if case == "scalar" else np.asarray(pair[1])
        if case == "reversed":
            x, y = np.asarray(a)[:, ::-1], np.asarray(a)[::-1]
        for result, expected in ((x + y, pair[0] + pair[1]), (x > y, pair[0] > pair[1]), (x.sum(1), pair[0].sum(1))):
            same(result, expected)
            assert result.strides == expected.strides or not result.size


@pytest.mark.usefixtures("fresh_tables")
def test_what_is_looked_at_and_not_used_is_recorded_each_time() -> None:
    def record(operands: tuple[Node, ...]) -> tuple[Node, None]:
        a, n = operands
        dtype = a.signature.dtype
        return graph.map_node("add", (dtype,) * 3, (a, graph.typed_scalar(n.data + 1, dtype))), None

    function = MemoizedFunction(record)
    x = np.asarray(_HOST)
    for value in (1.0, 2.0, 3.0, 1.0):
        same(function((x._node, graph.scalar(value))), _HOST + value + 1)


def test_stand_ins_have_no_values() -> None:
    x = np.asarray(_HOST)
    pending = (x + 1.5)._node
    stand_ins = StandIns((pending, graph.scalar(2)), (pending.signature, graph.scalar(2).signature))
    one, two = stand_ins.nodes
    assert two.data == 2
    leaf, scalar = one.args
    assert leaf.signature is x._node.signature
    assert scalar.signature is pending.args[1].signature
    assert one.args[0] is leaf
    for missing in (lambda: float(scalar.data), lambda: leaf.data.nbytes, lambda: one.nothing):
        with pytest.raises((TypeError, AttributeError)):
            missing()
    recipe = stand_ins.recipe(graph.map_node("add", (numpy.dtype(float),) * 3, (leaf, two)))
    assert recipe is not None
    assert recipe.inner == ((0, 0),)
    value = recipe.value((pending, graph.scalar(5)))
    assert value is not None
    assert value.args[0] is x._node
    evaluate.compute(pending)
    assert recipe.value((pending, graph.scalar(5))) is None, "what was inside is gone"


# --- threads ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("fresh_tables")
@pytest.mark.parametrize("turns", range(5))
@pytest.mark.parametrize("name", [*_UNARY, *_BINARY])
def test_operands_that_are_computed_while_they_are_recorded(name: str, turns: int) -> None:
    """At the first recording, at the one that is traced, or at one that is repeated; what is kept of it is right."""

    def function(m: Any, x: Any) -> Any:
        return _UNARY[name](m, x) if name in _UNARY else _BINARY[name](m, x, m.flip(x, 0).T)

    for look in (lambda x: x[:, :4] + 1, lambda x: (x * 2)[:, 1:5].copy(), lambda x: (x[:, :4] * 1j).conj()):
        host = look(_HOST)
        if host.dtype == complex and name in ("compare", "where with scalars", "search"):
            continue
        expected = function(numpy, host)
        for turn in range(turns + 3):
            x = look(np.asarray(_HOST))
            if turn == turns:
                x._node.__class__ = Met
            same(function(np, x), expected)


def test_a_leaf_without_data_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock of the queue is free when the thread that makes a leaf is done."""
    x = np.asarray(numpy.arange(12.0).reshape(3, 4))
    whole = x._node
    buffer = whole.data

    class Lock:
        def __enter__(self) -> None:
            whole.data = buffer

        def __exit__(self, *error: object) -> None:
            pass

    row = layout.Layout((4,), (1,), 4)
    stand_ins = StandIns((whole,), (whole.signature,))
    recipe = stand_ins.recipe(graph.view(stand_ins.nodes[0], row))
    assert recipe is not None
    for look in (lambda: graph.view(whole, row), lambda: recipe.value((whole,))):
        with monkeypatch.context() as patch:
            patch.setattr(x.queue, "lock", Lock())
            whole.data = None
            seen = look()
        assert seen.data is buffer  # type: ignore[union-attr]
        assert graph.leaf_layout(seen) == row


@pytest.mark.usefixtures("fresh_tables")
def test_threads_that_record_and_compute_the_same_operands() -> None:
    host = _HOST[:, :4]
    shared = [np.asarray(host) + k for k in range(100)]
    functions = [_UNARY[name] for name in ("sum of columns", "roll", "sort", "fft", "conjugates", "matmul")]
    functions += [lambda m, x: x.T + x, lambda m, x: m.where(x > 0, x.T, 1.0), lambda m, x: m.einsum("ij,kj->ik", x, x)]

    def work(k: int) -> None:
        for n, x in enumerate(shared):
            if (n + k) % 3 == 0:
                np.asnumpy(x)
            function = functions[(n + k) % len(functions)]
            same(function(np, x), function(numpy, host + n))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))


def test_nothing_longer_than_the_limit_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def longer(x: Any) -> Any:
        calls.append(x)
        for k in range(5):
            x = np.sqrt(x * x) + k
        return x

    for limit, count in ((100, 2), (10, 3)):  # it is kept at the second call
        calls: list[Any] = []
        monkeypatch.setattr(calls_module, "_MAX_NODES", limit)
        function = calls_module.memoize_recording(longer)
        x = np.asarray([1.0, 2.0])
        for _ in range(3):
            numpy.testing.assert_array_equal(to_host(function(x)), [11, 12])
        assert len(calls) == count


def test_recipes_are_made_of_what_can_be_repeated() -> None:
    x = np.asarray(_HOST)
    stand_ins = StandIns((x._node,), (x._node.signature,))
    (whole,) = stand_ins.nodes
    index = graph.iota((4,), 0, x.queue)
    assert stand_ins.recipe(graph.gather(whole, (index,), "here")) is None
    assert isinstance(stand_ins.recipe(graph.gather(whole, (index,), "")), Recipe)
    assert stand_ins.recipe(graph.scatter(whole, graph.scalar(1.0), (index,), "", "")) is None


@pytest.mark.on_device
@pytest.mark.usefixtures("fresh_tables")
def test_recordings_share_what_does_not_depend_on_the_operands() -> None:
    """A loop records a function of other operands in each step: the indices of rolls are in the graph once."""
    a = np.asarray(numpy.arange(24.0).reshape(4, 6))
    rounds = 5
    for _ in range(6):  # after which all steps are repeated
        value, expected = a, numpy.arange(24.0).reshape(4, 6)
        for _ in range(rounds):
            value, expected = np.roll(value, 1, 1) * 2, numpy.roll(expected, 1, 1) * 2
        nodes, _ = evaluate.walk([value.value()])
        assert (to_host(value) == expected).all()
    assert sum(type(node.signature.primitive) is Gather for node in nodes) == rounds
    assert sum(type(node.signature.primitive) is Iota for node in nodes) == 1


@pytest.mark.on_device
@pytest.mark.usefixtures("fresh_tables")
def test_a_shared_generator_that_was_computed_is_recorded_again() -> None:
    a, expected = np.asarray(numpy.arange(6.0)), numpy.roll(numpy.arange(6.0), 1)
    for _ in range(3):
        rolled = np.roll(a, 1)
        indices = [node for node in evaluate.walk([rolled.value()])[0] if node.signature.generator and node.args]
        assert (to_host(rolled) == expected).all()
    for node in indices:
        evaluate.compute(node)
        for _ in range(3):
            assert (to_host(np.roll(a, 1)) == expected).all()
            assert (to_host(np.roll(a + 1, 1)) == expected + 1).all()


@pytest.mark.usefixtures("fresh_tables")
def test_a_recording_that_a_flush_disturbs_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product looks into a conjugate; the flush computes that, and overwrites what it was computed from."""
    host = (_HOST + 1j * _HOST)[:3, :3]

    def disturbed(node: Node, *order: Any) -> ndarray:
        np.synchronize()  # as another thread or a signal handler would
        return wrap_ordered(node, *order) if order else wrap(node)

    for function in (lambda m, c, y: m.matmul(c, y), lambda m, c, y: m.einsum("ij,jk->ik", c, y)):
        for _ in range(4):
            x, y = np.asarray(host), np.asarray(host)
            conjugate = x.conj().T
            x[1:] = 0
            with monkeypatch.context() as patch:
                patch.setattr(memo, "wrap", disturbed)
                patch.setattr(memo, "wrap_ordered", disturbed)
                patch.setattr(einsum, "wrap_ordered", disturbed)
                result = function(np, conjugate, y)
            same(result, function(numpy, host.conj().T, host))


def test_products_at_new_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Are recorded without a look at the operands again, unless another way of recording may be theirs."""
    rng = numpy.random.default_rng(3)
    recorded: list[Any] = []
    memo = stacked._memoized_matmul
    record = memo._record
    monkeypatch.setattr(
        memo, "_record", lambda operands, *static: recorded.append(operands) or record(operands, *static)
    )  # type: ignore[func-returns-value]

    def check(operands: Sequence[Any], expected: int) -> None:
        left, right = operands
        recorded.clear()
        x, y = np.asarray(left), np.asarray(right)
        result = x @ y
        assert len(recorded) == expected
        numpy.testing.assert_allclose(np.asnumpy(result), left @ right)
        assert result.dtype == (left @ right).dtype

    def sizes(*shapes: tuple[int, ...]) -> list[Any]:
        return [rng.random(shape) for shape in shapes]

    with np.Device("cpu"):
        before = np.set_residence("device")
        try:
            for left, right in (((3, 41), (41,)), ((41,), (41, 3)), ((3, 41), (41, 5))):
                np.asarray(rng.random(left)) @ np.asarray(rng.random(right))
            for n in (6, 7, 43):
                check(sizes((n, 29), (29,)), 0)
                check(sizes((29,), (29, n)), 0)
                check(sizes((n, 29), (29, n + 1)), 0)
            big = rng.random((47, 31))
            check([big.T, big], 1)  # not in C order
            check(sizes((0, 31), (31,)), 1)
            check(sizes((2, 3, 31), (31, 2)), 1)
            with pytest.raises(ValueError, match="mismatch"):
                np.asarray(rng.random((5, 17))) @ np.asarray(rng.random(16))
            x, y = np.asarray(rng.random((9, 17))), np.asarray(rng.random((17, 17)))
            numpy.testing.assert_allclose(
                np.asnumpy(x[2:, ::2] @ y[:9, 3]), np.asnumpy(x)[2:, ::2] @ np.asnumpy(y)[:9, 3]
            )
        finally:
            np.set_residence(before)


def test_einsum_while_a_flush_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would begin again and again, as long as another thread makes a plan."""
    monkeypatch.setattr(einsum, "undisturbed", lambda record, nodes: None)
    host = _HOST[:, :4]
    x = np.asarray(host) + 1.0
    same(np.einsum("ij,kj->ik", x, x.T.T), numpy.einsum("ij,kj->ik", host + 1.0, host + 1.0))
