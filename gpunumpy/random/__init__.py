# ruff: noqa: F401
"""Random numbers: NumPy's streams.

The bit generators are NumPy's own. A `Generator` is one of NumPy's too: what it draws on a GPU it draws from the state
of its bit generator, which it leaves as NumPy would, so that both draw from one stream. `RandomState`, and whatever is
drawn on the host, is NumPy's with functions that take and give our arrays.
"""

from .namespace import default_rng
from .namespace import find as __getattr__
from .namespace import names as __dir__
