"""Functions that run in a forked child of the tests."""

from __future__ import annotations

import os
import pickle
import select
import signal
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import pytest

WAITS, WAIT_S = 1200, 0.05  # a child that takes longer than all of them hangs

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def in_child(function: Callable[[], Any], meanwhile: Callable[[], object] = lambda: None) -> Any:
    """Return what a function returns in a forked child. An exception, a crash or a hang of the child fails the test.

    The child calls the function once its parent has called `meanwhile`.
    """
    ready, go = os.pipe()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that of Python 3.12 about forks beside threads
        pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            os.close(go)
            os.read(ready, 1)
            try:
                answer = pickle.dumps((True, function()))
            except BaseException:
                answer = pickle.dumps((False, traceback.format_exc()))
            with open(writing, "wb") as pipe:
                pipe.write(answer)
        finally:
            os._exit(0)
    os.close(writing)
    try:
        meanwhile()
    finally:
        os.write(go, b"!")  # not by closing it: children of other threads may have it open
        os.close(go)
        os.close(ready)
    answer = b""
    with open(reading, "rb", buffering=0) as pipe:
        waits = 0
        while waits < WAITS:
            if not select.select([pipe], [], [], WAIT_S)[0]:
                waits += 1
            elif part := pipe.read(1 << 20):  # while the child writes: a pipe holds 64 KB
                answer += part
            else:
                break
        else:
            os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert waits < WAITS, "the child hangs"
    assert answer, "the child has crashed"
    done, result = pickle.loads(answer)
    assert done, result
    return result
