"""The late modules of a program: what one process imported late, the next one imports before the program asks for it.

A process leaves the names of such modules of this package. The next one of the same program imports them in the thread
that loads what work on a GPU needs, while the driver makes a context. What imports libraries that the program may be
importing at that moment is left out: each of two threads could meet half of such a library.
"""

from __future__ import annotations

import atexit
import sys
from contextlib import suppress
from hashlib import sha256

from ...core.disk_cache import cache_folder, open_cache, package_digest
from ...core.late_imports import import_ahead, late_modules
from ...core.runtime import device as devices

_PACKAGE = __name__.partition(".")[0]
_OF_OTHER_LIBRARIES = {"dask", "scipy"}  # subpackages that import these

# The names that the last process of this program left, by the key of the program.
_found: dict[bytes, list[str]] = {}


def import_needed_modules() -> None:
    """Import what the last process of this program imported late. A program without a file leaves nothing."""
    program = getattr(sys.modules.get("__main__"), "__file__", None)
    disk = open_cache(cache_folder())
    if program is None or disk is None or devices.behind_context is None:  # nothing is read ahead
        return
    key = sha256(f"{package_digest()} modules of {program}".encode()).digest()
    _found[key] = (disk.find(key) or b"").decode().split()
    for name in _found[key]:
        package, _, path = name.partition(".")
        if package == _PACKAGE and path.partition(".")[0] not in _OF_OTHER_LIBRARIES:
            with suppress(ImportError):  # the program may never ask for it, or gets the exception when it does
                import_ahead(name)


@atexit.register
def keep_needed_modules() -> None:
    """Keep the names of what this process imported late for the next one, if they are not those that it has found."""
    names = [name for name in late_modules() if name.startswith(f"{_PACKAGE}.")]
    disk = open_cache(cache_folder())
    for key, before in _found.items():
        if disk is not None and set(names) != set(before):
            disk.keep(key, "\n".join(names).encode())
