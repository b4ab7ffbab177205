# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from numpy.lib.npyio import DataSource as DataSource
from numpy.lib.npyio import NpzFile as NpzFile

__all__ = ["DataSource", "NpzFile"]
