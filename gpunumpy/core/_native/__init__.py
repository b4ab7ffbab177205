"""The compiled core: what every recording and every flush of a known graph does, in C++.

The classes and functions here stand in for those of the same names in `core.graph` and `core.recording`, which are
written in Python, run where the core was not built, and say what is right. The core does what it finds in the tables
that both share; whatever is not in a table, it asks Python for.

The environment variable GPUNUMPY_CORE chooses: "python" for the classes in Python, "compiled" to insist on the core.
"""

from __future__ import annotations

import os
import types
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

T = TypeVar("T")


class StaleCoreError(ImportError):
    """The core was compiled of older sources, whose names and layouts may be others."""


_chosen = os.environ.get("GPUNUMPY_CORE", "")
if _chosen not in ("", "python", "compiled"):
    raise ValueError(f"GPUNUMPY_CORE is 'python' or 'compiled', not {_chosen!r}")


def _import_core() -> Any:
    """Import the core. One that is older than its sources, which only a checkout has, is none."""
    name = f"{__name__}._core"
    spec = find_spec(name)
    if spec is not None and spec.origin is not None:
        compiled_at = os.stat(spec.origin).st_mtime_ns
        sources = [path for path in os.scandir(os.path.dirname(__file__)) if path.name.endswith((".cpp", ".hpp"))]
        newer = [path.name for path in sources if path.stat().st_mtime_ns > compiled_at]
        if newer:
            raise StaleCoreError(f"the compiled core is older than {min(newer)}: `pip install -e .` compiles it again")
    return import_module(name)


_core: Any = None
if _chosen != "python":
    try:
        _core = _import_core()
    except ImportError as error:
        if _chosen == "compiled":
            raise
        if isinstance(error, StaleCoreError):
            warnings.warn(f"{error}; until then the core in Python runs", RuntimeWarning, stacklevel=2)

IS_COMPILED = _core is not None


def compiled(specification: T) -> T:
    """Return the core's class or function of the same name; without the core, the one that is given."""
    return getattr(_core, specification.__name__, specification)  # type: ignore[attr-defined]


def set_up(**objects: Any) -> None:
    """Give the core the objects that it asks and looks into; `state.hpp` names them."""
    if _core is not None:
        _core.set_up(**objects)


def elementwise_recorder(
    function: Callable[..., Any],
    find: Callable[..., Any],
    find_at_new_sizes: Callable[..., Any],
    is_binary: bool,
    is_reflected: bool = False,
) -> Callable[..., Any]:
    """Return a function that records an elementwise operation that tables know, and else calls `function`.

    Parameters
    ----------
    function
        Takes one operand, or two if `is_binary`.
    find, find_at_new_sizes
        The look-ups of `BoundedTable`: by the signatures of the operands, and by their kinds.
    is_reflected
        The table has the second operand first.
    """
    if _core is None:
        return function
    entries, operations = find.__self__, find_at_new_sizes.__self__  # type: ignore[attr-defined]
    made: Callable[..., Any] = _core.elementwise_recorder(function, entries, operations, is_binary, is_reflected)
    return made


F = TypeVar("F", bound=Callable[..., Any])


def tried_first(function: F) -> F:
    """Return the recorder of the function's name, which calls the function for all that it does not know."""
    return function if _core is None else _core.recorder(function.__name__, function)


def remembering_recorder(function: Callable[..., Any], memo: Any) -> Callable[..., Any]:
    """Return what repeats the calls that a memo knows (`core.recording.calls`), and else calls `function`."""
    return function if _core is None else _core.remembering_recorder(function, memo)


def in_place_recorder(function: Callable[..., Any], recorder: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that writes to an array what `recorder` finds for it, and else calls `function`.

    It computes the array and an operand, and returns the array.
    """
    if _core is None or type(recorder) is not _core.Recorder:
        return function
    return _core.in_place_recorder(function, recorder)


def launch(
    launch_kernel: int,
    function: int,
    dimensions: tuple[int, ...],
    stream: int,
    starts_early: bool,
    format: str,
    params: Sequence[int],
    is_packed: bool,
    failed: Callable[[int, int], None],
    device: Any = None,
    kernel: Any = None,
    fixed: int = 0,
) -> Callable[..., None] | None:
    """Return what launches a kernel by the driver's function cuLaunchKernelEx at an address; None without the core.

    It takes the arguments, of the kinds that `format` names, and maybe a list that a launch is noted in; else that is
    the device's. The other parameters are as in `kernels.cuda.launch.Launcher`; the dimensions are those of the grid,
    of a block, and the bytes of shared memory. `starts_early` says that the kernel waits for those before it and is to
    be started while they run. `failed` is called with the number of an error of the driver, and how many attempts
    failed before; it raises an exception, or the launch is attempted again. `kernel` is what keeps the kernel loaded,
    and the first `fixed` parameters stay at other sizes.
    """
    if _core is None:
        return None
    made: Callable[..., None] = _core.Launch(
        *(launch_kernel, function, dimensions, stream, starts_early),
        *(format, params, is_packed, failed, device, kernel, fixed),
    )
    return made


# The types of such functions.
LAUNCHES: tuple[type, ...] = () if _core is None else (_core.Launch,)


def sized_launch(programs: Any, prepare: Callable[[Sequence[int]], Any]) -> Callable[[Sequence[int]], Any]:
    """Return what prepares the launch of a kernel from its sizes.

    Parameters
    ----------
    programs
        The `Variants` of programs, with the attributes of `kernels.codegen.sized.SizedProgram`. One that has been
        launched is launched at other sizes by the core.
    prepare
        Does all that in Python, and prepares what has not been launched.
    """
    if _core is None:
        return prepare
    made: Callable[[Sequence[int]], Any] = _core.SizedLaunch(programs, prepare)
    return made


def instance_test(classes: tuple[type, ...]) -> Callable[[Any], bool]:
    """Return what tells whether an object is an instance of one of the classes, which the core does without Python."""
    test: Callable[[Any], bool] = (lambda x: isinstance(x, classes)) if _core is None else _core.instance_test(classes)
    return test


def host_call(
    function: Callable[..., Any],
    numpy_function: Any,
    ufunc: Any,
    powers: dict[float, Any] | None,
    rules: int,
    memo: Any,
) -> Callable[..., Any] | None:
    """Return what calls NumPy's function where a call is on the host, and else `function`; None without the core.

    A ufunc that does the same has loops, which the core runs by itself where it can; a power with some exponents is
    another ufunc of one operand. A call that is known to a memo (`core.recording.calls.CallMemo`) is repeated.

    `functions.placement` has the rules, and says what is placed there.
    """
    if _core is None:
        return None
    made: Callable[..., Any] = _core.host_call(function, numpy_function, ufunc, powers, rules, memo)
    return made


def small_draw(
    function: Callable[..., Any],
    numpy_method: Callable[..., Any],
    size_at: int,
    owner: str | None,
    names: dict[str, Any],
) -> Callable[..., Any]:
    """Return a method of generators that has NumPy's method draw few numbers at once, and else calls `function`.

    Parameters
    ----------
    size_at
        The position of the size among scalar arguments; -1 if all arguments are the size.
    owner
        The attribute of a generator's stream that is NumPy's generator; None if the generator itself is one.
    names
        The variables of the module `random.device_draws`.
    """
    if _core is None:
        return function
    made: Callable[..., Any] = _core.small_draw(function, numpy_method, size_at, owner, names)
    return made


# The type of public functions whose calls the core may place on the host.
PublicFunction: type = types.FunctionType if _core is None else _core.HostCall

# The methods of arrays that slots of the core's type stand before: they are bound to the core, not to the class.
LOOKS = (
    frozenset(
        (
            *("__bool__", "__delitem__", "__float__", "__getitem__", "__index__", "__int__", "__iter__", "__len__"),
            "__setitem__",
        )
    )
    if _core is not None
    else frozenset()
)


def bind(name: str, method: Callable[..., Any]) -> None:
    """Have a slot of arrays, of a name of `LOOKS`, call a method for what the core leaves to Python."""
    _core.bind(name, method)


# The properties of arrays that the core reads where it knows their values.
ATTRIBUTES: tuple[str, ...] = (
    ("base", "device", "dtype", "itemsize", "nbytes", "ndim", "residence", "shape", "size", "strides")
    if _core is not None
    else ()
)


def attribute(name: str, specification: Any) -> Any:
    """Return what reads an attribute of `ndarray`, of a name of `ATTRIBUTES`, before a property.

    The property does all else: it reads what the core does not know, and writes.
    """
    return _core.attribute(name, specification)


def refuse_concatenation() -> None:
    """Have ``operator.concat`` raise NumPy's error for arrays, once they have operators; without the core it adds."""
    if _core is not None:
        _core.refuse_concatenation()


def set_operators(ufuncs: dict[str, Any]) -> None:
    """Have operators on arrays on the host run the loops of NumPy's ufuncs, before the methods of these names."""
    if _core is not None:
        _core.set_operators(ufuncs)


def tell(**facts: Any) -> None:
    """Tell the core what decides whether calls are placed on the host, by the names of its functions ``set_...``."""
    if _core is not None:
        for name, fact in facts.items():
            getattr(_core, f"set_{name}")(fact)


def forget() -> None:
    """Have the core forget what it found last in the tables that Python fills."""
    if _core is not None:
        _core.forget()


def has_met_device(array: Any) -> bool:
    """Count that an array which was moved to the host meets its device; say whether that was often enough to go back.

    Without the core no array is moved to the host.
    """
    return _core is not None and bool(_core.has_met_device(array))


def exchange_states(arrays: list[Any], others: list[Any]) -> None:
    """Have each array be what the other one was, and the other way round: one step for signal handlers and threads.

    Without the core no array is moved to the host, which is what this is for.
    """
    if _core is not None:
        _core.exchange_states(arrays, others)


def keep_memory() -> None:
    """Have NumPy take the memory of new arrays in the present context from what is kept of others.

    Without the core it asks the system for that of large ones, page by page.
    """
    if _core is not None:
        _core.keep_memory()


def note_product(product: Any, x: Any, y: Any) -> None:
    """Have arrays whose parts make a small product move to the host soon, where that moves no bytes.

    Without the core no array is moved to the host.
    """
    if _core is not None:
        _core.note_product(product, x, y)


def program(*parts: Any) -> Any:
    """Return the program of a plan, made of what `core/_native/program.cpp` lists; None without the core."""
    return None if _core is None else _core.Program(*parts)


def set_graph_functions(addresses: Sequence[int]) -> bool:
    """Tell the core where the driver's functions for CUDA graphs are; return whether there is a core."""
    if _core is not None:
        _core.CudaGraph.functions(*addresses)
    return _core is not None


def in_front_of(function: Callable[..., Any], recorder: Callable[..., Any]) -> Callable[..., Any]:
    """Return a recorder that finds what `recorder` does and else calls `function`; `function` if it is no recorder."""
    if _core is None or type(recorder) is not _core.Recorder:
        return function
    return recorder.in_front_of(function)  # type: ignore[attr-defined]
