"""How arrays and graphs die, are referred to and are copied: chains, weak references, cycles, subclasses, pickles."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.core.runtime.run import Run

LIBRARIES = (numpy, gpunumpy)


@pytest.fixture(params=["auto", "device"], autouse=True)
def residence(request: pytest.FixtureRequest) -> Iterator[str]:
    before = gpunumpy.set_residence(request.param)
    yield request.param
    gpunumpy.set_residence(before)


# Each makes `x` the next link of a chain. NumPy's own arrays of objects crash when such a chain is freed.
CHAINS = {
    "nodes": "x = Node(x.signature, (x,))",
    "nodes with two arguments": "x = Node(x.signature, (x, x))",
    "arrays of objects": "y = np.empty(1, object); y[0] = x; x = y",
    "attributes": "y = one[:]; y.last = x; x = y",
    "attributes of views": "x = one[:] if x is None else one[1:]; x.last = last; last = x",
    "views of views": "x = (one if x is None else x)[:]",
    "recorded": "x = one if x is None else x + 1",
    "written": "x = one; x[k % 8] = k",
}
CHAIN = """
import resource, sys, threading
import numpy
import gpunumpy as np
from gpunumpy.core.runtime.run import Run
from gpunumpy.core.graph.node import Node
class Linked(np.ndarray):
    pass
def run():
    one = np.asarray(numpy.ones(8)).view(Linked) if {is_class} else np.asarray(numpy.ones(8))
    x, last = {first}, None
    for k in range({count}):
        {link}
    del x, last, one
# Python 3.13 frees its own tuples to a depth of 10,000 before it puts off the rest, other versions to one of 50, or as
# deep as the stack allows.
threading.stack_size(1 << (23 if sys.version_info[:2] == (3, 13) else 18))  # bytes
thread = threading.Thread(target=run)
thread.start()
thread.join()
print("freed")
"""


@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", CHAINS)
def test_chains_are_freed_without_recursion(name: str, count: int, residence: str) -> None:
    is_of_nodes, is_class = name.startswith("nodes"), name.startswith("attributes")
    program = CHAIN.format(
        link=CHAINS[name],
        first="(np.asarray(numpy.ones(8)) + 1)._node" if is_of_nodes else "None",
        is_class=is_class,
        count=count,
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import os; os.environ['GPUNUMPY_RESIDENCE'] = {residence!r}\n{program}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "freed\n"), done.stderr[-2000:]


def array_of(xp: Any, cls: Any = None) -> Any:
    x = xp.asarray(numpy.arange(6.0))
    return x if cls is None else x.view(cls)


def noted(xp: Any) -> Any:
    """A class whose arrays have an attribute, under a name that pickles find."""

    class Noted(xp.ndarray):
        def __array_finalize__(self, source: Any) -> None:
            self.note = getattr(source, "note", None)

    Noted.__qualname__ = "Noted"
    globals()["Noted"] = Noted
    return Noted


def alike(case: Any) -> Any:
    """What a case tells of NumPy, which it must tell of this package."""
    expected, got = (case(xp) for xp in LIBRARIES)
    assert got == expected
    return got


def test_weak_references_end_with_their_array() -> None:
    def case(xp: Any) -> Any:
        told: list[Any] = []
        x, y = array_of(xp), array_of(xp)
        view, total = x[1:], x + y
        references = [weakref.ref(z, lambda r: told.append(r() is None)) for z in (x, y, view, total)]
        known = weakref.WeakValueDictionary({"x": x, "y": y})
        assert weakref.ref(x) is weakref.ref(x)
        del x, total, y
        states = [r() is None for r in references], sorted(known), list(told)
        del view
        return states, [r() is None for r in references], sorted(known), told

    assert alike(case)[1] == [True] * 4


def test_a_new_array_is_not_taken_for_one_that_died_in_its_place() -> None:
    """The core gives the memory of a dead array to the next one."""
    references = []
    for _ in range(100):
        x = array_of(gpunumpy) + 1
        references.append(weakref.ref(x))
        del x
    y = array_of(gpunumpy) + 1
    assert all(r() is None for r in references)
    assert weakref.ref(y)() is y


def test_a_callback_of_a_weak_reference_may_use_arrays() -> None:
    def case(xp: Any) -> Any:
        told: list[float] = []
        x, y = array_of(xp), array_of(xp)
        z = x * 2
        reference = weakref.ref(z, lambda r: told.append(float((y + 1).sum())))
        z = x + y  # the callback runs in the middle of this statement
        return told, reference() is None, z.tolist()

    assert alike(case)[0] == [21.0]


CYCLES = {
    "itself": lambda x, xp: setattr(x, "other", x),
    "a list": lambda x, xp: setattr(x, "other", [x, [x]]),
    "a function": lambda x, xp: setattr(x, "other", lambda: x),
    "two arrays": lambda x, xp: setattr(x, "other", (x * 2)) or setattr(x.other, "other", x),
}


@pytest.mark.parametrize("name", CYCLES)
def test_cycles_through_attributes_are_collected(name: str) -> None:
    def case(xp: Any) -> Any:
        class Linked(xp.ndarray):
            other: Any

        x = array_of(xp, Linked)
        CYCLES[name](x, xp)
        reference = weakref.ref(x)
        del x
        before = reference() is None
        gc.collect()
        return before, reference() is None

    assert alike(case) == (False, True)


@pytest.mark.parametrize("count", [1, 2])
def test_cycles_through_views_are_collected(count: int) -> None:
    """Of NumPy's arrays they are not, as NumPy's arrays tell the collector nothing."""

    class Linked(gpunumpy.ndarray):
        pass

    x: Any = array_of(gpunumpy, Linked)
    x.views = [x[k:].view(gpunumpy.ndarray) for k in range(count)]
    reference = weakref.ref(x)
    del x
    gc.collect()
    assert reference() is None


def test_blocks_of_arrays_in_cycles_are_used_again() -> None:
    class Linked(gpunumpy.ndarray):
        other: Any

    def held_bytes() -> int:
        info = gpunumpy.memory_info("cpu")
        return info.used + info.cached

    held = []
    for k in range(20):
        x: Any = gpunumpy.asarray(numpy.full(100_000, k + 0.5), device="cpu").view(Linked)
        x.other = x[1:]
        x.other.other = x
        assert float(x.other.sum()) == 99_999 * (k + 0.5)
        del x
        gc.collect()
        held.append(held_bytes())
    assert len(set(held[1:])) == 1


def test_finalizers_run_once_and_may_use_their_array() -> None:
    def case(xp: Any) -> Any:
        told: list[float] = []
        kept: list[Any] = []

        class Told(xp.ndarray):
            def __del__(self) -> None:
                told.append(float(self.view(xp.ndarray).sum()))
                if len(kept) < 2:
                    kept.append(self)  # alive again

        for is_cyclic in (False, True):
            x = array_of(xp, Told)
            if is_cyclic:
                x.itself = x
            del x
            gc.collect()
        sums = [float(x.view(xp.ndarray).sum()) for x in kept]
        for x in kept:
            vars(x).clear()
        del x
        kept[:] = []
        gc.collect()
        return told, sums

    assert alike(case) == ([15.0, 15.0], [15.0, 15.0])


def test_the_collector_sees_what_an_array_refers_to() -> None:
    x = array_of(gpunumpy)
    view = x[1:]
    assert gc.is_tracked(x)
    assert any(x is y for y in gc.get_referents(view)) or view.base is not x
    assert any(y is view.base for y in gc.get_referents(view))


def test_copies_and_pickles_of_a_class() -> None:
    def case(xp: Any) -> Any:
        x = array_of(xp, noted(xp))
        x.note = ["metres"]
        made = [copy.copy(x), copy.deepcopy(x), *(pickle.loads(pickle.dumps(x, p)) for p in range(6))]
        twice = copy.deepcopy([x, x]), pickle.loads(pickle.dumps([x, x]))
        x[0] = 9  # none of them shows it
        return (
            [(type(y).__name__, y.note, y.note is x.note, y.tolist(), y.flags.writeable) for y in made],
            [first is second for first, second in twice],
        )

    alike(case)


@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x.T, lambda x: x[::2], lambda x: x[0, 1], lambda x: x[:0]])
def test_copies_and_pickles_of_views(layout: Any) -> None:
    def case(xp: Any) -> Any:
        x = layout(xp.asarray(numpy.arange(24.0)).reshape(4, 6))
        made = [copy.copy(x), copy.deepcopy(x), *(pickle.loads(pickle.dumps(x, p)) for p in range(6))]
        return [(numpy.asarray(y).tolist(), y.dtype, y.flags.c_contiguous, y.flags.f_contiguous) for y in made]

    alike(case)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("is_read_only", [False, True])
@pytest.mark.parametrize("dtype", ["f8", ">f8"])
@pytest.mark.parametrize("axes", [(2, 0, 1), (1, 0, 2), (0, 2, 1), (2, 1, 0)])
def test_pickles_of_transposed_arrays(axes: tuple[int, ...], dtype: str, is_read_only: bool, protocol: int) -> None:
    def case(xp: Any) -> Any:
        x = xp.asarray(numpy.arange(24, dtype=dtype).reshape(2, 3, 4)).transpose(axes)
        if is_read_only:
            x.flags.writeable = False
        y = pickle.loads(pickle.dumps(x, protocol))
        return y.strides, y.dtype, y.flags.writeable, numpy.asarray(y).tolist()

    alike(case)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("step", [1, 2])
def test_pickles_of_the_other_byte_order(protocol: int, step: int) -> None:
    alike(lambda xp: pickle.loads(pickle.dumps(xp.asarray(numpy.arange(6, dtype=">f8"))[::step], protocol)).dtype)


def test_kinds_of_classes() -> None:
    def case(xp: Any) -> Any:
        class Slotted(xp.ndarray):
            __slots__ = ("note",)

        class Meta(type):
            pass

        class Mixed(xp.ndarray, metaclass=Meta):
            def __init__(self, *given: Any) -> None:
                self.given = given

        class Other(Mixed):
            pass

        x, y = array_of(xp, Slotted), Mixed((2,))
        x.note = 3
        y.__class__ = Other
        errors = []
        for statement in (
            "x.other = 3",
            "class Both(xp.ndarray, dict): pass",
            "class Weak(xp.ndarray):\n    __slots__ = ('__weakref__',)",
            "array_of(xp).__class__ = Mixed",
        ):
            try:
                exec(statement, globals(), {"x": x, "xp": xp, "Mixed": Mixed})
            except (TypeError, AttributeError) as error:
                errors.append(type(error))
        return x.note, hasattr(x, "__dict__"), y.given, type(type(y)).__name__, type(y).__name__, errors

    alike(case)


@pytest.mark.skipif(not IS_COMPILED, reason="with the core in Python uses of such an array raise")
def test_no_array_is_made_without_values() -> None:
    for cls in (gpunumpy.ndarray, type("Sub", (gpunumpy.ndarray,), {})):
        with pytest.raises(TypeError, match="not safe"):
            object.__new__(cls)


def test_a_run_that_refers_to_itself_is_collected() -> None:
    """The job of a section is a part of its run, and knows the run."""

    class Slot:
        """What a run holds."""

    for _ in range(2):  # the second has the memory of the first
        run, slot = Run(), Slot()
        run.slots, run.entered = [slot], (run,)
        held = weakref.ref(slot)
        del run, slot
        gc.collect()
        assert held() is None
