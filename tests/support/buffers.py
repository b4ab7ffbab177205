"""Whether arrays lend their bytes: a class of Python can since Python 3.12; one of the compiled core always does."""

from __future__ import annotations

from gpunumpy.core._native import IS_COMPILED

LENDS_BUFFERS = IS_COMPILED or hasattr(memoryview(b""), "__buffer__")
WHY_NOT = "a class of Python lends bytes since Python 3.12; one of the compiled core always does"
