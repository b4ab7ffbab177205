"""The cache on disk: entries of bytes by key, in a folder into which nobody else can put anything.

What is in the cache runs with the rights of this user. It is kept in a folder `_PRIVATE` below the cache folder, to
which nobody else has access, so no file or link in it is another user's. Nobody else may exchange that folder either:
that takes write access to a folder above it.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from threading import get_ident
from zlib import crc32

from .source_location import warn

if sys.platform != "win32":
    import grp
    import pwd

CACHE_BYTES = 1 << 29  # about as much is kept; the least recently read entries are dropped first
_LOOKS = 16  # at how much there is, while so much is written: a look at thousands of entries takes long
_PRIVATE = "programs"
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_chance = Random()  # apart from Python's common one, which users seed
_CHECK_BYTES = 4  # at the end of an entry, of what is before them: a crash may leave a file that is not whole


def cache_folder() -> Path:
    """Return the folder of compiled kernels: ``GPUNUMPY_CACHE_DIR``, or one in the user's cache folder."""
    chosen = os.environ.get("GPUNUMPY_CACHE_DIR")
    if not chosen:
        in_windows = sys.platform == "win32"
        variable, usual = ("LOCALAPPDATA", "~/AppData/Local") if in_windows else ("XDG_CACHE_HOME", "~/.cache")
        chosen = f"{os.environ.get(variable) or usual}/gpunumpy"
    return _expanded(chosen, os.environ.get("HOME"))


@cache
def _expanded(path: str, home: str | None) -> Path:
    """Return a path below the user's folder, which `home` tells; to make one takes as long as to read a kernel."""
    return Path(path).expanduser()


@cache
def package_digest() -> str:
    """Return what stands for the files of this package: their names, sizes and times."""
    told = sha256()
    for folder, folders, files in os.walk(Path(__file__).parents[1]):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            status = os.stat(os.path.join(folder, name))
            told.update(f"{folder} {name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return told.hexdigest()


class DiskCache:
    """The entries in a folder. Any number of threads and processes may use it at the same time.

    Parameters
    ----------
    folder : Path
        The cache folder, as `cache_folder` returns it, in which `open_cache` has made what is needed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._private = str(folder.resolve() / _PRIVATE)

    def find(self, key: bytes) -> bytes | None:
        """Return the entry of a key, or None if there is none, or none that is whole."""
        path = self._path(key)
        try:
            file = os.open(path, _READ)  # Python's own files take several times as long to make
            try:
                content = os.read(file, os.fstat(file).st_size)
            finally:
                os.close(file)
            os.utime(path)
        except OSError:
            return None
        entry, check = content[:-_CHECK_BYTES], content[-_CHECK_BYTES:]
        return entry if check == _check(entry) else None

    def keep(self, key: bytes, entry: bytes) -> None:
        """Write an entry; warn if that fails, for example as the disk is full."""
        path = self._path(key)
        new = f"{path}-{os.getpid()}-{get_ident()}"
        try:
            try:
                with open(new, "wb") as file:
                    file.write(entry + _check(entry))
                os.replace(new, path)  # who reads it meanwhile finds the old entry or the new one
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(new)
                raise
            # By chance, as no process knows what the others write, and most are over before they have written much.
            if _chance.random() * CACHE_BYTES < _LOOKS * len(entry):
                self._make_room()
        except PermissionError as error:
            if sys.platform != "win32":  # where an entry cannot be replaced while somebody reads it
                warn_unusable(self._folder, str(error))
        except OSError as error:
            warn_unusable(self._folder, str(error))

    def _path(self, key: bytes) -> str:
        return os.path.join(self._private, key.hex())

    def _make_room(self) -> None:
        """Drop what was not read for longest, if the entries take too much room.

        What a process that was killed has left half written goes so too.
        """
        found = []
        for file in os.scandir(self._private):
            with suppress(FileNotFoundError):  # another process drops entries too
                if file.is_file():
                    status = file.stat()
                    found.append((status.st_mtime_ns, status.st_size, file.path))
        nbytes = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if nbytes <= CACHE_BYTES:
                break
            with suppress(FileNotFoundError):
                os.unlink(path)
            nbytes -= size


def _check(entry: bytes) -> bytes:
    return crc32(entry).to_bytes(_CHECK_BYTES, "little")


@cache
def open_cache(folder: Path) -> DiskCache | None:
    """Return the cache below a folder, made if need be; None, with a warning, if it cannot or must not be used.

    Parameters
    ----------
    folder : Path
        As `cache_folder` returns it.
    """
    try:
        _make(folder)
        reason = why_unsafe(folder)
        if reason is None:
            return DiskCache(folder)
    except OSError as error:
        reason = str(error)
    warn_unusable(folder, reason)
    return None


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
    """Return why others could put something into a cache; None if only this user can, or it is missing.

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
