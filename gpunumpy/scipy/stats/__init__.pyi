# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from ... import ndarray
from . import contingency as contingency
from . import mstats as mstats
from . import qmc as qmc

class Binomial(Any):
    def __init__(self, *, n: Any, p: Any, **kwargs: Any) -> None: ...

class BootstrapMethod(Any):
    def __init__(
        self,
        n_resamples: Any = 9999,
        batch: Any = None,
        random_state: Any = None,
        method: Any = "BCa",
        *,
        rng: Any = None,
    ) -> None: ...

class CensoredData(Any):
    def __init__(
        self, uncensored: Any = None, *, left: Any = None, right: Any = None, interval: Any = None
    ) -> None: ...

class ConstantInputWarning(Warning):
    def __init__(self, msg: Any = None) -> None: ...

class Covariance(Any):
    def __init__(self) -> None: ...

class DegenerateDataWarning(Warning):
    def __init__(self, msg: Any = None) -> None: ...

class FitError(Exception):
    def __init__(self, msg: Any = None) -> None: ...

class Logistic(Any):
    def __init__(
        self, *, tol: Any = ..., validation_policy: Any = None, cache_policy: Any = None, **parameters: Any
    ) -> None: ...

class Mixture(Any):
    def __init__(self, components: Any, *, weights: Any = None) -> None: ...

class MonteCarloMethod(Any):
    def __init__(self, n_resamples: Any = 9999, batch: Any = None, rvs: Any = None, rng: Any = None) -> None: ...

class NearConstantInputWarning(Warning):
    def __init__(self, msg: Any = None) -> None: ...

class Normal(Any):
    def __init__(self, mu: Any = None, sigma: Any = None, **kwargs: Any) -> None: ...

class PermutationMethod(Any):
    def __init__(
        self, n_resamples: Any = 9999, batch: Any = None, random_state: Any = None, *, rng: Any = None
    ) -> None: ...

class Uniform(Any):
    def __init__(self, *, a: Any = None, b: Any = None, **kwargs: Any) -> None: ...

def abs(X: Any, /) -> Any: ...
def alexandergovern(*samples: Any, nan_policy: Any = "propagate", axis: Any = 0, keepdims: Any = False) -> Any: ...
def alpha(*args: Any, **options: Any) -> Any: ...
def anderson(x: Any, dist: Any = "norm", *, method: Any = None) -> Any: ...
def anderson_ksamp(samples: Any, midrank: Any = ..., *, variant: Any = ..., method: Any = None) -> Any: ...
def anglit(*args: Any, **options: Any) -> Any: ...
def ansari(
    x: Any,
    y: Any,
    alternative: Any = "two-sided",
    *,
    axis: Any = 0,
    method: Any = "auto",
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def arcsine(*args: Any, **options: Any) -> Any: ...
def argus(*args: Any, **options: Any) -> Any: ...
def barnard_exact(table: Any, alternative: Any = "two-sided", pooled: Any = True, n: Any = 32) -> Any: ...
def bartlett(*samples: Any, axis: Any = 0, nan_policy: Any = "propagate", keepdims: Any = False) -> Any: ...
def bayes_mvs(data: Any, alpha: Any = 0.9) -> Any: ...
def bernoulli(*args: Any, **options: Any) -> Any: ...
def beta(*args: Any, **options: Any) -> Any: ...
def betabinom(*args: Any, **options: Any) -> Any: ...
def betanbinom(*args: Any, **options: Any) -> Any: ...
def betaprime(*args: Any, **options: Any) -> Any: ...
def binned_statistic(x: Any, values: Any, statistic: Any = "mean", bins: Any = 10, range: Any = None) -> Any: ...
def binned_statistic_2d(
    x: Any,
    y: Any,
    values: Any,
    statistic: Any = "mean",
    bins: Any = 10,
    range: Any = None,
    expand_binnumbers: Any = False,
) -> Any: ...
def binned_statistic_dd(
    sample: Any,
    values: Any,
    statistic: Any = "mean",
    bins: Any = 10,
    range: Any = None,
    expand_binnumbers: Any = False,
    binned_statistic_result: Any = None,
) -> Any: ...
def binom(*args: Any, **options: Any) -> Any: ...
def binomtest(k: Any, n: Any, p: Any = 0.5, alternative: Any = "two-sided") -> Any: ...
def boltzmann(*args: Any, **options: Any) -> Any: ...
def bootstrap(
    data: Any,
    statistic: Any,
    *,
    n_resamples: Any = 9999,
    batch: Any = None,
    vectorized: Any = None,
    paired: Any = False,
    axis: Any = 0,
    confidence_level: Any = 0.95,
    alternative: Any = "two-sided",
    method: Any = "BCa",
    bootstrap_result: Any = None,
    rng: Any = None,
    random_state: Any = None,
) -> Any: ...
def boschloo_exact(table: Any, alternative: Any = "two-sided", n: Any = 32) -> Any: ...
def boxcox(
    x: Any, lmbda: Any = None, alpha: Any = None, optimizer: Any = None, *, nan_policy: Any = "propagate"
) -> Any: ...
def boxcox_llf(lmb: Any, data: Any, *, axis: Any = 0, keepdims: Any = False, nan_policy: Any = "propagate") -> Any: ...
def boxcox_normmax(
    x: Any,
    brack: Any = None,
    method: Any = "pearsonr",
    optimizer: Any = None,
    *,
    ymax: Any = ...,
    nan_policy: Any = "propagate",
) -> Any: ...
def boxcox_normplot(x: Any, la: Any, lb: Any, plot: Any = None, N: Any = 80) -> Any: ...
def bradford(*args: Any, **options: Any) -> Any: ...
def brunnermunzel(
    x: Any,
    y: Any,
    alternative: Any = "two-sided",
    distribution: Any = "t",
    nan_policy: Any = "propagate",
    *,
    axis: Any = 0,
    keepdims: Any = False,
) -> Any: ...
def burr(*args: Any, **options: Any) -> Any: ...
def burr12(*args: Any, **options: Any) -> Any: ...
def bws_test(x: Any, y: Any, *, alternative: Any = "two-sided", axis: Any = 0, method: Any = None) -> Any: ...
def cauchy(*args: Any, **options: Any) -> Any: ...
def chatterjeexi(
    x: Any,
    y: Any,
    *,
    axis: Any = 0,
    y_continuous: Any = False,
    method: Any = "asymptotic",
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def chi(*args: Any, **options: Any) -> Any: ...
def chi2(*args: Any, **options: Any) -> Any: ...
def chi2_contingency(observed: Any, correction: Any = True, lambda_: Any = None, *, method: Any = None) -> Any: ...
def chisquare(
    f_obs: Any,
    f_exp: Any = None,
    ddof: Any = 0,
    axis: Any = 0,
    *,
    sum_check: Any = True,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def circmean(
    samples: Any,
    high: Any = 6.283185307179586,
    low: Any = 0,
    axis: Any = None,
    nan_policy: Any = "propagate",
    *,
    keepdims: Any = False,
) -> Any: ...
def circstd(
    samples: Any,
    high: Any = 6.283185307179586,
    low: Any = 0,
    axis: Any = None,
    nan_policy: Any = "propagate",
    *,
    normalize: Any = False,
    keepdims: Any = False,
) -> Any: ...
def circvar(
    samples: Any,
    high: Any = 6.283185307179586,
    low: Any = 0,
    axis: Any = None,
    nan_policy: Any = "propagate",
    *,
    keepdims: Any = False,
) -> Any: ...
def combine_pvalues(
    pvalues: Any,
    method: Any = "fisher",
    weights: Any = None,
    *,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def cosine(*args: Any, **options: Any) -> Any: ...
def cramervonmises(
    rvs: Any, cdf: Any, args: Any = ..., *, axis: Any = 0, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any: ...
def cramervonmises_2samp(
    x: Any, y: Any, method: Any = "auto", *, axis: Any = 0, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any: ...
def crystalball(*args: Any, **options: Any) -> Any: ...
def cumfreq(a: Any, numbins: Any = 10, defaultreallimits: Any = None, weights: Any = None) -> Any: ...
def describe(a: Any, axis: Any = 0, ddof: Any = 1, bias: Any = True, nan_policy: Any = "propagate") -> Any: ...
def dgamma(*args: Any, **options: Any) -> Any: ...
def differential_entropy(
    values: Any,
    *,
    window_length: Any = None,
    base: Any = None,
    axis: Any = 0,
    method: Any = "auto",
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def directional_stats(samples: Any, *, axis: Any = 0, normalize: Any = True) -> Any: ...
def dirichlet(*args: Any, **options: Any) -> Any: ...
def dirichlet_multinomial(*args: Any, **options: Any) -> Any: ...
def dlaplace(*args: Any, **options: Any) -> Any: ...
def dpareto_lognorm(*args: Any, **options: Any) -> Any: ...
def dunnett(
    *samples: Any, control: Any, alternative: Any = "two-sided", rng: Any = None, random_state: Any = None
) -> Any: ...
def dweibull(*args: Any, **options: Any) -> Any: ...
def ecdf(sample: Any) -> Any: ...
def energy_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any: ...
def entropy(
    pk: Any, qk: Any = None, base: Any = None, axis: Any = 0, *, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any: ...
def epps_singleton_2samp(
    x: Any, y: Any, t: Any = ..., *, axis: Any = 0, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any: ...
def erlang(*args: Any, **options: Any) -> Any: ...
def estimated_cdf(
    x: Any, y: Any, *, method: Any = "linear", axis: Any = 0, nan_policy: Any = "propagate", keepdims: Any = None
) -> Any: ...
def exp(X: Any, /) -> Any: ...
def expectile(
    a: Any,
    alpha: Any = 0.5,
    *,
    weights: Any = None,
    axis: Any = None,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> ndarray: ...
def expon(*args: Any, **options: Any) -> Any: ...
def exponnorm(*args: Any, **options: Any) -> Any: ...
def exponpow(*args: Any, **options: Any) -> Any: ...
def exponweib(*args: Any, **options: Any) -> Any: ...
def f(*args: Any, **options: Any) -> Any: ...
def f_oneway(
    *samples: Any, axis: Any = 0, equal_var: Any = True, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any: ...
def false_discovery_control(ps: Any, *, axis: Any = 0, method: Any = "bh") -> Any: ...
def fatiguelife(*args: Any, **options: Any) -> Any: ...
def fisher_exact(table: Any, alternative: Any = None, *, method: Any = None) -> Any: ...
def fisk(*args: Any, **options: Any) -> Any: ...
def fit(
    dist: Any, data: Any, bounds: Any = None, *, guess: Any = None, method: Any = "mle", optimizer: Any = ...
) -> Any: ...
def fligner(
    *samples: Any,
    center: Any = "median",
    proportiontocut: Any = 0.05,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def foldcauchy(*args: Any, **options: Any) -> Any: ...
def foldnorm(*args: Any, **options: Any) -> Any: ...
def friedmanchisquare(*samples: Any, axis: Any = 0, nan_policy: Any = "propagate", keepdims: Any = False) -> Any: ...
def gamma(*args: Any, **options: Any) -> Any: ...
def gausshyper(*args: Any, **options: Any) -> Any: ...

class gaussian_kde(Any):
    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None: ...

def genexpon(*args: Any, **options: Any) -> Any: ...
def genextreme(*args: Any, **options: Any) -> Any: ...
def gengamma(*args: Any, **options: Any) -> Any: ...
def genhalflogistic(*args: Any, **options: Any) -> Any: ...
def genhyperbolic(*args: Any, **options: Any) -> Any: ...
def geninvgauss(*args: Any, **options: Any) -> Any: ...
def genlogistic(*args: Any, **options: Any) -> Any: ...
def gennorm(*args: Any, **options: Any) -> Any: ...
def genpareto(*args: Any, **options: Any) -> Any: ...
def geom(*args: Any, **options: Any) -> Any: ...
def gibrat(*args: Any, **options: Any) -> Any: ...
def gmean(
    a: Any,
    axis: Any = 0,
    dtype: Any = None,
    weights: Any = None,
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> ndarray: ...
def gompertz(*args: Any, **options: Any) -> Any: ...
def goodness_of_fit(
    dist: Any,
    data: Any,
    *,
    known_params: Any = None,
    fit_params: Any = None,
    guessed_params: Any = None,
    statistic: Any = "ad",
    n_mc_samples: Any = 9999,
    rng: Any = None,
    random_state: Any = None,
) -> Any: ...
def gstd(a: Any, axis: Any = 0, ddof: Any = 1, *, keepdims: Any = False, nan_policy: Any = "propagate") -> Any: ...
def gumbel_l(*args: Any, **options: Any) -> Any: ...
def gumbel_r(*args: Any, **options: Any) -> Any: ...
def gzscore(a: Any, *, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any: ...
def halfcauchy(*args: Any, **options: Any) -> Any: ...
def halfgennorm(*args: Any, **options: Any) -> Any: ...
def halflogistic(*args: Any, **options: Any) -> Any: ...
def halfnorm(*args: Any, **options: Any) -> Any: ...
def hmean(
    a: Any,
    axis: Any = 0,
    dtype: Any = None,
    *,
    weights: Any = None,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> ndarray: ...
def hypergeom(*args: Any, **options: Any) -> Any: ...
def hypsecant(*args: Any, **options: Any) -> Any: ...
def invgamma(*args: Any, **options: Any) -> Any: ...
def invgauss(*args: Any, **options: Any) -> Any: ...
def invweibull(*args: Any, **options: Any) -> Any: ...
def invwishart(*args: Any, **options: Any) -> Any: ...
def iqr(
    x: Any,
    axis: Any = None,
    rng: Any = ...,
    scale: Any = 1.0,
    nan_policy: Any = "propagate",
    interpolation: Any = "linear",
    keepdims: Any = False,
) -> Any: ...
def irwinhall(*args: Any, **options: Any) -> Any: ...
def jarque_bera(x: Any, *, axis: Any = None, nan_policy: Any = "propagate", keepdims: Any = False) -> Any: ...
def jf_skew_t(*args: Any, **options: Any) -> Any: ...
def johnsonsb(*args: Any, **options: Any) -> Any: ...
def johnsonsu(*args: Any, **options: Any) -> Any: ...
def kappa3(*args: Any, **options: Any) -> Any: ...
def kappa4(*args: Any, **options: Any) -> Any: ...
def kendalltau(
    x: Any,
    y: Any,
    *,
    nan_policy: Any = "propagate",
    method: Any = "auto",
    variant: Any = "b",
    alternative: Any = "two-sided",
    axis: Any = None,
    keepdims: Any = False,
) -> Any: ...
def kruskal(*samples: Any, nan_policy: Any = "propagate", axis: Any = 0, keepdims: Any = False) -> Any: ...
def ks_1samp(
    x: Any,
    cdf: Any,
    args: Any = ...,
    alternative: Any = "two-sided",
    method: Any = "auto",
    *,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def ks_2samp(
    data1: Any,
    data2: Any,
    alternative: Any = "two-sided",
    method: Any = "auto",
    *,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def ksone(*args: Any, **options: Any) -> Any: ...
def kstat(data: Any, n: Any = 2, *, axis: Any = None, nan_policy: Any = "propagate", keepdims: Any = False) -> Any: ...
def kstatvar(
    data: Any, n: Any = 2, *, axis: Any = None, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any: ...
def kstest(
    rvs: Any,
    cdf: Any,
    args: Any = ...,
    N: Any = 20,
    alternative: Any = "two-sided",
    method: Any = "auto",
    *,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def kstwo(*args: Any, **options: Any) -> Any: ...
def kstwobign(*args: Any, **options: Any) -> Any: ...
def kurtosis(
    a: Any, axis: Any = 0, fisher: Any = True, bias: Any = True, nan_policy: Any = "propagate", *, keepdims: Any = False
) -> ndarray: ...
def kurtosistest(
    a: Any, axis: Any = 0, nan_policy: Any = "propagate", alternative: Any = "two-sided", *, keepdims: Any = False
) -> Any: ...
def landau(*args: Any, **options: Any) -> Any: ...
def laplace(*args: Any, **options: Any) -> Any: ...
def laplace_asymmetric(*args: Any, **options: Any) -> Any: ...
def levene(
    *samples: Any,
    center: Any = "median",
    proportiontocut: Any = 0.05,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def levy(*args: Any, **options: Any) -> Any: ...
def levy_l(*args: Any, **options: Any) -> Any: ...
def levy_stable(*args: Any, **options: Any) -> Any: ...
def linregress(
    x: Any,
    y: Any,
    alternative: Any = "two-sided",
    *,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def lmoment(
    sample: Any,
    order: Any = None,
    *,
    axis: Any = 0,
    sorted: Any = False,
    standardize: Any = True,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> ndarray: ...
def log(X: Any, /) -> Any: ...
def loggamma(*args: Any, **options: Any) -> Any: ...
def logistic(*args: Any, **options: Any) -> Any: ...
def loglaplace(*args: Any, **options: Any) -> Any: ...
def lognorm(*args: Any, **options: Any) -> Any: ...
def logrank(x: Any, y: Any, alternative: Any = "two-sided") -> Any: ...
def logser(*args: Any, **options: Any) -> Any: ...
def loguniform(*args: Any, **options: Any) -> Any: ...
def lomax(*args: Any, **options: Any) -> Any: ...
def make_distribution(dist: Any) -> Any: ...
def mannwhitneyu(
    x: Any,
    y: Any,
    use_continuity: Any = True,
    alternative: Any = "two-sided",
    axis: Any = 0,
    method: Any = "auto",
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def matrix_normal(*args: Any, **options: Any) -> Any: ...
def matrix_t(*args: Any, **options: Any) -> Any: ...
def maxwell(*args: Any, **options: Any) -> Any: ...
def median_abs_deviation(
    x: Any, axis: Any = 0, center: Any = None, scale: Any = 1.0, nan_policy: Any = "propagate", *, keepdims: Any = False
) -> Any: ...
def median_test(
    *samples: Any, ties: Any = "below", correction: Any = True, lambda_: Any = 1, nan_policy: Any = "propagate"
) -> Any: ...
def mielke(*args: Any, **options: Any) -> Any: ...
def mode(a: Any, axis: Any = 0, nan_policy: Any = "propagate", keepdims: Any = False) -> Any: ...
def moment(
    a: Any, order: Any = 1, axis: Any = 0, nan_policy: Any = "propagate", *, center: Any = None, keepdims: Any = False
) -> Any: ...
def monte_carlo_test(
    data: Any,
    rvs: Any,
    statistic: Any,
    *,
    vectorized: Any = None,
    n_resamples: Any = 9999,
    batch: Any = None,
    alternative: Any = "two-sided",
    axis: Any = 0,
) -> Any: ...
def mood(
    x: Any,
    y: Any,
    axis: Any = 0,
    alternative: Any = "two-sided",
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def moyal(*args: Any, **options: Any) -> Any: ...
def multinomial(*args: Any, **options: Any) -> Any: ...
def multiscale_graphcorr(
    x: Any,
    y: Any,
    compute_distance: Any = ...,
    reps: Any = 1000,
    workers: Any = 1,
    is_twosamp: Any = False,
    random_state: Any = None,
) -> Any: ...
def multivariate_hypergeom(*args: Any, **options: Any) -> Any: ...
def multivariate_normal(*args: Any, **options: Any) -> Any: ...
def multivariate_t(*args: Any, **options: Any) -> Any: ...
def mvsdist(data: Any) -> Any: ...
def nakagami(*args: Any, **options: Any) -> Any: ...
def nbinom(*args: Any, **options: Any) -> Any: ...
def ncf(*args: Any, **options: Any) -> Any: ...
def nchypergeom_fisher(*args: Any, **options: Any) -> Any: ...
def nchypergeom_wallenius(*args: Any, **options: Any) -> Any: ...
def nct(*args: Any, **options: Any) -> Any: ...
def ncx2(*args: Any, **options: Any) -> Any: ...
def nhypergeom(*args: Any, **options: Any) -> Any: ...
def norm(*args: Any, **options: Any) -> Any: ...
def normal_inverse_gamma(*args: Any, **options: Any) -> Any: ...
def normaltest(a: Any, axis: Any = 0, nan_policy: Any = "propagate", *, keepdims: Any = False) -> Any: ...
def norminvgauss(*args: Any, **options: Any) -> Any: ...
def obrientransform(*samples: Any, nan_policy: Any = "propagate") -> Any: ...
def order_statistic(X: Any, /, *, r: Any, n: Any) -> Any: ...
def ortho_group(*args: Any, **options: Any) -> Any: ...
def page_trend_test(data: Any, ranked: Any = False, predicted_ranks: Any = None, method: Any = "auto") -> Any: ...
def pareto(*args: Any, **options: Any) -> Any: ...
def pearson3(*args: Any, **options: Any) -> Any: ...
def pearsonr(x: Any, y: Any, *, alternative: Any = "two-sided", method: Any = None, axis: Any = 0) -> Any: ...
def percentileofscore(a: Any, score: Any, kind: Any = "rank", nan_policy: Any = "propagate") -> Any: ...
def permutation_test(
    data: Any,
    statistic: Any,
    *,
    permutation_type: Any = "independent",
    vectorized: Any = None,
    n_resamples: Any = 9999,
    batch: Any = None,
    alternative: Any = "two-sided",
    axis: Any = 0,
    rng: Any = None,
    random_state: Any = None,
) -> Any: ...
def planck(*args: Any, **options: Any) -> Any: ...
def pmean(
    a: Any,
    p: Any,
    *,
    axis: Any = 0,
    dtype: Any = None,
    weights: Any = None,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> ndarray: ...
def pointbiserialr(x: Any, y: Any, *, axis: Any = 0, nan_policy: Any = "propagate", keepdims: Any = False) -> Any: ...
def poisson(*args: Any, **options: Any) -> Any: ...
def poisson_binom(*args: Any, **options: Any) -> Any: ...
def poisson_means_test(k1: Any, n1: Any, k2: Any, n2: Any, *, diff: Any = 0, alternative: Any = "two-sided") -> Any: ...
def power(
    test: Any,
    rvs: Any,
    n_observations: Any,
    *,
    significance: Any = 0.01,
    vectorized: Any = None,
    n_resamples: Any = 10000,
    batch: Any = None,
    kwargs: Any = None,
) -> Any: ...
def power_divergence(
    f_obs: Any,
    f_exp: Any = None,
    ddof: Any = 0,
    axis: Any = 0,
    lambda_: Any = None,
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def powerlaw(*args: Any, **options: Any) -> Any: ...
def powerlognorm(*args: Any, **options: Any) -> Any: ...
def powernorm(*args: Any, **options: Any) -> Any: ...
def ppcc_max(x: Any, brack: Any = ..., dist: Any = "tukeylambda") -> Any: ...
def ppcc_plot(x: Any, a: Any, b: Any, dist: Any = "tukeylambda", plot: Any = None, N: Any = 80) -> Any: ...
def probplot(
    x: Any, sparams: Any = ..., dist: Any = "norm", fit: Any = True, plot: Any = None, rvalue: Any = False
) -> Any: ...
def quantile(
    x: Any,
    p: Any,
    *,
    method: Any = "linear",
    axis: Any = 0,
    nan_policy: Any = "propagate",
    keepdims: Any = None,
    weights: Any = None,
) -> Any: ...
def quantile_test(
    x: Any, *, q: Any = 0.0, p: Any = 0.5, alternative: Any = "two-sided", axis: Any = 0, keepdims: Any = None
) -> Any: ...
def randint(*args: Any, **options: Any) -> Any: ...
def random_correlation(*args: Any, **options: Any) -> Any: ...
def random_table(*args: Any, **options: Any) -> Any: ...
def rankdata(a: Any, method: Any = "average", *, axis: Any = None, nan_policy: Any = "propagate") -> ndarray: ...
def ranksums(
    x: Any,
    y: Any,
    alternative: Any = "two-sided",
    *,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def rayleigh(*args: Any, **options: Any) -> Any: ...
def rdist(*args: Any, **options: Any) -> Any: ...
def recipinvgauss(*args: Any, **options: Any) -> Any: ...
def reciprocal(*args: Any, **options: Any) -> Any: ...
def rel_breitwigner(*args: Any, **options: Any) -> Any: ...
def relfreq(a: Any, numbins: Any = 10, defaultreallimits: Any = None, weights: Any = None) -> Any: ...
def rice(*args: Any, **options: Any) -> Any: ...

class rv_continuous(Any):
    def __init__(
        self,
        momtype: Any = 1,
        a: Any = None,
        b: Any = None,
        xtol: Any = 1e-14,
        badvalue: Any = None,
        name: Any = None,
        longname: Any = None,
        shapes: Any = None,
        seed: Any = None,
    ) -> None: ...

class rv_discrete(Any):
    def __init__(
        self,
        a: Any = 0,
        b: Any = ...,
        name: Any = None,
        badvalue: Any = None,
        moment_tol: Any = 1e-08,
        values: Any = None,
        inc: Any = 1,
        longname: Any = None,
        shapes: Any = None,
        seed: Any = None,
    ) -> None: ...

class rv_histogram(Any):
    def __init__(self, histogram: Any, *args: Any, density: Any = None, **kwargs: Any) -> None: ...

def scoreatpercentile(
    a: Any, per: Any, limit: Any = ..., interpolation_method: Any = "fraction", axis: Any = None
) -> Any: ...
def sem(a: Any, axis: Any = 0, ddof: Any = 1, nan_policy: Any = "propagate", *, keepdims: Any = False) -> Any: ...
def semicircular(*args: Any, **options: Any) -> Any: ...
def shapiro(x: Any, *, axis: Any = None, nan_policy: Any = "propagate", keepdims: Any = False) -> Any: ...
def siegelslopes(
    y: Any,
    x: Any = None,
    method: Any = "hierarchical",
    *,
    axis: Any = None,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def sigmaclip(a: Any, low: Any = 4.0, high: Any = 4.0, *, nan_policy: Any = "propagate") -> Any: ...
def skellam(*args: Any, **options: Any) -> Any: ...
def skew(
    a: Any, axis: Any = 0, bias: Any = True, nan_policy: Any = "propagate", *, keepdims: Any = False
) -> ndarray: ...
def skewcauchy(*args: Any, **options: Any) -> Any: ...
def skewnorm(*args: Any, **options: Any) -> Any: ...
def skewtest(
    a: Any, axis: Any = 0, nan_policy: Any = "propagate", alternative: Any = "two-sided", *, keepdims: Any = False
) -> Any: ...
def sobol_indices(
    *, func: Any, n: Any, dists: Any = None, method: Any = "saltelli_2010", rng: Any = None, random_state: Any = None
) -> Any: ...
def somersd(x: Any, y: Any = None, alternative: Any = "two-sided") -> Any: ...
def spearmanr(
    a: Any, b: Any = None, axis: Any = 0, nan_policy: Any = "propagate", alternative: Any = "two-sided"
) -> Any: ...
def spearmanrho(
    x: Any,
    y: Any,
    /,
    *,
    alternative: Any = "two-sided",
    method: Any = None,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def special_ortho_group(*args: Any, **options: Any) -> Any: ...
def studentized_range(*args: Any, **options: Any) -> Any: ...
def t(*args: Any, **options: Any) -> Any: ...
def theilslopes(
    y: Any,
    x: Any = None,
    alpha: Any = 0.95,
    method: Any = "separate",
    *,
    axis: Any = None,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def tiecorrect(rankvals: Any) -> Any: ...
def tmax(
    a: Any,
    upperlimit: Any = None,
    axis: Any = 0,
    inclusive: Any = True,
    nan_policy: Any = "propagate",
    *,
    keepdims: Any = False,
) -> Any: ...
def tmean(
    a: Any,
    limits: Any = None,
    inclusive: Any = ...,
    axis: Any = None,
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> ndarray: ...
def tmin(
    a: Any,
    lowerlimit: Any = None,
    axis: Any = 0,
    inclusive: Any = True,
    nan_policy: Any = "propagate",
    *,
    keepdims: Any = False,
) -> Any: ...
def trapezoid(*args: Any, **options: Any) -> Any: ...
def triang(*args: Any, **options: Any) -> Any: ...
def trim1(a: Any, proportiontocut: Any, tail: Any = "right", axis: Any = 0) -> ndarray: ...
def trim_mean(
    a: Any, proportiontocut: Any, axis: Any = 0, *, nan_policy: Any = "propagate", keepdims: Any = False
) -> ndarray: ...
def trimboth(a: Any, proportiontocut: Any, axis: Any = 0) -> ndarray: ...
def truncate(X: Any, lb: Any = ..., ub: Any = ...) -> Any: ...
def truncexpon(*args: Any, **options: Any) -> Any: ...
def truncnorm(*args: Any, **options: Any) -> Any: ...
def truncpareto(*args: Any, **options: Any) -> Any: ...
def truncweibull_min(*args: Any, **options: Any) -> Any: ...
def tsem(
    a: Any,
    limits: Any = None,
    inclusive: Any = ...,
    axis: Any = 0,
    ddof: Any = 1,
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def tstd(
    a: Any,
    limits: Any = None,
    inclusive: Any = ...,
    axis: Any = 0,
    ddof: Any = 1,
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def ttest_1samp(
    a: Any,
    popmean: Any,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    alternative: Any = "two-sided",
    *,
    keepdims: Any = False,
) -> Any: ...
def ttest_ind(
    a: Any,
    b: Any,
    *,
    axis: Any = 0,
    equal_var: Any = True,
    nan_policy: Any = "propagate",
    alternative: Any = "two-sided",
    trim: Any = 0,
    method: Any = None,
    keepdims: Any = False,
) -> Any: ...
def ttest_ind_from_stats(
    mean1: Any,
    std1: Any,
    nobs1: Any,
    mean2: Any,
    std2: Any,
    nobs2: Any,
    equal_var: Any = True,
    alternative: Any = "two-sided",
) -> Any: ...
def ttest_rel(
    a: Any,
    b: Any,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    alternative: Any = "two-sided",
    *,
    keepdims: Any = False,
) -> Any: ...
def tukey_hsd(*samples: Any, equal_var: Any = True) -> Any: ...
def tukeylambda(*args: Any, **options: Any) -> Any: ...
def tvar(
    a: Any,
    limits: Any = None,
    inclusive: Any = ...,
    axis: Any = 0,
    ddof: Any = 1,
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def uniform(*args: Any, **options: Any) -> Any: ...
def uniform_direction(*args: Any, **options: Any) -> Any: ...
def unitary_group(*args: Any, **options: Any) -> Any: ...
def variation(
    a: Any, axis: Any = 0, nan_policy: Any = "propagate", ddof: Any = 0, *, keepdims: Any = False
) -> ndarray: ...
def vonmises(*args: Any, **options: Any) -> Any: ...
def vonmises_fisher(*args: Any, **options: Any) -> Any: ...
def vonmises_line(*args: Any, **options: Any) -> Any: ...
def wald(*args: Any, **options: Any) -> Any: ...
def wasserstein_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any: ...
def wasserstein_distance_nd(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any: ...
def weibull_max(*args: Any, **options: Any) -> Any: ...
def weibull_min(*args: Any, **options: Any) -> Any: ...
def weightedtau(
    x: Any,
    y: Any,
    rank: Any = True,
    weigher: Any = None,
    additive: Any = True,
    *,
    axis: Any = None,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def wilcoxon(
    x: Any,
    y: Any = None,
    zero_method: Any = "wilcox",
    correction: Any = False,
    alternative: Any = "two-sided",
    method: Any = "auto",
    *,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any: ...
def wishart(*args: Any, **options: Any) -> Any: ...
def wrapcauchy(*args: Any, **options: Any) -> Any: ...
def yeojohnson(x: Any, lmbda: Any = None, *, nan_policy: Any = "propagate") -> Any: ...
def yeojohnson_llf(
    lmb: Any, data: Any, *, axis: Any = 0, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any: ...
def yeojohnson_normmax(x: Any, brack: Any = None, *, nan_policy: Any = "propagate") -> Any: ...
def yeojohnson_normplot(x: Any, la: Any, lb: Any, plot: Any = None, N: Any = 80) -> Any: ...
def yulesimon(*args: Any, **options: Any) -> Any: ...
def zipf(*args: Any, **options: Any) -> Any: ...
def zipfian(*args: Any, **options: Any) -> Any: ...
def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any: ...
def zscore(a: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any: ...

__all__ = [
    "Binomial",
    "BootstrapMethod",
    "CensoredData",
    "ConstantInputWarning",
    "Covariance",
    "DegenerateDataWarning",
    "FitError",
    "Logistic",
    "Mixture",
    "MonteCarloMethod",
    "NearConstantInputWarning",
    "Normal",
    "PermutationMethod",
    "Uniform",
    "abs",
    "alexandergovern",
    "alpha",
    "anderson",
    "anderson_ksamp",
    "anglit",
    "ansari",
    "arcsine",
    "argus",
    "barnard_exact",
    "bartlett",
    "bayes_mvs",
    "bernoulli",
    "beta",
    "betabinom",
    "betanbinom",
    "betaprime",
    "binned_statistic",
    "binned_statistic_2d",
    "binned_statistic_dd",
    "binom",
    "binomtest",
    "boltzmann",
    "bootstrap",
    "boschloo_exact",
    "boxcox",
    "boxcox_llf",
    "boxcox_normmax",
    "boxcox_normplot",
    "bradford",
    "brunnermunzel",
    "burr",
    "burr12",
    "bws_test",
    "cauchy",
    "chatterjeexi",
    "chi",
    "chi2",
    "chi2_contingency",
    "chisquare",
    "circmean",
    "circstd",
    "circvar",
    "combine_pvalues",
    "contingency",
    "cosine",
    "cramervonmises",
    "cramervonmises_2samp",
    "crystalball",
    "cumfreq",
    "describe",
    "dgamma",
    "differential_entropy",
    "directional_stats",
    "dirichlet",
    "dirichlet_multinomial",
    "dlaplace",
    "dpareto_lognorm",
    "dunnett",
    "dweibull",
    "ecdf",
    "energy_distance",
    "entropy",
    "epps_singleton_2samp",
    "erlang",
    "estimated_cdf",
    "exp",
    "expectile",
    "expon",
    "exponnorm",
    "exponpow",
    "exponweib",
    "f",
    "f_oneway",
    "false_discovery_control",
    "fatiguelife",
    "fisher_exact",
    "fisk",
    "fit",
    "fligner",
    "foldcauchy",
    "foldnorm",
    "friedmanchisquare",
    "gamma",
    "gausshyper",
    "gaussian_kde",
    "genexpon",
    "genextreme",
    "gengamma",
    "genhalflogistic",
    "genhyperbolic",
    "geninvgauss",
    "genlogistic",
    "gennorm",
    "genpareto",
    "geom",
    "gibrat",
    "gmean",
    "gompertz",
    "goodness_of_fit",
    "gstd",
    "gumbel_l",
    "gumbel_r",
    "gzscore",
    "halfcauchy",
    "halfgennorm",
    "halflogistic",
    "halfnorm",
    "hmean",
    "hypergeom",
    "hypsecant",
    "invgamma",
    "invgauss",
    "invweibull",
    "invwishart",
    "iqr",
    "irwinhall",
    "jarque_bera",
    "jf_skew_t",
    "johnsonsb",
    "johnsonsu",
    "kappa3",
    "kappa4",
    "kendalltau",
    "kruskal",
    "ks_1samp",
    "ks_2samp",
    "ksone",
    "kstat",
    "kstatvar",
    "kstest",
    "kstwo",
    "kstwobign",
    "kurtosis",
    "kurtosistest",
    "landau",
    "laplace",
    "laplace_asymmetric",
    "levene",
    "levy",
    "levy_l",
    "levy_stable",
    "linregress",
    "lmoment",
    "log",
    "loggamma",
    "logistic",
    "loglaplace",
    "lognorm",
    "logrank",
    "logser",
    "loguniform",
    "lomax",
    "make_distribution",
    "mannwhitneyu",
    "matrix_normal",
    "matrix_t",
    "maxwell",
    "median_abs_deviation",
    "median_test",
    "mielke",
    "mode",
    "moment",
    "monte_carlo_test",
    "mood",
    "moyal",
    "mstats",
    "multinomial",
    "multiscale_graphcorr",
    "multivariate_hypergeom",
    "multivariate_normal",
    "multivariate_t",
    "mvsdist",
    "nakagami",
    "nbinom",
    "ncf",
    "nchypergeom_fisher",
    "nchypergeom_wallenius",
    "nct",
    "ncx2",
    "nhypergeom",
    "norm",
    "normal_inverse_gamma",
    "normaltest",
    "norminvgauss",
    "obrientransform",
    "order_statistic",
    "ortho_group",
    "page_trend_test",
    "pareto",
    "pearson3",
    "pearsonr",
    "percentileofscore",
    "permutation_test",
    "planck",
    "pmean",
    "pointbiserialr",
    "poisson",
    "poisson_binom",
    "poisson_means_test",
    "power",
    "power_divergence",
    "powerlaw",
    "powerlognorm",
    "powernorm",
    "ppcc_max",
    "ppcc_plot",
    "probplot",
    "qmc",
    "quantile",
    "quantile_test",
    "randint",
    "random_correlation",
    "random_table",
    "rankdata",
    "ranksums",
    "rayleigh",
    "rdist",
    "recipinvgauss",
    "reciprocal",
    "rel_breitwigner",
    "relfreq",
    "rice",
    "rv_continuous",
    "rv_discrete",
    "rv_histogram",
    "scoreatpercentile",
    "sem",
    "semicircular",
    "shapiro",
    "siegelslopes",
    "sigmaclip",
    "skellam",
    "skew",
    "skewcauchy",
    "skewnorm",
    "skewtest",
    "sobol_indices",
    "somersd",
    "spearmanr",
    "spearmanrho",
    "special_ortho_group",
    "studentized_range",
    "t",
    "theilslopes",
    "tiecorrect",
    "tmax",
    "tmean",
    "tmin",
    "trapezoid",
    "triang",
    "trim1",
    "trim_mean",
    "trimboth",
    "truncate",
    "truncexpon",
    "truncnorm",
    "truncpareto",
    "truncweibull_min",
    "tsem",
    "tstd",
    "ttest_1samp",
    "ttest_ind",
    "ttest_ind_from_stats",
    "ttest_rel",
    "tukey_hsd",
    "tukeylambda",
    "tvar",
    "uniform",
    "uniform_direction",
    "unitary_group",
    "variation",
    "vonmises",
    "vonmises_fisher",
    "vonmises_line",
    "wald",
    "wasserstein_distance",
    "wasserstein_distance_nd",
    "weibull_max",
    "weibull_min",
    "weightedtau",
    "wilcoxon",
    "wishart",
    "wrapcauchy",
    "yeojohnson",
    "yeojohnson_llf",
    "yeojohnson_normmax",
    "yeojohnson_normplot",
    "yulesimon",
    "zipf",
    "zipfian",
    "zmap",
    "zscore",
]
