"""Plugin of pytest that installs the finder in workers of pytest-xdist. PYTEST_DONT_REWRITE."""

from .finder import install
from .selection import Selection

install(Selection.from_environment())
