# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from ... import ndarray

class ClusterNode(Any):
    def __init__(self, id: Any, left: Any = None, right: Any = None, dist: Any = 0.0, count: Any = 1) -> None: ...

class ClusterWarning(Warning): ...

class DisjointSet(Any):
    def __init__(self, elements: Any = None) -> None: ...

def average(y: Any) -> ndarray: ...
def centroid(y: Any) -> ndarray: ...
def complete(y: Any) -> ndarray: ...
def cophenet(Z: Any, Y: Any = None) -> Any: ...
def correspond(Z: Any, Y: Any) -> Any: ...
def cut_tree(Z: Any, n_clusters: Any = None, height: Any = None) -> ndarray: ...
def dendrogram(
    Z: Any,
    p: Any = 30,
    truncate_mode: Any = None,
    color_threshold: Any = None,
    get_leaves: Any = True,
    orientation: Any = "top",
    labels: Any = None,
    count_sort: Any = False,
    distance_sort: Any = False,
    show_leaf_counts: Any = True,
    no_plot: Any = False,
    no_labels: Any = False,
    leaf_font_size: Any = None,
    leaf_rotation: Any = None,
    leaf_label_func: Any = None,
    show_contracted: Any = False,
    link_color_func: Any = None,
    ax: Any = None,
    above_threshold_color: Any = "C0",
) -> Any: ...
def fcluster(
    Z: Any, t: Any, criterion: Any = "inconsistent", depth: Any = 2, R: Any = None, monocrit: Any = None
) -> ndarray: ...
def fclusterdata(
    X: Any,
    t: Any,
    criterion: Any = "inconsistent",
    metric: Any = "euclidean",
    depth: Any = 2,
    method: Any = "single",
    R: Any = None,
) -> ndarray: ...
def from_mlab_linkage(Z: Any) -> ndarray: ...
def inconsistent(Z: Any, d: Any = 2) -> ndarray: ...
def is_isomorphic(T1: Any, T2: Any) -> Any: ...
def is_monotonic(Z: Any) -> Any: ...
def is_valid_im(R: Any, warning: Any = False, throw: Any = False, name: Any = None) -> Any: ...
def is_valid_linkage(Z: Any, warning: Any = False, throw: Any = False, name: Any = None) -> Any: ...
def leaders(Z: Any, T: Any) -> Any: ...
def leaves_list(Z: Any) -> ndarray: ...
def linkage(y: Any, method: Any = "single", metric: Any = "euclidean", optimal_ordering: Any = False) -> ndarray: ...
def maxRstat(Z: Any, R: Any, i: Any) -> ndarray: ...
def maxdists(Z: Any) -> ndarray: ...
def maxinconsts(Z: Any, R: Any) -> ndarray: ...
def median(y: Any) -> ndarray: ...
def num_obs_linkage(Z: Any) -> Any: ...
def optimal_leaf_ordering(Z: Any, y: Any, metric: Any = "euclidean") -> ndarray: ...
def set_link_color_palette(palette: Any) -> Any: ...
def single(y: Any) -> ndarray: ...
def to_mlab_linkage(Z: Any) -> ndarray: ...
def to_tree(Z: Any, rd: Any = False) -> Any: ...
def ward(y: Any) -> ndarray: ...
def weighted(y: Any) -> ndarray: ...

__all__ = [
    "ClusterNode",
    "ClusterWarning",
    "DisjointSet",
    "average",
    "centroid",
    "complete",
    "cophenet",
    "correspond",
    "cut_tree",
    "dendrogram",
    "fcluster",
    "fclusterdata",
    "from_mlab_linkage",
    "inconsistent",
    "is_isomorphic",
    "is_monotonic",
    "is_valid_im",
    "is_valid_linkage",
    "leaders",
    "leaves_list",
    "linkage",
    "maxRstat",
    "maxdists",
    "maxinconsts",
    "median",
    "num_obs_linkage",
    "optimal_leaf_ordering",
    "set_link_color_palette",
    "single",
    "to_mlab_linkage",
    "to_tree",
    "ward",
    "weighted",
]
