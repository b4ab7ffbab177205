"""The compiler beside the program: threads that turn text into machine code while the program goes on.

They end with the process. What waits for them then is dropped, and what the compiler is at is cancelled, which takes
it some hundredths of a second, or a second or two if a large program is in its last phase.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any

from ...core.fork import renew_in_child
from ...core.helpers import Job
from ...core.late_imports import import_late

MAX_THREADS = 8  # and at most half the processors: the program needs the others

# What the compiler frees, some 100 MB a time, the C library keeps for each thread: more and more, as it lies in pieces.
_TASKS_BETWEEN_TRIMS = 64


class Task:
    """Work of the compiler in a thread of its own. It has no lock, in whose middle a signal handler could come.

    Attributes
    ----------
    is_done : bool
        Whether it has ended.
    """

    __slots__ = ("_error", "_image", "_work", "is_done")

    def __init__(self, work: Callable[[], bytes]) -> None:
        self._work = work
        self._image = b""
        self._error: BaseException | None = None
        self.is_done = False

    def run(self) -> None:
        """Do the work."""
        try:
            self._image = self._work()
        except BaseException as error:
            self._error = error
        self.is_done = True

    def image(self) -> bytes:
        """Return the machine code, or raise what the work raised; it must have ended."""
        if self._error is not None:
            raise self._error
        return self._image


_tasks: SimpleQueue[Task | None] = SimpleQueue()
_threads: list[threading.Thread] = []
_tasks_done = itertools.count(1)
_lock = threading.Lock()  # that helpers take, and the end of the process
renew_in_child(lambda: [_lock])
# The compiler asks atoi of this text, again and again, whether it is to stop: code without Python's lock.
_is_over = ctypes.create_string_buffer(b"0", 2)


def beside(work: Callable[[], bytes]) -> Task:
    """Begin work of the compiler in a thread of its own; at the end of the process it may never be done.

    Parameters
    ----------
    work : callable
        Returns machine code.
    """
    task = Task(work)
    _tasks.put(task)
    if len(_threads) < _max_threads():
        Job(_add_thread).start()  # a signal handler could come in its middle here
    return task


def is_over() -> bool:
    """Return whether the process is ending."""
    return _is_over.value != b"0"


def _max_threads() -> int:
    return max(1, min(MAX_THREADS, (os.cpu_count() or 1) // 2))


def _add_thread() -> None:
    """Start one more thread, in a helper."""
    with _lock:
        if len(_threads) < _max_threads() and not is_over():
            thread = threading.Thread(target=_work, name="gpunumpy compiler", daemon=True)
            _threads.append(thread)
            try:
                thread.start()
            except RuntimeError:  # Python may refuse to at the end of the process
                _threads.remove(thread)


def _work() -> None:
    while (task := _tasks.get()) is not None:
        task.run()
        if next(_tasks_done) % _TASKS_BETWEEN_TRIMS == 0:
            _trim()


def _trim() -> None:
    """Have the C library return to the system what has been freed, if it can."""
    trim = getattr(_c_library(), "malloc_trim", None)
    if trim is not None:
        trim(0)


def let_end_with_process(program: Any) -> None:
    """In a thread of `beside`, let the end of the process cancel the compilation of a program of NVRTC.

    An older compiler does not know how to.
    """
    if threading.current_thread() not in _threads:
        return
    set_callback = getattr(import_late("cuda.bindings.nvrtc"), "nvrtcSetFlowCallback", None)  # since CUDA 12.8
    if set_callback is not None:
        with suppress(RuntimeError):  # the binding is there, and the library is older
            set_callback(program, _atoi(), ctypes.addressof(_is_over))


@cache
def _c_library() -> ctypes.CDLL:
    return ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)


@cache
def _atoi() -> int:
    return ctypes.cast(_c_library().atoi, ctypes.c_void_p).value or 0


@atexit.register
def _end() -> None:
    """Leave no thread in the compiler, whose library is about to be torn down."""
    with _lock:
        _is_over[0] = b"1"
    with suppress(Empty):
        while _tasks.get_nowait() is not None:
            pass
    for _ in _threads:
        _tasks.put(None)
    for thread in _threads:
        thread.join()
