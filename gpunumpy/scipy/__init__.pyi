# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from . import cluster as cluster
from . import constants as constants
from . import differentiate as differentiate
from . import fft as fft
from . import fftpack as fftpack
from . import integrate as integrate
from . import interpolate as interpolate
from . import linalg as linalg
from . import ndimage as ndimage
from . import optimize as optimize
from . import signal as signal
from . import sparse as sparse
from . import spatial as spatial
from . import special as special
from . import stats as stats

__all__ = [
    "cluster",
    "constants",
    "differentiate",
    "fft",
    "fftpack",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
]
