"""The path of a file that is written after long work: what is wrong with it is told before."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def check_writable(path: Path) -> None:
    """Raise the OSError that writing this file would raise, before there is anything to write."""
    reason = None
    if path.is_dir():
        reason = errno.EISDIR
    elif not path.parent.is_dir():
        reason = errno.ENOTDIR if path.parent.exists() else errno.ENOENT
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        reason = errno.EACCES
    if reason is not None:
        raise OSError(reason, os.strerror(reason), str(path))
