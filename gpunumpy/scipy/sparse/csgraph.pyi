# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from ... import ndarray

class NegativeCycleError(Exception):
    def __init__(self, message: Any = "") -> None: ...

def bellman_ford(
    csgraph: Any, directed: Any = True, indices: Any = None, return_predecessors: Any = False, unweighted: Any = False
) -> Any: ...
def breadth_first_order(csgraph: Any, i_start: Any, directed: Any = True, return_predecessors: Any = True) -> Any: ...
def breadth_first_tree(csgraph: Any, i_start: Any, directed: Any = True) -> Any: ...
def connected_components(
    csgraph: Any, directed: Any = True, connection: Any = "weak", return_labels: Any = True
) -> Any: ...
def construct_dist_matrix(graph: Any, predecessors: Any, directed: Any = True, null_value: Any = ...) -> ndarray: ...
def csgraph_from_dense(graph: Any, null_value: Any = 0, nan_null: Any = True, infinity_null: Any = True) -> Any: ...
def csgraph_from_masked(graph: Any) -> Any: ...
def csgraph_masked_from_dense(
    graph: Any, null_value: Any = 0, nan_null: Any = True, infinity_null: Any = True, copy: Any = True
) -> Any: ...
def csgraph_to_dense(csgraph: Any, null_value: Any = 0) -> ndarray: ...
def csgraph_to_masked(csgraph: Any) -> Any: ...
def depth_first_order(csgraph: Any, i_start: Any, directed: Any = True, return_predecessors: Any = True) -> Any: ...
def depth_first_tree(csgraph: Any, i_start: Any, directed: Any = True) -> Any: ...
def dijkstra(
    csgraph: Any,
    directed: Any = True,
    indices: Any = None,
    return_predecessors: Any = False,
    unweighted: Any = False,
    limit: Any = ...,
    min_only: Any = False,
) -> Any: ...
def floyd_warshall(
    csgraph: Any,
    directed: Any = True,
    return_predecessors: Any = False,
    unweighted: Any = False,
    overwrite: Any = False,
) -> Any: ...
def johnson(
    csgraph: Any, directed: Any = True, indices: Any = None, return_predecessors: Any = False, unweighted: Any = False
) -> Any: ...
def laplacian(
    csgraph: Any,
    normed: Any = False,
    return_diag: Any = False,
    use_out_degree: Any = False,
    *,
    copy: Any = True,
    form: Any = "array",
    dtype: Any = None,
    symmetrized: Any = False,
) -> Any: ...
def maximum_bipartite_matching(graph: Any, perm_type: Any = "row") -> ndarray: ...
def maximum_flow(csgraph: Any, source: Any, sink: Any, *, method: Any = "dinic") -> Any: ...
def min_weight_full_bipartite_matching(biadjacency: Any, maximize: Any = False) -> Any: ...
def minimum_spanning_tree(csgraph: Any, overwrite: Any = False) -> Any: ...
def reconstruct_path(csgraph: Any, predecessors: Any, directed: Any = True) -> Any: ...
def reverse_cuthill_mckee(graph: Any, symmetric_mode: Any = False) -> ndarray: ...
def shortest_path(
    csgraph: Any,
    method: Any = "auto",
    directed: Any = True,
    return_predecessors: Any = False,
    unweighted: Any = False,
    overwrite: Any = False,
    indices: Any = None,
) -> Any: ...
def structural_rank(graph: Any) -> Any: ...
def yen(
    csgraph: Any,
    source: Any,
    sink: Any,
    K: Any,
    *,
    directed: Any = True,
    return_predecessors: Any = False,
    unweighted: Any = False,
) -> Any: ...

__all__ = [
    "NegativeCycleError",
    "bellman_ford",
    "breadth_first_order",
    "breadth_first_tree",
    "connected_components",
    "construct_dist_matrix",
    "csgraph_from_dense",
    "csgraph_from_masked",
    "csgraph_masked_from_dense",
    "csgraph_to_dense",
    "csgraph_to_masked",
    "depth_first_order",
    "depth_first_tree",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "laplacian",
    "maximum_bipartite_matching",
    "maximum_flow",
    "min_weight_full_bipartite_matching",
    "minimum_spanning_tree",
    "reconstruct_path",
    "reverse_cuthill_mckee",
    "shortest_path",
    "structural_rank",
    "yen",
]
