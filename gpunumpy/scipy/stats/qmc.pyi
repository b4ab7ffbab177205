# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

class Halton(Any):
    def __init__(
        self, d: Any, *, scramble: Any = True, optimization: Any = None, rng: Any = None, seed: Any = None
    ) -> None: ...

class LatinHypercube(Any):
    def __init__(
        self,
        d: Any,
        *,
        scramble: Any = True,
        strength: Any = 1,
        optimization: Any = None,
        rng: Any = None,
        seed: Any = None,
    ) -> None: ...

class MultinomialQMC(Any):
    def __init__(self, pvals: Any, n_trials: Any, *, engine: Any = None, rng: Any = None, seed: Any = None) -> None: ...

class MultivariateNormalQMC(Any):
    def __init__(
        self,
        mean: Any,
        cov: Any = None,
        *,
        cov_root: Any = None,
        inv_transform: Any = True,
        engine: Any = None,
        rng: Any = None,
        seed: Any = None,
    ) -> None: ...

class PoissonDisk(Any):
    def __init__(
        self,
        d: Any,
        *,
        radius: Any = 0.05,
        hypersphere: Any = "volume",
        ncandidates: Any = 30,
        optimization: Any = None,
        rng: Any = None,
        l_bounds: Any = None,
        u_bounds: Any = None,
        seed: Any = None,
    ) -> None: ...

class QMCEngine(Any):
    def __init__(self, d: Any, *, optimization: Any = None, rng: Any = None, seed: Any = None) -> None: ...

class Sobol(Any):
    def __init__(
        self,
        d: Any,
        *,
        scramble: Any = True,
        bits: Any = None,
        rng: Any = None,
        optimization: Any = None,
        seed: Any = None,
    ) -> None: ...

def discrepancy(sample: Any, *, iterative: Any = False, method: Any = "CD", workers: Any = 1) -> Any: ...
def geometric_discrepancy(sample: Any, method: Any = "mindist", metric: Any = "euclidean") -> Any: ...
def scale(sample: Any, l_bounds: Any, u_bounds: Any, *, reverse: Any = False) -> Any: ...
def update_discrepancy(x_new: Any, sample: Any, initial_disc: Any) -> Any: ...

__all__ = [
    "Halton",
    "LatinHypercube",
    "MultinomialQMC",
    "MultivariateNormalQMC",
    "PoissonDisk",
    "QMCEngine",
    "Sobol",
    "discrepancy",
    "geometric_discrepancy",
    "scale",
    "update_discrepancy",
]
