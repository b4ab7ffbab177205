# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from . import csgraph as csgraph
from . import linalg as linalg

class SparseEfficiencyWarning(Warning): ...
class SparseWarning(Warning): ...

def block_array(blocks: Any, *, format: Any = None, dtype: Any = None) -> Any: ...
def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> Any: ...
def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> Any: ...

class bsr_array(Any):
    def __init__(
        self,
        arg1: Any,
        shape: Any = None,
        dtype: Any = None,
        copy: Any = False,
        blocksize: Any = None,
        *,
        maxprint: Any = None,
    ) -> None: ...

class bsr_matrix(Any):
    def __init__(
        self,
        arg1: Any,
        shape: Any = None,
        dtype: Any = None,
        copy: Any = False,
        blocksize: Any = None,
        *,
        maxprint: Any = None,
    ) -> None: ...

class coo_array(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

class coo_matrix(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

class csc_array(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

class csc_matrix(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

class csr_array(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

class csr_matrix(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

class dia_array(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

class dia_matrix(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = ...) -> Any: ...
def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = ...
) -> Any: ...

class dok_array(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

class dok_matrix(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

def expand_dims(A: Any, /, *, axis: Any = 0) -> Any: ...
def eye(m: Any, n: Any = None, k: Any = 0, dtype: Any = ..., format: Any = None) -> Any: ...
def eye_array(m: Any, n: Any = None, *, k: Any = 0, dtype: Any = ..., format: Any = None) -> Any: ...
def find(A: Any) -> Any: ...
def get_index_dtype(arrays: Any = ..., maxval: Any = None, check_contents: Any = False) -> Any: ...
def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any: ...
def identity(n: Any, dtype: Any = "d", format: Any = None) -> Any: ...
def issparse(x: Any) -> Any: ...
def isspmatrix(x: Any) -> Any: ...
def isspmatrix_bsr(x: Any) -> Any: ...
def isspmatrix_coo(x: Any) -> Any: ...
def isspmatrix_csc(x: Any) -> Any: ...
def isspmatrix_csr(x: Any) -> Any: ...
def isspmatrix_dia(x: Any) -> Any: ...
def isspmatrix_dok(x: Any) -> Any: ...
def isspmatrix_lil(x: Any) -> Any: ...
def kron(A: Any, B: Any, format: Any = None) -> Any: ...
def kronsum(A: Any, B: Any, format: Any = None) -> Any: ...

class lil_array(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

class lil_matrix(Any):
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, *, maxprint: Any = None
    ) -> None: ...

def load_npz(file: Any) -> Any: ...
def matrix_transpose(A: Any) -> Any: ...
def permute_dims(A: Any, axes: Any = None, copy: Any = False) -> Any: ...
def rand(
    m: Any,
    n: Any,
    density: Any = 0.01,
    format: Any = "coo",
    dtype: Any = None,
    rng: Any = None,
    *,
    random_state: Any = None,
) -> Any: ...
def random(
    m: Any,
    n: Any,
    density: Any = 0.01,
    format: Any = "coo",
    dtype: Any = None,
    rng: Any = None,
    data_rvs: Any = None,
    *,
    random_state: Any = None,
) -> Any: ...
def random_array(
    shape: Any,
    *,
    density: Any = 0.01,
    format: Any = "coo",
    dtype: Any = None,
    rng: Any = None,
    data_sampler: Any = None,
    random_state: Any = None,
) -> Any: ...
def safely_cast_index_arrays(A: Any, idx_dtype: Any = ..., msg: Any = "") -> Any: ...
def save_npz(file: Any, matrix: Any, compressed: Any = True) -> Any: ...

class sparray(Any):
    def __init__(self) -> None: ...

def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> Any: ...

class spmatrix(Any):
    def __init__(self) -> None: ...

def swapaxes(A: Any, axis1: Any, axis2: Any) -> Any: ...
def tril(A: Any, k: Any = 0, format: Any = None) -> Any: ...
def triu(A: Any, k: Any = 0, format: Any = None) -> Any: ...
def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any: ...

__all__ = [
    "SparseEfficiencyWarning",
    "SparseWarning",
    "block_array",
    "block_diag",
    "bmat",
    "bsr_array",
    "bsr_matrix",
    "coo_array",
    "coo_matrix",
    "csc_array",
    "csc_matrix",
    "csgraph",
    "csr_array",
    "csr_matrix",
    "dia_array",
    "dia_matrix",
    "diags",
    "diags_array",
    "dok_array",
    "dok_matrix",
    "expand_dims",
    "eye",
    "eye_array",
    "find",
    "get_index_dtype",
    "hstack",
    "identity",
    "issparse",
    "isspmatrix",
    "isspmatrix_bsr",
    "isspmatrix_coo",
    "isspmatrix_csc",
    "isspmatrix_csr",
    "isspmatrix_dia",
    "isspmatrix_dok",
    "isspmatrix_lil",
    "kron",
    "kronsum",
    "lil_array",
    "lil_matrix",
    "linalg",
    "load_npz",
    "matrix_transpose",
    "permute_dims",
    "rand",
    "random",
    "random_array",
    "safely_cast_index_arrays",
    "save_npz",
    "sparray",
    "spdiags",
    "spmatrix",
    "swapaxes",
    "tril",
    "triu",
    "vstack",
]
