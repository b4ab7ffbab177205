# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from ... import ndarray
from . import distance as distance
from . import transform as transform

class ConvexHull(Any):
    def __init__(self, points: Any, incremental: Any = False, qhull_options: Any = None) -> None: ...

class Delaunay(Any):
    def __init__(
        self, points: Any, furthest_site: Any = False, incremental: Any = False, qhull_options: Any = None
    ) -> None: ...

class HalfspaceIntersection(Any):
    def __init__(
        self, halfspaces: Any, interior_point: Any, incremental: Any = False, qhull_options: Any = None
    ) -> None: ...

class KDTree(Any):
    def __init__(
        self,
        data: Any,
        leafsize: Any = 10,
        compact_nodes: Any = True,
        copy_data: Any = False,
        balanced_tree: Any = True,
        boxsize: Any = None,
    ) -> None: ...

class QhullError(Exception): ...

class Rectangle(Any):
    def __init__(self, maxes: Any, mins: Any) -> None: ...

class SphericalVoronoi(Any):
    def __init__(self, points: Any, radius: Any = 1, center: Any = None, threshold: Any = 1e-06) -> None: ...

class Voronoi(Any):
    def __init__(
        self, points: Any, furthest_site: Any = False, incremental: Any = False, qhull_options: Any = None
    ) -> None: ...

class cKDTree(Any):
    def __init__(
        self,
        data: Any,
        leafsize: Any = 16,
        compact_nodes: Any = True,
        copy_data: Any = False,
        balanced_tree: Any = True,
        boxsize: Any = None,
    ) -> None: ...

def convex_hull_plot_2d(hull: Any, ax: Any = None) -> Any: ...
def delaunay_plot_2d(tri: Any, ax: Any = None) -> Any: ...
def distance_matrix(x: Any, y: Any, p: Any = 2.0, threshold: Any = 1000000) -> Any: ...
def geometric_slerp(start: Any, end: Any, t: Any, tol: Any = 1e-07) -> Any: ...
def minkowski_distance(x: Any, y: Any, p: Any = 2.0) -> ndarray: ...
def minkowski_distance_p(x: Any, y: Any, p: Any = 2.0) -> ndarray: ...
def procrustes(data1: Any, data2: Any) -> Any: ...
def tsearch(tri: Any, xi: Any) -> Any: ...
def voronoi_plot_2d(vor: Any, ax: Any = None, **kw: Any) -> Any: ...

__all__ = [
    "ConvexHull",
    "Delaunay",
    "HalfspaceIntersection",
    "KDTree",
    "QhullError",
    "Rectangle",
    "SphericalVoronoi",
    "Voronoi",
    "cKDTree",
    "convex_hull_plot_2d",
    "delaunay_plot_2d",
    "distance",
    "distance_matrix",
    "geometric_slerp",
    "minkowski_distance",
    "minkowski_distance_p",
    "procrustes",
    "transform",
    "tsearch",
    "voronoi_plot_2d",
]
