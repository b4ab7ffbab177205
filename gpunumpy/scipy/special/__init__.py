"""`scipy.special` for arrays of this package: operations of this package, fused with what is around them, and others.

Names that are not here are SciPy's functions, which are handed over.
"""

from typing import Any as _Any

from ...functions.ufuncs.elementwise import sinc as sinc
from .. import modules as _modules
from .function import SpecialFunction as _Function
from .sums import log_softmax as log_softmax
from .sums import logsumexp as logsumexp
from .sums import softmax as softmax

# Logistic functions and entropies.
expit = _Function("expit", "Return the logistic function 1 / (1 + exp(-x)).")
logit = _Function("logit", "Return log(p / (1 - p)), the inverse of `expit`.")
log_expit = _Function("log_expit", "Return the logarithm of `expit`.")
xlogy = _Function("xlogy", "Return x log(y), and 0 where x is 0.")
xlog1py = _Function("xlog1py", "Return x log(1 + y), and 0 where x is 0.")
entr = _Function("entr", "Return -x log(x), the summand of an entropy.")
rel_entr = _Function("rel_entr", "Return x log(x / y), the summand of a relative entropy.")
kl_div = _Function("kl_div", "Return x log(x / y) - x + y, the summand of a Kullback-Leibler divergence.")

# Powers, and differences that would cancel.
exprel = _Function("exprel", "Return (exp(x) - 1) / x.")
cosm1 = _Function("cosm1", "Return cos(x) - 1.")
log1pmx = _Function("log1pmx", "Return log(1 + x) - x.")
boxcox = _Function("boxcox", "Return (x**y - 1) / y, or log(x) where y is 0 (Box and Cox, 1964).")
inv_boxcox = _Function("inv_boxcox", "Return the inverse of `boxcox` for the same second argument.")

# Losses.
huber = _Function("huber", "Return the loss of a residual, quadratic up to the first argument (Huber, 1964).")
pseudo_huber = _Function("pseudo_huber", "Return a smooth loss of a residual, quadratic for small ones.")

# Error functions, and the normal distribution.
erf = _Function("erf", "Return the error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.")
erfc = _Function("erfc", "Return 1 - erf(x).")
erfcx = _Function("erfcx", "Return exp(x**2) erfc(x) (Shepherd and Laframboise, 1981).")
erfinv = _Function("erfinv", "Return the inverse of `erf` (Giles, 2012).")
erfcinv = _Function("erfcinv", "Return the inverse of `erfc`.")
ndtr = _Function("ndtr", "Return the probability that a standard normal number is at most x.")
ndtri = _Function("ndtri", "Return the inverse of `ndtr`.")
log_ndtr = _Function("log_ndtr", "Return the logarithm of `ndtr`.")

# Gamma functions.
gamma = _Function("gamma", "Return the gamma function.")
gammaln = _Function("gammaln", "Return the logarithm of the size of the gamma function.")
rgamma = _Function("rgamma", "Return 1 / gamma(x).")
digamma = _Function("digamma", "Return the derivative of the logarithm of the gamma function.")
psi = digamma
beta = _Function("beta", "Return gamma(a) gamma(b) / gamma(a + b) (Didonato and Morris, 1992).")
betaln = _Function("betaln", "Return the logarithm of the size of `beta`.")
binom = _Function("binom", "Return the binomial coefficient, also of arguments that are not whole.")

# Bessel functions.
j0 = _Function("j0", "Return the Bessel function of the first kind of order 0.")
j1 = _Function("j1", "Return the Bessel function of the first kind of order 1.")
y0 = _Function("y0", "Return the Bessel function of the second kind of order 0.")
y1 = _Function("y1", "Return the Bessel function of the second kind of order 1.")
i0 = _Function("i0", "Return the modified Bessel function of the first kind of order 0.")
i0e = _Function("i0e", "Return exp(-abs(x)) i0(x).")
i1 = _Function("i1", "Return the modified Bessel function of the first kind of order 1.")
i1e = _Function("i1e", "Return exp(-abs(x)) i1(x).")
k0 = _Function("k0", "Return the modified Bessel function of the second kind of order 0.")
k0e = _Function("k0e", "Return exp(x) k0(x).")
k1 = _Function("k1", "Return the modified Bessel function of the second kind of order 1.")
k1e = _Function("k1e", "Return exp(x) k1(x).")

__all__ = sorted({*_modules.public_names("special"), "log1pmx"})


def __getattr__(name: str) -> _Any:
    """Return a function of SciPy's that hands over arrays."""
    value = _modules.lookup("special", name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names of SciPy's module, and of what it has for its own use."""
    return __all__
