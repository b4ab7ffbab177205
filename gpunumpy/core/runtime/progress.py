"""A progress bar on the terminal, for work that takes seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

from ..late_imports import import_late

_DELAY = 2.0  # seconds before a bar appears


@contextmanager
def progress_bar(nbytes: int) -> Iterator[Callable[[float], object]]:
    """Context of work on so many bytes; the function that it gives is told which part of them is done.

    Where standard error is no terminal, nothing is shown. The bar is gone when the work is done.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda part: None
        return
    bar_class = import_late("tqdm.std").tqdm
    # Without a thread that looks after bars, and without a lock between processes, which would start another process.
    own_class: Any = type("Bar", (bar_class,), {"monitor_interval": 0})
    own_class.set_lock(RLock())
    with own_class(
        desc="gpunumpy", total=nbytes, unit="B", unit_scale=True, delay=_DELAY, leave=False, file=sys.stderr
    ) as bar:
        yield lambda part: bar.update(int(part * nbytes) - bar.n)
