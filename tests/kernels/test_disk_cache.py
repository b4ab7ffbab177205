"""The cache of compiled kernels on disk is used only where nobody else can put kernels into it."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from random import Random

import pytest

from gpunumpy.core import disk_cache
from gpunumpy.core.disk_cache import DiskCache, open_cache, why_unsafe
from gpunumpy.kernels.cuda import compile_lock
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.cuda.compile_lock import compiled_by_one_process

pytest.importorskip("cuda.bindings.nvrtc")
pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows protects a user's folders by default")

SCALE = 'extern "C" __global__ void scale(float* a) { a[threadIdx.x] *= 2; }'
SOMEBODY = 12345


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "a" / "b"
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(folder))
    return folder


def keep(folder: Path, file: Path, entry: bytes) -> None:
    """Put an entry in the place of another, as another process may."""
    disk = open_cache(folder)
    assert disk is not None
    disk.keep(bytes.fromhex(file.name), entry)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def pretend_owner(monkeypatch: pytest.MonkeyPatch, path: Path, user: int = SOMEBODY) -> None:
    """Let a path belong to another user, which only root can do in earnest."""

    def disguised(look: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
        def seen(self: Path, *args: object, **options: object) -> os.stat_result:
            status = look(self, *args, **options)
            return os.stat_result((*status[:4], user, *status[5:])) if self == path else status

        return seen

    for name in ("stat", "lstat"):
        monkeypatch.setattr(Path, name, disguised(getattr(Path, name)))


@pytest.mark.parametrize("umask", [0o022, 0o002, 0o000, 0o077])
def test_what_this_user_makes_is_safe(folder: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        first = compile_cubin(SCALE, "sm_90")
    finally:
        os.umask(before)
    (file,) = files(folder)
    assert file.read_bytes().startswith(first)
    assert why_unsafe(folder) is None
    assert (folder / "programs").stat().st_mode & 0o777 == 0o700
    assert not folder.stat().st_mode & 0o022
    keep(folder, file, b"of another process")
    assert compile_cubin(SCALE, "sm_90") == b"of another process"


def test_a_folder_that_others_may_read(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    compile_cubin(SCALE, "sm_90")
    assert files(folder)


def assert_unused(folder: Path, words: str) -> None:
    """One warning says why and what to do, and kernels are compiled without the cache."""
    before = files(folder)
    disk_cache.open_cache.cache_clear()
    with pytest.warns(RuntimeWarning, match=f"{words}.*set GPUNUMPY_CACHE_DIR") as caught:
        assert compile_cubin(SCALE, "sm_90").startswith(b"\x7fELF")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compile_cubin(SCALE + "// another", "sm_90").startswith(b"\x7fELF")
    assert files(folder) == before


@pytest.mark.parametrize("mode", [0o777, 0o702, 0o1777])
@pytest.mark.parametrize("name", ["folder", "above"])
def test_a_folder_that_others_can_write_to(folder: Path, name: str, mode: int) -> None:
    compile_cubin(SCALE, "sm_90")
    path = folder if name == "folder" else folder.parent
    path.chmod(mode)
    if mode == 0o1777 and name == "above":
        assert why_unsafe(folder) is None
        return
    assert_unused(folder, f"others can write to {path}; chmod go-w it")
    path.chmod(0o755)
    assert why_unsafe(folder) is None


@pytest.mark.parametrize("private", [True, False])
def test_a_folder_that_a_group_can_write_to(folder: Path, private: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group of this user alone, as many systems make one for each user, is not others."""
    monkeypatch.setattr(disk_cache, "_is_private_group", lambda group: private)
    compile_cubin(SCALE, "sm_90")
    folder.parent.chmod(0o775)
    if private:
        assert why_unsafe(folder) is None
    else:
        assert_unused(folder, f"others can write to {folder.parent}")


def test_a_cache_that_others_have_access_to(folder: Path) -> None:
    compile_cubin(SCALE, "sm_90")
    (folder / "programs").chmod(0o750)
    assert_unused(folder, f"others have access to {folder / 'programs'}; remove it")


@pytest.mark.parametrize("part", ["programs", "", ".."])
def test_a_folder_of_another_user(folder: Path, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_cubin(SCALE, "sm_90")
    path = Path(os.path.normpath(folder / part))
    pretend_owner(monkeypatch, path)
    assert_unused(folder, f"{path} belongs to user {SOMEBODY}; you are user {os.geteuid()}")


def test_the_owner_of_everything_above(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a container has no name for root, the folders above belong to the owner of the root folder."""
    compile_cubin(SCALE, "sm_90")
    pretend_owner(monkeypatch, Path("/"))
    assert why_unsafe(folder) is None


def test_a_link_of_this_user(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir()
    folder.parent.mkdir()
    folder.symlink_to(target)
    compile_cubin(SCALE, "sm_90")
    assert files(target)


@pytest.mark.parametrize("name", ["programs", "folder"])
def test_a_link_of_another_user(folder: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    link = folder / "programs" if name == "programs" else folder
    link.parent.mkdir(parents=True, mode=0o700)
    link.symlink_to(target)
    pretend_owner(monkeypatch, link)
    assert_unused(folder, f"{link} is a link")


def test_a_program_that_another_process_compiles_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other process is one that holds the lock; what it puts into the cache is read when it lets go."""
    compile_cubin(SCALE, "sm_90")
    (file,) = files(folder)
    file.unlink()
    waits = threading.Event()
    sleep = time.sleep

    def noted(seconds: float) -> None:
        waits.set()
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", noted)
    with ThreadPoolExecutor(1) as pool:
        with compiled_by_one_process(folder, bytes.fromhex(file.name)):
            image = pool.submit(compile_cubin, SCALE, "sm_90")
            assert waits.wait(60)
            keep(folder, file, b"of another process")
        assert image.result() == b"of another process"
    assert files(folder) == [file], "no lock is left"


def test_a_lock_that_is_held_for_long_is_not_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_cubin(SCALE, "sm_90")
    (file,) = files(folder)
    file.unlink()
    monkeypatch.setattr(compile_lock, "_TIMEOUT_S", 0.0)
    with compiled_by_one_process(folder, bytes.fromhex(file.name)):
        assert compile_cubin(SCALE, "sm_90").startswith(b"\x7fELF")


def test_without_locks_of_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    assert compile_cubin(SCALE, "sm_90").startswith(b"\x7fELF")
    assert len(files(folder)) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks of files here")
def test_the_end_of_a_process_waits_for_no_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(seconds: float) -> None:
        raise AssertionError("it waits")

    folder.mkdir(parents=True)
    monkeypatch.setattr(time, "sleep", wait)
    for is_over in (False, True):
        monkeypatch.setattr(compile_lock, "is_over", lambda is_over=is_over: is_over)
        expected = nullcontext() if is_over else pytest.raises(AssertionError, match="it waits")
        lock = partial(compiled_by_one_process, folder, b"key")
        with lock(), expected, lock():
            pass


def entries(folder: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> DiskCache:
    monkeypatch.setattr(disk_cache, "CACHE_BYTES", limit)
    open_cache.cache_clear()
    disk = open_cache(folder)
    assert disk is not None
    return disk


def test_what_was_not_read_for_longest_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = entries(folder, monkeypatch, 5000)
    for number in range(4):
        disk.keep(bytes([number]), bytes(1000))
    for age, number in enumerate((2, 0, 3, 1)):  # clocks of file systems are coarse
        os.utime(folder / "programs" / f"{number:02x}", ns=(0, 10**9 * age))
    assert disk.find(bytes([2])) is not None
    disk.keep(bytes([4]), bytes(1500))
    assert [disk.find(bytes([number])) is not None for number in range(5)] == [False, True, True, True, True]


def test_looks_at_all_entries_are_few(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit, nbytes, kept = 1 << 16, 100, 2000
    disk = entries(folder, monkeypatch, limit)
    monkeypatch.setattr(disk_cache, "_chance", Random(1))
    looks = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: (looks.append(path), scandir(path))[1])
    for number in range(kept):
        disk.keep(number.to_bytes(2, "big"), bytes(nbytes))
    assert 0 < len(looks) < 2 * disk_cache._LOOKS * kept * nbytes / limit
    assert sum(path.stat().st_size for path in (folder / "programs").iterdir()) < 1.25 * limit


def test_what_a_process_left_half_written_goes_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = entries(folder, monkeypatch, 5000)
    left = folder / "programs" / "00-1-1"
    left.write_bytes(bytes(4500))
    os.utime(left, ns=(0, 0))
    disk.keep(b"1", bytes(1000))
    assert disk.find(b"1") is not None
    assert not left.exists()


def test_another_process_that_drops_entries(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = entries(folder, monkeypatch, 1500)
    disk.keep(b"1", bytes(1000))
    unlink = os.unlink

    def too_late(path: str) -> None:
        unlink(path)
        unlink(path)

    monkeypatch.setattr(os, "unlink", too_late)
    disk.keep(b"2", bytes(1000))
    assert disk.find(b"2") is not None
