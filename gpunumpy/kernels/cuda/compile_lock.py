"""A lock of files, under which one process compiles a program that others want too."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .beside import is_over

if sys.platform != "win32":
    import fcntl

_FOLDER = "locks"  # below that of the cache
_TIMEOUT_S = 30.0  # a process that has held a lock for longer is taken to be stopped


@contextmanager
def compiled_by_one_process(folder: Path, key: bytes) -> Iterator[None]:
    """Wait until no other process compiles the program of a key, and let others wait until this one has compiled it.

    Without locks of files (on Windows, on some network drives) there is no wait.
    """
    path, file = folder / _FOLDER / key.hex(), None
    try:
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            _lock(file)
        yield
    finally:
        # Who waits for the lock has opened the file, and gets the lock though the file has no name any more.
        if file is not None:
            with suppress(OSError):
                path.unlink()
            os.close(file)


def _lock(file: int) -> None:
    """Lock a file, unless that takes too long."""
    if sys.platform == "win32":
        return
    deadline = time.monotonic() + _TIMEOUT_S
    while time.monotonic() < deadline and not is_over():
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.005)
