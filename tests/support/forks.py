"""Functions that run in a forked child of the tests."""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import pytest

WAITS, WAIT_S = 1200, 0.05  # a child that takes longer than all of them hangs

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def in_child(function: Callable[[], Any]) -> Any:
    """Return what a function returns in a forked child. An exception, a crash or a hang of the child fails the test."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that of Python 3.12 about forks beside threads
        pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            faulthandler.dump_traceback_later(0.8 * WAITS * WAIT_S)  # tells where a child hangs
            try:
                answer = pickle.dumps((True, function()))
            except BaseException:
                answer = pickle.dumps((False, traceback.format_exc()))
            with open(writing, "wb") as pipe:
                pipe.write(answer)
        finally:
            os._exit(0)
    os.close(writing)
    for _ in range(WAITS):
        if os.waitpid(pid, os.WNOHANG)[0]:
            break
        time.sleep(WAIT_S)
    else:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reading)
        raise AssertionError("the child hangs")
    with open(reading, "rb") as pipe:
        answer = pipe.read()
    assert answer, "the child has crashed"
    done, result = pickle.loads(answer)
    assert done, result
    return result
