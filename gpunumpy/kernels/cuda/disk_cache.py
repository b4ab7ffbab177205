"""The cache of compiled kernels on disk: where it is, and whether others could put kernels into it.

What is in the cache runs with the rights of this user. It is kept in a folder `_PRIVATE` below the cache folder, to
which nobody else has access, so no file or link in it is another user's. Nobody else may exchange that folder either:
that takes write access to a folder above it.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from ...core.errors import DeviceError
from ...core.late_imports import import_late
from ...core.source_location import warn
from .beside import is_over

if sys.platform != "win32":
    import fcntl
    import grp
    import pwd

CACHE_BYTES = 1 << 29  # the least recently read programs are dropped first
INSTALL = "install gpunumpy[cu13] or gpunumpy[cu12]"
_PRIVATE = "programs"
_LOCKS = "locks"
_LOCK_SECONDS = 30.0  # a process that has held a lock for longer is taken to be stopped


def cache_folder() -> Path:
    """Return the folder of compiled kernels: ``GPUNUMPY_CACHE_DIR``, or one in the user's cache folder."""
    chosen = os.environ.get("GPUNUMPY_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "gpunumpy"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpunumpy"


@cache
def cuda_core() -> tuple[Any, Any, Any, Any]:
    """Return `Program`, `ProgramOptions`, the disk cache and what makes its keys; the import of cuda.core is slow."""
    try:
        core, utils = import_late("cuda.core"), import_late("cuda.core.utils")
        return core.Program, core.ProgramOptions, utils.FileStreamProgramCache, utils.make_program_cache_key
    except (ImportError, AttributeError) as error:
        raise DeviceError(f"gpunumpy needs cuda-core 1.0 or newer ({error}); {INSTALL}") from error


@cache
def open_cache(folder: Path) -> Any:
    """Return the opened cache below a folder, made if need be; None, with a warning, if it cannot or must not be used.

    Parameters
    ----------
    folder : Path
        As `cache_folder` returns it.
    """
    open_files = cuda_core()[2]
    try:
        _make(folder)
        private = folder.resolve() / _PRIVATE
        reason = why_unsafe(folder)
        if reason is None:
            return open_files(private, max_size_bytes=CACHE_BYTES)
    except OSError as error:
        reason = str(error)
    warn_unusable(folder, reason)
    return None


@contextmanager
def compiled_by_one_process(folder: Path, key: bytes) -> Iterator[None]:
    """Wait until no other process compiles the program of a key, and let others wait until this one has compiled it.

    Without locks of files (on Windows, on some network drives) there is no wait.
    """
    path, file = folder / _LOCKS / key.hex(), None
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
    deadline = time.monotonic() + _LOCK_SECONDS
    while time.monotonic() < deadline and not is_over():
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.005)


def _make(folder: Path) -> None:
    """Make what is missing of the path to the cache, for this user alone."""
    private = folder.absolute() / _PRIVATE
    for path in (*reversed(private.parents), private):
        if not path.exists():
            path.mkdir(mode=0o700, exist_ok=True)


def warn_unusable(folder: Path, reason: str) -> None:
    """Warn that compiled kernels cannot be kept on disk."""
    warn(
        f"compiled kernels cannot be kept in {folder}, so every process compiles them anew ({reason}); "
        "set GPUNUMPY_CACHE_DIR to a folder that you alone can write to",
        RuntimeWarning,
    )


def why_unsafe(folder: Path) -> str | None:
    """Return why others could put kernels into the cache below a folder; None if only this user can, or it is missing.

    On Windows, a user's folders are protected by default, and this is not checked.
    """
    if not hasattr(os, "geteuid") or not (folder / _PRIVATE).exists():
        return None
    user = os.geteuid()
    # The owner of the root folder is root, or stands for it where a container has no name for root.
    trusted = (user, 0, Path("/").stat().st_uid)
    real = folder.resolve()
    for path in (folder.absolute(), *folder.absolute().parents, real / _PRIVATE):
        if path.is_symlink() and (path.lstat().st_uid not in trusted or path.name == _PRIVATE):
            return f"{path} is a link, made by user {path.lstat().st_uid}"
    for path in (real / _PRIVATE, real, *real.parents):
        is_own = path == real or path.parent == real
        status = path.stat()
        if status.st_uid not in ((user,) if is_own else trusted):
            return f"{path} belongs to user {status.st_uid}; you are user {user}"
        if path.parent == real and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            return f"others have access to {path}; remove it, or chmod it to 700 if you trust what is in it"
        others = stat.S_IWOTH if _is_private_group(status.st_gid) else stat.S_IWOTH | stat.S_IWGRP
        # In a folder with the sticky bit, such as /tmp, nobody can rename or remove what belongs to others.
        if status.st_mode & others and (is_own or not status.st_mode & stat.S_ISVTX):
            return f"others can write to {path}; chmod go-w it"
    return None


def _is_private_group(group: int) -> bool:
    """Return whether this user is the only member of a group, as of the groups that many systems make for each user."""
    if group != os.getegid():
        return False
    try:
        user, entry = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return entry.gr_name == user and not set(entry.gr_mem) - {user}
