# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from numpy.polynomial import Chebyshev as Chebyshev
from numpy.polynomial import Hermite as Hermite
from numpy.polynomial import HermiteE as HermiteE
from numpy.polynomial import Laguerre as Laguerre
from numpy.polynomial import Legendre as Legendre
from numpy.polynomial import Polynomial as Polynomial
from numpy.polynomial import set_default_printstyle as set_default_printstyle

from . import chebyshev as chebyshev
from . import hermite as hermite
from . import hermite_e as hermite_e
from . import laguerre as laguerre
from . import legendre as legendre
from . import polynomial as polynomial

__all__ = [
    "Chebyshev",
    "Hermite",
    "HermiteE",
    "Laguerre",
    "Legendre",
    "Polynomial",
    "chebyshev",
    "hermite",
    "hermite_e",
    "laguerre",
    "legendre",
    "polynomial",
    "set_default_printstyle",
]
