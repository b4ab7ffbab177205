# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from collections.abc import Callable, Sequence
from typing import Any

from numpy.lib import Arrayterator as Arrayterator
from numpy.lib import NumpyVersion as NumpyVersion
from numpy.lib import tracemalloc_domain as tracemalloc_domain

from . import array_utils as array_utils
from . import format as format
from . import introspect as introspect
from . import mixins as mixins
from . import npyio as npyio
from . import scimath as scimath
from . import stride_tricks as stride_tricks

def add_docstring(obj: Callable[..., Any], docstring: str, /) -> None: ...
def add_newdoc(
    place: str, obj: str, doc: str | tuple[str, str] | Sequence[tuple[str, str]], warn_on_python: bool = True
) -> None: ...

__all__ = [
    "Arrayterator",
    "NumpyVersion",
    "add_docstring",
    "add_newdoc",
    "array_utils",
    "format",
    "introspect",
    "mixins",
    "npyio",
    "scimath",
    "stride_tricks",
    "tracemalloc_domain",
]
