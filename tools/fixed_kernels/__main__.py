"""``python -m tools.fixed_kernels FOLDER``: compile the table with every NVRTC that is installed, for the wheel.

It needs no GPU, and takes about seven minutes of one processor for each NVRTC and architecture. The hook of the build
backend, `tools/build_hook.py`, runs it. With ``--check`` it compiles nothing, and fails unless the folder, such as
``gpunumpy/_compiled`` of a wheel, holds every entry of the table for CUDA 12 and 13.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpunumpy.kernels.cuda.nvrtc import compile_options
from gpunumpy.kernels.cuda.precompiled import digest, find_image, write_images

from .nvrtc import NVRTC, installed
from .table import SHARED_BYTES, texts


def compile_table(
    root: Path, compilers: Sequence[NVRTC], archs: Sequence[str] = tuple(SHARED_BYTES), families: Sequence[str] = ()
) -> None:
    """Write the images of the table below a folder; of all families if none is given."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for nvrtc in compilers:
            for arch in archs:
                options = compile_options(arch)
                table = {name: rows for name, rows in texts(arch).items() if name in families or not families}
                jobs = {row: pool.submit(nvrtc.compile, row, options) for rows in table.values() for row in rows}
                images = {name: {row: jobs[row].result() for row in rows} for name, rows in table.items()}
                folder = write_images(root, nvrtc.version, arch, images)
                size = sum(path.stat().st_size for path in folder.iterdir())
                print(f"{folder.parent.name} {arch}: {len(jobs)} programs, {size / 1e6:.2f} MB", flush=True)


def missing(root: Path, version: tuple[int, int]) -> list[str]:
    """Entries of the table, by architecture and family, for which a folder has no image of an NVRTC of this version."""
    return [
        f"{arch} {family}"
        for arch in SHARED_BYTES
        for family, rows in texts(arch).items()
        for row in rows
        if find_image(root, digest(row), arch, version) is None
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--arch", action="append", choices=list(SHARED_BYTES))
    parser.add_argument("--family", action="append", default=[])
    given = parser.parse_args()
    if given.check:
        versions = [path.name.split("-")[1].split(".") for path in given.folder.iterdir()]
        lacking = [entry for major, minor in versions for entry in missing(given.folder, (int(major), int(minor)))]
        print(f"NVRTC {', '.join(map('.'.join, versions))}: {len(lacking)} entries are missing {lacking[:10]}")
        sys.exit(bool(lacking) or {major for major, _ in versions} != {"12", "13"})
    compilers = [NVRTC(path) for path in installed()]
    if not compilers:
        print("no NVRTC is installed: nothing is compiled")
    compile_table(given.folder, compilers, given.arch or tuple(SHARED_BYTES), given.family)


if __name__ == "__main__":
    main()
