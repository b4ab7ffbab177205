# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from numpy.lib.array_utils import normalize_axis_index as normalize_axis_index
from numpy.lib.array_utils import normalize_axis_tuple as normalize_axis_tuple

from .. import _Scalar

def byte_bounds(a: _Scalar) -> tuple[int, int]: ...

__all__ = ["byte_bounds", "normalize_axis_index", "normalize_axis_tuple"]
