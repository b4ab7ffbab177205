# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from .. import ndarray

def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any = 0.0,
    output_shape: Any = None,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> ndarray: ...
def binary_closing(
    input: Any,
    structure: Any = None,
    iterations: Any = 1,
    output: Any = None,
    origin: Any = 0,
    mask: Any = None,
    border_value: Any = 0,
    brute_force: Any = False,
    *,
    axes: Any = None,
) -> ndarray: ...
def binary_dilation(
    input: Any,
    structure: Any = None,
    iterations: Any = 1,
    mask: Any = None,
    output: Any = None,
    border_value: Any = 0,
    origin: Any = 0,
    brute_force: Any = False,
    *,
    axes: Any = None,
) -> ndarray: ...
def binary_erosion(
    input: Any,
    structure: Any = None,
    iterations: Any = 1,
    mask: Any = None,
    output: Any = None,
    border_value: Any = 0,
    origin: Any = 0,
    brute_force: Any = False,
    *,
    axes: Any = None,
) -> ndarray: ...
def binary_fill_holes(
    input: Any, structure: Any = None, output: Any = None, origin: Any = 0, *, axes: Any = None
) -> ndarray: ...
def binary_hit_or_miss(
    input: Any,
    structure1: Any = None,
    structure2: Any = None,
    output: Any = None,
    origin1: Any = 0,
    origin2: Any = None,
    *,
    axes: Any = None,
) -> ndarray: ...
def binary_opening(
    input: Any,
    structure: Any = None,
    iterations: Any = 1,
    output: Any = None,
    origin: Any = 0,
    mask: Any = None,
    border_value: Any = 0,
    brute_force: Any = False,
    *,
    axes: Any = None,
) -> ndarray: ...
def binary_propagation(
    input: Any,
    structure: Any = None,
    mask: Any = None,
    output: Any = None,
    border_value: Any = 0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def black_tophat(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def convolve(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def convolve1d(
    input: Any,
    weights: Any,
    axis: Any = -1,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> ndarray: ...
def correlate(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def correlate1d(
    input: Any,
    weights: Any,
    axis: Any = -1,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> ndarray: ...
def distance_transform_bf(
    input: Any,
    metric: Any = "euclidean",
    sampling: Any = None,
    return_distances: Any = True,
    return_indices: Any = False,
    distances: Any = None,
    indices: Any = None,
) -> Any: ...
def distance_transform_cdt(
    input: Any,
    metric: Any = "chessboard",
    return_distances: Any = True,
    return_indices: Any = False,
    distances: Any = None,
    indices: Any = None,
) -> Any: ...
def distance_transform_edt(
    input: Any,
    sampling: Any = None,
    return_distances: Any = True,
    return_indices: Any = False,
    distances: Any = None,
    indices: Any = None,
) -> Any: ...
def extrema(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def find_objects(input: Any, max_label: Any = 0) -> Any: ...
def fourier_ellipsoid(input: Any, size: Any, n: Any = -1, axis: Any = -1, output: Any = None) -> ndarray: ...
def fourier_gaussian(input: Any, sigma: Any, n: Any = -1, axis: Any = -1, output: Any = None) -> ndarray: ...
def fourier_shift(input: Any, shift: Any, n: Any = -1, axis: Any = -1, output: Any = None) -> ndarray: ...
def fourier_uniform(input: Any, size: Any, n: Any = -1, axis: Any = -1, output: Any = None) -> ndarray: ...
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: Any = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> ndarray: ...
def gaussian_filter1d(
    input: Any,
    sigma: Any,
    axis: Any = -1,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: Any = 4.0,
    *,
    radius: Any = None,
) -> ndarray: ...
def gaussian_gradient_magnitude(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> ndarray: ...
def gaussian_laplace(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> ndarray: ...
def generate_binary_structure(rank: Any, connectivity: Any) -> ndarray: ...
def generic_filter(
    input: Any,
    function: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    extra_arguments: Any = ...,
    extra_keywords: Any = None,
    *,
    axes: Any = None,
) -> ndarray: ...
def generic_filter1d(
    input: Any,
    function: Any,
    filter_size: Any,
    axis: Any = -1,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    extra_arguments: Any = ...,
    extra_keywords: Any = None,
) -> ndarray: ...
def generic_gradient_magnitude(
    input: Any,
    derivative: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    extra_arguments: Any = ...,
    extra_keywords: Any = None,
    *,
    axes: Any = None,
) -> ndarray: ...
def generic_laplace(
    input: Any,
    derivative2: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    extra_arguments: Any = ...,
    extra_keywords: Any = None,
    *,
    axes: Any = None,
) -> ndarray: ...
def geometric_transform(
    input: Any,
    mapping: Any,
    output_shape: Any = None,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
    extra_arguments: Any = ...,
    extra_keywords: Any = None,
) -> ndarray: ...
def grey_closing(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def grey_dilation(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def grey_erosion(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def grey_opening(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def histogram(input: Any, min: Any, max: Any, bins: Any, labels: Any = None, index: Any = None) -> ndarray: ...
def iterate_structure(structure: Any, iterations: Any, origin: Any = None) -> ndarray: ...
def label(input: Any, structure: Any = None, output: Any = None) -> Any: ...
def labeled_comprehension(
    input: Any, labels: Any, index: Any, func: Any, out_dtype: Any, default: Any, pass_positions: Any = False
) -> ndarray: ...
def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> ndarray: ...
def map_coordinates(
    input: Any,
    coordinates: Any,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> ndarray: ...
def maximum(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def maximum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def maximum_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> ndarray: ...
def maximum_position(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def mean(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def median(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def median_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def minimum(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def minimum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def minimum_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> ndarray: ...
def minimum_position(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def morphological_gradient(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def morphological_laplace(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def percentile_filter(
    input: Any,
    percentile: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def prewitt(input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> ndarray: ...
def rank_filter(
    input: Any,
    rank: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def rotate(
    input: Any,
    angle: Any,
    axes: Any = ...,
    reshape: Any = True,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> ndarray: ...
def shift(
    input: Any,
    shift: Any,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> ndarray: ...
def sobel(input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> ndarray: ...
def spline_filter(input: Any, order: Any = 3, output: Any = ..., mode: Any = "mirror") -> ndarray: ...
def spline_filter1d(input: Any, order: Any = 3, axis: Any = -1, output: Any = ..., mode: Any = "mirror") -> ndarray: ...
def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def sum(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def uniform_filter(
    input: Any,
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def uniform_filter1d(
    input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> ndarray: ...
def value_indices(arr: Any, *, ignore_value: Any = None) -> Any: ...
def variance(input: Any, labels: Any = None, index: Any = None) -> Any: ...
def vectorized_filter(
    input: Any,
    function: Any,
    *,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = None,
    origin: Any = None,
    axes: Any = None,
    batch_memory: Any = 1073741824,
) -> ndarray: ...
def watershed_ift(input: Any, markers: Any, structure: Any = None, output: Any = None) -> ndarray: ...
def white_tophat(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> ndarray: ...
def zoom(
    input: Any,
    zoom: Any,
    output: Any = None,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
    *,
    grid_mode: Any = False,
) -> ndarray: ...

__all__ = [
    "affine_transform",
    "binary_closing",
    "binary_dilation",
    "binary_erosion",
    "binary_fill_holes",
    "binary_hit_or_miss",
    "binary_opening",
    "binary_propagation",
    "black_tophat",
    "center_of_mass",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "distance_transform_bf",
    "distance_transform_cdt",
    "distance_transform_edt",
    "extrema",
    "find_objects",
    "fourier_ellipsoid",
    "fourier_gaussian",
    "fourier_shift",
    "fourier_uniform",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "generate_binary_structure",
    "generic_filter",
    "generic_filter1d",
    "generic_gradient_magnitude",
    "generic_laplace",
    "geometric_transform",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "histogram",
    "iterate_structure",
    "label",
    "labeled_comprehension",
    "laplace",
    "map_coordinates",
    "maximum",
    "maximum_filter",
    "maximum_filter1d",
    "maximum_position",
    "mean",
    "median",
    "median_filter",
    "minimum",
    "minimum_filter",
    "minimum_filter1d",
    "minimum_position",
    "morphological_gradient",
    "morphological_laplace",
    "percentile_filter",
    "prewitt",
    "rank_filter",
    "rotate",
    "shift",
    "sobel",
    "spline_filter",
    "spline_filter1d",
    "standard_deviation",
    "sum",
    "sum_labels",
    "uniform_filter",
    "uniform_filter1d",
    "value_indices",
    "variance",
    "vectorized_filter",
    "watershed_ift",
    "white_tophat",
    "zoom",
]
