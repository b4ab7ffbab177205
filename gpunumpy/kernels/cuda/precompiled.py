"""Programs that a wheel holds compiled, so that nobody waits for what does not depend on a user's program.

They are in a folder for each compiler, with a folder for each architecture. A family of programs is an archive there,
as they compress well together: the members are named by the digests of the texts. The file ``index.json`` has the
family of each digest. A source checkout has none of this. `tools.fixed_kernels` has the table of what is compiled.
"""

from __future__ import annotations

import hashlib
import json
import sysconfig
import tarfile
from collections.abc import Mapping
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "_compiled"
_INDEX = "index.json"
# Archives whose programs are kept in memory: the programs of a library call are of a few families.
_MAX_ARCHIVES = 4


def find_image(root: Path, name: str, arch: str, compiler: tuple[int, int]) -> bytes | None:
    """Return the machine code of a program for an architecture; None if it is not there.

    Parameters
    ----------
    root : Path
        `FOLDER`, or another that `write_images` has filled.
    name : str
        What `digest` returns for the CUDA C++, which is compiled without contraction.
    arch : str
        The GPU's architecture. Machine code for an earlier minor version of it runs on it too.
    compiler : (int, int)
        Major and minor version of the NVRTC that would compile the program now. Only its own machine code is returned,
        so that results have the same bits with what is compiled here.
    """
    folder = _newest_usable(root / compiler_name(compiler), arch)
    if folder is None:
        return None
    family = _index(folder).get(name)
    try:
        return None if family is None else _images(folder / f"{family}.tar.xz")[name]
    except tarfile.TarError:  # Python may be built without lzma
        return None


def compilers(root: Path) -> dict[tuple[int, int], dict[str, int]]:
    """Return how many programs `root` holds for this platform, by architecture and the version of their NVRTC."""
    found = {}
    for folder in root.glob(f"nvrtc-*-{sysconfig.get_platform()}"):
        major, minor = folder.name.split("-")[1].split(".")
        archs = sorted(folder.glob("sm_*"), key=lambda path: int(path.name.removeprefix("sm_")))
        found[int(major), int(minor)] = {arch.name: len(_index(arch)) for arch in archs}
    return found


def digest(text: str) -> str:
    """Return what stands for a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def compiler_name(version: tuple[int, int]) -> str:
    """Return the name of the folder for an NVRTC of a version and of this platform."""
    return f"nvrtc-{version[0]}.{version[1]}-{sysconfig.get_platform()}"


def write_images(root: Path, compiler: tuple[int, int], arch: str, families: Mapping[str, Mapping[str, bytes]]) -> Path:
    """Write the archives of an architecture: for each family, machine code by text. Return their folder."""
    folder = root / compiler_name(compiler) / arch
    folder.mkdir(parents=True)
    for family, images in families.items():
        with tarfile.open(folder / f"{family}.tar.xz", "w:xz", preset=9) as archive:
            # Programs of one size are often variants of one another.
            for text, image in sorted(images.items(), key=lambda item: (len(item[1]), item[0])):
                member = tarfile.TarInfo(digest(text))
                member.size = len(image)
                archive.addfile(member, BytesIO(image))
    index = {digest(text): family for family, images in families.items() for text in images}
    (folder / _INDEX).write_text(json.dumps(index), encoding="utf-8")
    return folder


@cache
def _newest_usable(folder: Path, arch: str) -> Path | None:
    """Return the folder whose machine code runs on an architecture: its own, or of the latest earlier minor version."""
    number = int(arch.removeprefix("sm_"))
    known = [int(path.name.removeprefix("sm_")) for path in folder.glob("sm_*")]
    usable = [other for other in known if other // 10 == number // 10 and other <= number]
    return folder / f"sm_{max(usable)}" if usable else None


@cache
def _index(folder: Path) -> dict[str, str]:
    index: dict[str, str] = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
    return index


@lru_cache(_MAX_ARCHIVES)
def _images(path: Path) -> dict[str, bytes]:
    """Return the programs of an archive, by digest."""
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
