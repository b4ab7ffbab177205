"""Run a script, a module or a command as Python does, with this package for NumPy and SciPy."""

from __future__ import annotations

import io
import linecache
import os
import pkgutil
import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from types import CodeType, ModuleType, TracebackType
from typing import Any

from ..core._native import compiled
from .finder import install
from .imports import compile_selected
from .selection import Selection

_FOLDER = os.path.dirname(__file__)
_IMPORT_SYSTEM = "<frozen importlib"
# Python's modules that compile what they run when they are run themselves; `pdb` does that as a module.
_TOOLS = frozenset(("cProfile", "profile", "timeit", "trace"))


def run_script(path: str, arguments: Sequence[str], selected: Selection) -> None:
    """Run a file, or a folder or zip file with a `__main__` module; "-" is the standard input.

    Raises
    ------
    SystemExit
        If the script ends by it; with 2, after a message, if there is no such file.
    """
    if pkgutil.get_importer(path) is not None:
        _prepare([path, *arguments], os.path.abspath(path), selected)
        _guarded(call_as_outermost, runpy._run_module_as_main, "__main__", False)  # type: ignore[attr-defined]
    elif path == "-":
        _run_file(sys.stdin.buffer.read(), "<stdin>", ["-", *arguments], "", selected)
    else:
        full_path = os.path.join(os.getcwd(), path.removeprefix("./"))
        try:
            with io.open_code(full_path) as file:
                source = file.read()
        except OSError as error:
            reason = f"[Errno {error.errno}] {error.strerror}"
            print(f"{sys.executable}: can't open file {full_path!r}: {reason}", file=sys.stderr)
            raise SystemExit(2) from None
        _run_file(source, full_path, [path, *arguments], os.path.dirname(os.path.realpath(path)), selected)


def _run_file(source: bytes, path: str, argv: list[str], folder: str, selected: Selection) -> None:
    main = _prepare(argv, folder, selected)
    vars(main).update(__file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path))
    _guarded(_execute, source, path)


def run_module(name: str, arguments: Sequence[str], selected: Selection) -> None:
    """Run a module as ``python -m`` does."""
    main = _prepare(["-m", *arguments], os.getcwd(), selected)
    if name in _TOOLS:
        vars(main)["compile"] = compile_selected
    _guarded(call_as_outermost, runpy._run_module_as_main, name)  # type: ignore[attr-defined]


def run_command(command: str, arguments: Sequence[str], selected: Selection) -> None:
    """Run a text as ``python -c`` does."""
    _prepare(["-c", *arguments], "", selected)
    if sys.version_info >= (3, 13):  # which shows lines of the text in tracebacks
        lines = command.splitlines(keepends=True)
        linecache.cache["<string>"] = len(command), None, lines, "<string>"
    _guarded(_execute, command, "<string>")


def _prepare(argv: list[str], folder: str, selected: Selection) -> ModuleType:
    """Set what a program sees of how it was started, install the finder, and return an empty module ``__main__``."""
    sys.argv[:] = argv
    if not sys.flags.safe_path:
        sys.path[0] = folder
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main).update(__annotations__={}, __builtins__=sys.modules["builtins"])
    install(selected)
    for name in (*selected.only, *selected.exclude):
        # Only the first part is looked for: to find what is in a package imports the package.
        top = name.partition(".")[0]
        if top not in sys.modules and find_spec(top) is None:
            print(f"gpunumpy: no module {name!r} is found as the program starts; is the name right?", file=sys.stderr)
    return main


@compiled
def call_as_outermost(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function as Python calls a program: stacks end there. Without the core they show the runner under it."""
    return function(*args)


def _execute(source: str | bytes, filename: str) -> None:
    code: CodeType = compile_selected(source, filename, dont_inherit=True)
    call_as_outermost(exec, code, vars(sys.modules["__main__"]))


def _guarded(function: Any, *args: Any) -> None:
    """Call a function that runs the script; if that raises, Python shows the error without frames of this package."""
    try:
        function(*args)
    except SystemExit:
        raise
    except BaseException:
        show = sys.excepthook
        sys.excepthook = lambda kind, error, _: show(kind, error, _hide_frames(error))
        raise


def _hide_frames(error: BaseException) -> TracebackType | None:
    """Take from an error's traceback the frames that run the script, and those that compile what it imports."""
    frames: list[TracebackType] = []
    frame = error.__traceback__
    while frame is not None:
        frames = [] if _file(frame) == __file__ else [*frames, frame]
        frame = frame.tb_next
    kept: list[TracebackType] = []
    for frame in frames:
        if os.path.dirname(_file(frame)) != _FOLDER:
            kept.append(frame)
            continue
        while kept and _file(kept[-1]).startswith(_IMPORT_SYSTEM):
            kept.pop()
    for frame, following in zip(kept, [*kept[1:], None]):
        frame.tb_next = following
    error.__traceback__ = kept[0] if kept else None
    return error.__traceback__


def _file(frame: TracebackType) -> str:
    return frame.tb_frame.f_code.co_filename
