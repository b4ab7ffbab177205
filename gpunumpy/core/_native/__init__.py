"""The compiled core: what every recording and every flush of a known graph does, in C++.

The classes and functions here stand in for those of the same names in `core.graph` and `core.recording`, which are
written in Python, run where the core was not built, and say what is right. The core does what it finds in the tables
that both share; whatever is not in a table, it asks Python for.

The environment variable GPUNUMPY_CORE chooses: "python" for the classes in Python, "compiled" to insist on the core.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")

_chosen = os.environ.get("GPUNUMPY_CORE", "")
if _chosen not in ("", "python", "compiled"):
    raise ValueError(f"GPUNUMPY_CORE is 'python' or 'compiled', not {_chosen!r}")
_core: Any = None
if _chosen != "python":
    try:
        _core = import_module(f"{__name__}._core")
    except ImportError:
        if _chosen == "compiled":
            raise

IS_COMPILED = _core is not None


def compiled(specification: T) -> T:
    """Return the core's class or function of the same name; without the core, the one that is given."""
    return getattr(_core, specification.__name__, specification)  # type: ignore[attr-defined]


def set_up(**objects: Any) -> None:
    """Give the core the objects that it asks and looks into; `state.hpp` names them."""
    if _core is not None:
        _core.set_up(**objects)


def elementwise_recorder(
    function: Callable[..., Any], find: Callable[..., Any], is_binary: bool, is_reflected: bool = False
) -> Callable[..., Any]:
    """Return a function that records an elementwise operation whose signature `find` knows, and else calls `function`.

    Parameters
    ----------
    function
        Takes one operand, or two if `is_binary`.
    find
        The look-up of a `BoundedTable`, by the signatures of the operands.
    is_reflected
        The table has the second operand first.
    """
    if _core is None:
        return function
    return _core.elementwise_recorder(function, find.__self__, is_binary, is_reflected)  # type: ignore[attr-defined]


F = TypeVar("F", bound=Callable[..., Any])


def tried_first(function: F) -> F:
    """Return the recorder of the function's name, which calls the function for all that it does not know."""
    return function if _core is None else _core.recorder(function.__name__, function)


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
    format: str,
    params: Sequence[int],
    is_packed: bool,
    failed: Callable[[int], None],
) -> Callable[[Sequence[Any], Any], None] | None:
    """Return what launches a kernel by the driver's function at an address; None without the core.

    It takes the arguments, of the kinds that `format` names, and a list that a launch is noted in. The other parameters
    are as in `kernels.cuda.launch.Launcher`; the dimensions are those of the grid, of a block, and the bytes of shared
    memory. `failed` raises the exception for an error of the driver.
    """
    if _core is None:
        return None
    made: Callable[..., None] = _core.Launch(
        launch_kernel, function, dimensions, stream, format, params, is_packed, failed
    )
    return made


def program(*parts: Any) -> Any:
    """Return the program of a plan, made of what `core/_native/program.cpp` lists; None without the core."""
    return None if _core is None else _core.Program(*parts)


def in_front_of(function: Callable[..., Any], recorder: Callable[..., Any]) -> Callable[..., Any]:
    """Return a recorder that finds what `recorder` does and else calls `function`; `function` if it is no recorder."""
    if _core is None or type(recorder) is not _core.Recorder:
        return function
    return recorder.in_front_of(function)  # type: ignore[attr-defined]
