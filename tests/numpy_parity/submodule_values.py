"""Values of the parameters of functions in NumPy's submodules, as texts: the first is that of a call without others.

The names in the values are those of `keywords`, and: the texts `s` and `u` (six each), the masked arrays `M` (shape
(3, 4)), `X` and `Y` (six elements), `Q` (shape (3, 3)), the records `R` with fields `a` and `b`, the generator `g`,
the legacy generator `rs`, `numpy` and `io`. `new(dtype)` is an output of the result's shape, `masked_new(dtype)` a
masked one.
"""

from __future__ import annotations

# By parameter: `scope parameter: values`, where the scope is a pattern of what precedes, or is, the function's name.
# The first pattern that matches decides; after these come the values of `keywords.VALUES_TEXT`.
VALUES_TEXT = """
(char|strings).* out: None | new(rt) | new('U9') | new('i1') | 'x' | numpy.zeros(2) | (new(rt),) | fixed(rt)
(char|strings).* where: True, out=new(rt) | b, out=new(rt) | [True, False], out=new(rt) | 'x', out=new(rt) | \
 None, out=new(rt)
(char|strings).* dtype: None | 'i8' | 'U9' | 'x' | bool | object
(char|strings).* x2: u | 'b' | s.reshape(6, 1) | s[:2] | x | 1 | None
(char|strings).mod a: np.array(['%s', '%s-', 'a%s', '%s', '%s', '%s']) | '%s' | s | None
(char|strings).mod values: x | i | ('a',) | 'a' | 1
(char|strings).translate a: s | 'ab' | x
(char|strings).decode a: s.astype('S') | b'ab' | s | None
char.array|char.asarray obj: s | 'ab' | ['a', 'bc'] | s.astype('S') | b'ab' | x | None | m
(char|strings).(multiply) i: 2 | i | -1 | 'x' | 1.5 | None | i[:2]
(char|strings).slice start: 1 | i | None | -1 | 'x' | 1.5
(char|strings).slice stop: 1 | i | None | -1 | 'x' | 1.5
(char|strings).slice step: 1 | 2 | None | -1 | 'x' | 0
(char|strings).*join sep: '-' | u | ['-', '+'] | None | 1
(char|strings).*join seq: s | ['ab', 'c'] | 'abc' | x | None
(char|strings).r?partition sep: 'b' | u | '' | None | 1
(char|strings).r?split sep: None | 'b' | u | '' | 1
(char|strings).splitlines keepends: None | True | False | b
(char|strings).* (a|a1): s | s.reshape(2, 3) | 'abc' | ['ab', 'c '] | s.astype('S') | x | None | s[:0]
(char|strings).* (x|x1): s | s.reshape(2, 3) | 'abc' | ['ab', 'c '] | s.astype('S') | x | None | s[:0]
(char|strings).* (a2): u | 'b' | s[:2] | 1
(char|strings).* cmp: '==' | '<' | '>=' | '!=' | 'x' | None | 1
(char|strings).* rstrip: True | False | None
(char|strings).* (sub|prefix|suffix): 'b' | u | '' | 'zz' | b'b' | 1 | None | s[:2]
(char|strings).* start: 0 | 1 | -1 | i | 'x' | 9 | 1.5 | None
(char|strings).* end: None | 1 | -1 | i | 'x' | 9 | 1.5
(char|strings).* chars: None | 'b' | u | '' | b'b' | 1
(char|strings).* width: 5 | i | 0 | -1 | 'x' | 2.5 | None | i[:2]
(char|strings).* fillchar: '*' | ['*', '+', '-', '.', ',', '_'] | 'ab' | '' | 1 | None
(char|strings).* (old|new): 'b' | u | '' | 'zz' | 1 | None | s[:2]
(char|strings).* count: -1 | 1 | 0 | i | 'x' | None | 1.5
(char|strings).* tabsize: 8 | 1 | 0 | i | 'x' | None
(char|strings).* encoding: None | 'utf-8' | 'ascii' | 'x' | 1
(char|strings).* errors: None | 'strict' | 'ignore' | 'x' | 1
(char|strings).* maxsplit: None | 1 | 0 | -1 | 'x' | i
(char|strings).* table: 'x' * 256 | 'x' | None | {97: 'b'}
(char|strings).* deletechars: None | 'b' | 'ab' | 1
(char|strings).* itemsize: None | 1 | 5 | 'x'
(char|strings).* unicode: None | True | False
emath.* x: x + 5 | m + 5 | -x - 8 | zero + 5 | none | [1, -2] | 'x' | None | -4 | 4
emath.* n: 2 | y + 6 | 10 | [2, 3] | 'x' | None
emath.* p: 2 | y / 4 | -1 | 0.5 | [2, 3] | 'x' | None
lib.stride_tricks.as_strided x: m | x | [1, 2, 3] | zero | 3 | None
lib.stride_tricks.as_strided shape: None | (2, 2) | 2 | (1,) | 'x' | [1, 2] | (-1,) | ()
lib.stride_tricks.as_strided strides: None | 'x' | [0] | (0, 0) | (8,) | (1.5, 2)
lib.stride_tricks.* check_bounds: True | False | None
lib.stride_tricks.* writeable: True | False | None | 1
lib.stride_tricks.* x: m | x | [1, 2, 3] | c | None | zero
lib.stride_tricks.* window_shape: (2, 2) | 2 | (2,) | (9, 1) | 'x' | -1 | None | 1.5 | (0, 1) | [1, 2]
lib.stride_tricks.* axis: None | 0 | (0, 1) | (1, 0) | (0, 0) | 5 | 'x' | -1
lib.array_utils.* a: m | x | f | 1 | None
lib.array_utils.* axis: 0 | 1 | -1 | 5 | 'x' | None | (0, 1) | (0, 0) | 1.5
lib.array_utils.* ndim: 2 | 0 | -1 | 'x' | None
lib.array_utils.* (argname|msg_prefix): None | 'abc' | 1
lib.array_utils.* allow_duplicate: False | True
lib.format.* descr: '<f8' | [('a', '<f8')] | 'x' | None | ('<f8', (2,))
lib.format.* dtype: numpy.dtype('f8') | numpy.dtype('f8,i4') | 'f8' | None | x.dtype | 'x'
lib.format.* array: m | f | x | s | zero | None | [1, 2] | R
lib.format.* f: io.BytesIO() | None | 'x'
lib.format.* (major|minor): 1 | 0 | 2 | 300 | -1 | 'x' | None
lib.format.write.* fp: buffer | None | 'x'
lib.format.* fp: saved(m) | saved(f) | saved(s) | saved(zero) | io.BytesIO(b'x') | None | 'x'
lib.format.* max_header_size: 10000 | 1 | 0 | None | 'x'
lib.format.* allow_pickle: False | True | None
lib.format.* pickle_kwargs: None | {} | {'encoding': 'latin1'} | 'x'
lib.format.*open_memmap filename: 'x/y' | None
lib.format.*open_memmap mode: 'r+' | 'x' | None
lib.format.* fortran_order: False | True
lib.format.* version: None | (1, 0) | (2, 0) | (3, 0) | (9, 9) | 'x' | 1
lib.format.* d: {'descr': '<f8', 'fortran_order': False, 'shape': (3,)} | {} | None
lib.introspect.* func_name: None | 'add' | '^(' | 1
lib.introspect.* signature: None | 'float64' | '(' | 1
(rec.fromarrays) arrayList: [x, y] | (x, i) | [m, w] | [x, x[:2]] | [] | x | 'x' | None | [[1, 2], ['a', 'b']]
(rec.fromrecords) recList: [(1, 2.0), (3, 4.0)] | [(1, 'a'), (2, 'b')] | R | x | [] | None | 'x' | [(1, 2), (3,)]
(rec.fromstring) datastring: bytes(range(48)) | bytearray(48) | x | b'' | 'x' | None
(rec.fromfile) fd: io.BytesIO(bytes(range(48))) | None | 'x'
rec.array obj: R | x | bytes(range(48)) | [x, y] | [(1, 2.0), (3, 4.0)] | None | 'x' | 3 | [] | numpy.arange(3)
rec.find_duplicate list: ['a', 'b', 'a'] | 'aab' | [1, 1] | None | 1
rec.* dtype: [('a', 'f8'), ('b', 'f4')] | None | 'f8' | 'f8,i4' | 'x' | 3
rec.* shape: None | 2 | (2,) | (1, 2) | -1 | 'x' | 99 | 1.5 | 0
rec.* offset: 0 | 8 | 1 | -1 | 'x' | None | 99
rec.* strides: None | (16,) | 'x'
rec.* formats: None | 'f8,i4' | ['f8', 'f8'] | 'f8' | 'x' | 3
rec.* names: None | 'a,b' | ['a', 'b'] | 'a' | ['a', 'a'] | 1 | 'a,b,c'
rec.* titles: None | ['A', 'B'] | 'x' | 1
rec.* aligned: False | True | None
rec.* byteorder: None | '<' | '>' | 'x' | 'b' | 1
random.* size: None | 3 | (2, 3) | 0 | () | -1 | 'x' | 1.5 | [2, 2] | numpy.int8(2) | True | (2, -1)
random.*(exponential|gamma|rayleigh) scale: 2.0 | [1, 2, 0.5] | 0 | -1 | 'x' | None | np.array([1.5, 2]) | 1j
random.* (loc|low|mean|mu): 0.5 | [0, 1, 2] | 'x' | None | np.array([1.5, 2]) | 1j
random.*(poisson) lam: 2.0 | [1, 2, 30] | 0 | -1 | 'x' | None | np.array([1.5, 2]) | 1e30
random.*(randint|integers|random_integers) low: 3 | 1 | [1, 2, 3] | 0 | -2 | 2.5 | 'x' | None | np.array([1, 2])
random.*(randint|integers|random_integers) high: None | 9 | 2 | [5, 6, 7] | 10.5 | 'x' | np.array([5, 6]) | 2**63
random.*(randint|integers) dtype: int | 'u1' | bool | 'i4' | 'f8' | None | 'x' | np.uint64 | numpy.int16 | '>i4'
random.* dtype: 'f8' | 'f4' | np.float32 | int | None | 'x' | 'c16' | '>f8'
random.* out: None | np.zeros(3) | np.zeros(3, 'f4') | np.zeros((2, 3)) | np.zeros(3, int) | 'x' | \
 numpy.zeros(3) | np.zeros((3, 2)).T
random.*permuted out: None | np.zeros((3, 4)) | np.zeros((3, 4), 'f4') | np.zeros(2) | 'x'
random.* endpoint: False | True | None | 1
random.*multivariate_normal mean: [0, 1] | np.array([1.5, 2]) | 0 | [0, 1, 2] | 'x' | None | [[0, 1]]
random.*multivariate_normal cov: [[2, 0.5], [0.5, 1]] | np.eye(2) | np.eye(3) | 1 | 'x' | None
random.*multivariate_normal check_valid: 'warn' | 'raise' | 'ignore' | 'x' | None
random.*multivariate_normal tol: 1e-8 | 1 | 'x' | None
random.*multivariate_normal method: 'svd' | 'cholesky' | 'eigh' | 'x' | None
random.*multivariate_hypergeometric method: 'marginals' | 'count' | 'x' | None
random.*multivariate_hypergeometric nsample: 3 | 0 | 9 | 99 | -1 | 'x' | None | 1.5
random.*multivariate_hypergeometric colors: [4, 5, 3] | np.array([3, 2]) | [] | [-1, 2] | 'x' | None | [1.5, 2]
random.*standard_exponential method: 'zig' | 'inv' | 'x' | None
random.*choice a: 5 | x | [1, 2, 3] | m | 0 | -1 | 'x' | None | 2.5 | [] | s
random.*choice p: None | [0.1, 0.2, 0.3, 0.2, 0.2] | [0.5, 0.5] | [1, 1, 1, 1, 1] | np.ones(5) / 5 | 'x' | 1 | \
 [-1, 0, 1, 1, 0]
random.*choice axis: 0 | 1 | -1 | 5 | None | 'x'
random.*choice size: None | 3 | (2, 2) | 0 | 9 | -1 | 'x' | 1.5
random.*permut.* axis: 0 | 1 | -1 | 5 | None | 'x' | 1.5
random.*(permuted|shuffle|permutation) x: m | x | 5 | [1, 2, 3, 4] | s | M | none | zero | None | 'x' | (1, 2) | 2.5
random.*shuffle axis: 0 | 1 | -1 | 5 | None | 'x'
random.* (replace|shuffle): True | False | None | 1
random.*multinomial pvals: [0.2, 0.3, 0.5] | np.array([0.5, 0.5]) | [0.9, 0.9] | [-1, 1] | 0.5 | 'x' | None | []
random.*(multinomial) n: 9 | [3, 4] | 0 | -1 | 'x' | None | 1.5 | np.array([3, 4])
random.*(negative_binomial) n: 9 | [3, 4] | 0 | -1 | 'x' | None | 1.5 | np.array([3, 4])
random.*binomial n: 9 | [3, 4] | 0 | -1 | 'x' | None | 1.5 | np.array([3, 4]) | 200
random.* p: 0.3 | [0.1, 0.5] | 0 | 1 | 1.5 | -1 | 'x' | None | np.array([0.2, 0.7])
random.*dirichlet alpha: [1, 2, 0.5] | np.array([1.5, 2]) | [0, 1] | [-1, 1] | [] | 1 | 'x' | None | [[1, 2]]
random.*zipf a: 2.5 | [2, 3.5] | 1 | 0.5 | 'x' | None | np.array([2.5, 3])
random.*bytes length: 5 | 0 | -1 | 'x' | None | 1.5
random.*spawn n_children: 2 | 0 | -1 | 'x' | None
random.*hypergeometric (ngood|nbad|nsample): 7 | [5, 6] | 0 | -1 | 'x' | None | 2.5 | 99 | np.array([5, 6])
random.*triangular left: 0 | [0, -1] | 9 | 'x' | None | np.array([0, 1])
random.*triangular mode: 1 | [1, 2] | 9 | 'x' | None | np.array([1, 2])
random.*triangular right: 3 | [3, 4] | -9 | 'x' | None | np.array([3, 4])
random.*uniform high: 2.0 | [3, 4, 5] | 'x' | None | numpy.inf | np.array([3, 4])
random.*(get_state) legacy: True | False | None
random.*seed seed: 5 | [1, 2] | 'x' | -1 | 2.5 | np.array([1, 2])
random.*set_state state: rs.get_state() | rs.get_state(legacy=False) | None | 'x' | ('MT19937',)
random.* (a|b|df|dfden|dfnum|nonc|kappa|scale|sigma|shape|lam): 2.5 | [1, 2, 3] | 0 | -1 | 'x' | None | \
 np.array([1.5, 2, 3]) | 1j
random.default_rng seed: 3 | [1, 2] | 'x' | -1 | 2.5 | np.array([1, 2])
polynomial.*(val2d|grid2d) c: m | c | [[1, 2], [3, 4]] | x | 1 | None | 'x' | none
polynomial.*(val3d|grid3d) c: c | c + 0 | x | 1 | None | 'x'
polynomial.*(val.d|grid.d) (x|y|z): x / 8 | y / 8 | 0.5 | [1, 2] | m / 8 | None | 'x' | none
polynomial.*valnd pts: [x[:3] / 8, y[:3] / 8] | [x / 8] | [] | 1 | None
polynomial.*(valnd|gridnd) c: m | c | x | 1 | None | 'x'
polynomial.*vander2d deg: [1, 2] | (2, 0) | [1] | 1 | None | 'x' | [-1, 2] | [1.5, 2]
polynomial.*vander3d deg: [1, 2, 1] | (2, 0, 0) | [1] | 1 | None | 'x'
polynomial.*gauss deg: 3 | 1 | 0 | -1 | 2.5 | 'x' | None
polynomial.*vander deg: 3 | 0 | -1 | 2.5 | 'x' | None
polynomial.*interpolate func: (lambda v: v ** 2) | 'x' | None
polynomial.*interpolate deg: 3 | 0 | -1 | 2.5 | 'x' | None
polynomial.*interpolate args: () | (1,) | 1 | None
polynomial.*pow pow: 2 | 0 | -1 | 2.5 | 'x' | None | 20 | numpy.int8(3)
polynomial.* maxpower: None | 1 | 4 | 'x'
polynomial.*fit x: numpy.arange(6.) / 5 | np.arange(6.) / 5 | x[:3] | m | 1 | 'x' | None
polynomial.*fit y: y | m.reshape(6, 2) | y[:3] | 1 | 'x' | None
polynomial.*fit deg: 2 | [0, 2] | 0 | -1 | [-1] | 2.5 | 'x' | None | numpy.int8(1) | np.array([0, 1])
polynomial.*fit rcond: None | 1e-6 | 'x'
polynomial.*fit w: None | [1, 2, 1, 2, 1, 3] | x[:3] | m | 'x' | numpy.ones(6)
polynomial.*fit full: False | True | None
polynomial.* tensor: True | False | None
polynomial.*fromroots (roots|r): [1, 2, 0.5] | x | 1 | [] | m | None | 'x'
polynomial.*valfromroots r: [1, 2, 0.5] | x | 1 | m | None | 'x'
polynomial.*companion c: [1, 2, 0.5] | [1, 2, 3, 4] | [1] | 1 | m | [] | 'x' | None
polynomial.*roots c: [1, -3, 0.5, 2] | [1, 2] | [1] | [] | m | 'x' | None
polynomial.* scl: 2 | 0 | 1.5 | 'x' | None | [1, 2] | -1
polynomial.* off: 1 | 0 | 1.5 | 'x' | None | x[0]
polynomial.*trim.* tol: 0 | 1.5 | -1 | 'x' | None | 100
polynomial.*(der|int|deriv|integ) m: 1 | 2 | 0 | -1 | 9 | 1.5 | 'x' | None | True
polynomial.*(int|integ) k: [] | 1 | [1] | [1, 2] | 'x' | None | [[1]] | x[0]
polynomial.*(int|integ) lbnd: 0 | 1.5 | None | 'x' | [1]
polynomial.*(der|int) axis: 0 | 1 | -1 | 5 | None | 'x' | 1.5
polynomial.*(der|int) c: m | x | [1, 2, 3] | 1 | [] | 'x' | None | c
polynomial.*(pts1|pts2) npts: 4 | 1 | 0 | -1 | 2.5 | 'x' | None | 2
polynomial.polyutils.*mapdomain x: x | [1, 2] | 1 | 'x' | None
polynomial.* (old|new): [-1, 2] | np.array([0, 4]) | [0, 0] | [1] | 1 | 'x' | None
polynomial.*as_series alist: [x, y] | [[1, 2, 0], [3]] | m | [] | 1 | 'x' | None | [[1], []]
polynomial.*trimseq seq: [1, 2, 0] | x | [0, 0] | [] | 1 | 'x' | None
polynomial.*getdomain x: x | [3, 1, 2] | [] | m | 1 | 'x' | None
polynomial.*format_float x: 1.5 | 1e20 | 2 | 'x' | None
polynomial.* parens: False | True
polynomial.* trim: True | False | None
polynomial.* coef: [1, 2, 3] | x | 1 | [] | m | 'x' | None | 'ab'
polynomial.* domain: None | [0, 2] | np.array([0, 2]) | [1] | 1 | 'x' | [] | [1, 1]
polynomial.* window: None | [0, 2] | np.array([0, 2]) | [1] | 1 | 'x'
polynomial.* symbol: 'x' | 't' | '' | '1' | None | 1
polynomial.* series: p | p.deriv() | 'x' | None | x
polynomial.* kind: None | np.polynomial.Chebyshev | np.polynomial.Polynomial | 'x' | 1
polynomial.* other: p | p.deriv() | np.polynomial.Chebyshev([1, 2, 3]) | [1, 2] | None | 1
polynomial.*linspace n: 3 | 1 | 0 | -1 | 2.5 | 'x' | None
polynomial.*truncate size: 2 | 1 | 0 | -1 | 2.5 | 'x' | None | 9
polynomial.*(cutdeg|basis) deg: 2 | 1 | 0 | -1 | 2.5 | 'x' | None | 9
polynomial.*set_default_printstyle style: 'unicode' | 'x' | None
polynomial.* (c|c1|pol): [1, 2, 3.5, -1] | x | 2 | [0, 0, 0] | [1, 0] | [] | m | 'x' | None | numpy.array([1j, 2])
polynomial.* c2: [2, 1] | y | 2 | [0, 1, 0] | [] | m | 'x' | None
polynomial.* (x|y|z): x / 8 | 0.5 | [1, 2] | m / 8 | None | 'x' | none | x[0]
ma.make_mask m: bm | [0, 1] | M | 1 | None | numpy.ma.nomask | 'x' | x
ma.make_mask dtype: bool | 'i4' | None | 'x' | [('a', bool)]
ma.make_mask_descr ndtype: 'f8' | numpy.dtype('f8,i4') | 'x' | None | x.dtype
ma.make_mask_none newshape: 3 | (2, 3) | -1 | 'x' | ()
ma.make_mask_none dtype: None | 'f8' | 'f8,i4' | 'x'
ma.mask_or (m1|m2): bm | [[1, 0, 0, 1]] * 3 | numpy.ma.nomask | None | 1 | b
ma.* copy: True | False | None
ma.* shrink: True | False | None
ma.* value: 2 | 1.5 | x[0] | 'x' | None | numpy.nan | m
ma.* (v1|v2): 2 | 0 | -1.5 | 'x' | None
ma.masked_where condition: bm | M > 1 | True | b | [True, False, True, False] | 'x' | None
ma.where condition: bm | M > 1 | True | b | 'x' | None
ma.where x: m | M | 1 | None
ma.where y: w | M | row | None
ma.(MaskedArray.)?compress condition: [True, False, True] | b | [1, 0] | bm | X > 1 | 'x' | None
ma.compress axis: None | 0 | 1 | 5 | 'x'
ma.*choose (indices): i % 2 | [0, 1, 1, 0, 1, 0] | np.ma.array([0, 1, 1, 0, 1, 0], mask=b) | 1 | i | 'x' | None
ma.*choose choices: [X, Y] | [x, y] | [1, 2] | [] | None | 'x'
ma.*choose mode: 'raise' | 'wrap' | 'clip' | 'x' | None
ma.*(take|put) mode: 'raise' | 'wrap' | 'clip' | 'x' | None
ma.*(take|put) indices: [0, 2] | [0, -1] | i % 3 | [[0, 1], [1, 2]] | [99] | 1 | 'x' | None | [1.5] | X
ma.*put values: [7, 8] | X | 5 | [] | 'x' | None | np.ma.masked
ma.putmask mask: bm | M > 1 | True | b | 'x'
ma.putmask values: 7 | M | w | 'x' | [1, 2]
ma.*searchsorted v: 2 | y | 'x' | None
ma.*fill value: 5 | 1.5 | 'x' | None | 1j
ma.(innerproduct|inner|outer|outerproduct) (a|b): M | m | X | 2 | None | 'x'
ma.MaskedArray.dot b: M.T | m.T | row | 2 | None | 'x'
ma.*dot (a|b): Q | q | Q[0] | 2 | M | None | 'x'
ma.*dot out: None | new(rt) | masked_new(rt) | new('i1') | masked_new(rt, 'F') | 'x'
ma.*dot strict: False | True | None
ma.(convolve|correlate) a: X | x | [1, 2, 3] | M | 1 | 'x' | None
ma.(convolve|correlate) v: Y[:3] | y | [1, 2] | M | 1 | 'x' | None
ma.(convolve|correlate) mode: 'full' | 'same' | 'valid' | 'x' | None
ma.* propagate_mask: True | False | None
ma.(left_shift|right_shift) n: 1 | i[:4] | X[:4] | -1 | 1.5 | 'x' | None
ma.(polyfit|vander) x: X | x | M | 'x' | None
ma.polyfit y: Y | y | M | X[:3] | None
ma.polyfit deg: 1 | 2 | 0 | -1 | 'x' | None
ma.vander n: None | 3 | 0 | -1 | 'x' | 1.5
ma.(cov|corrcoef) y: None | w | M | row | 'x' | x
ma.* allow_masked: True | False | None
ma.* rowvar: True | False | None
ma.* (ar1|ar2): X | y | [1, 2] | M | 1 | None | 'x'
ma.(isin|in1d) element: M | m | 1 | None
ma.(isin|in1d) test_elements: [1, 2] | X | 1 | None | 'x'
ma.(apply_along_axis) func1d: np.ma.sum | (lambda v: v[::-1]) | (lambda v: v.count()) | 'x' | None
ma.(apply_along_axis) axis: 1 | 0 | -1 | 5 | None | 'x'
ma.(apply_along_axis) arr: M | m | X | 1 | None
ma.(apply_over_axes) func: np.ma.sum | np.ma.max | 'x' | None
ma.(apply_over_axes) axes: [0] | (0, 1) | 1 | 5 | 'x' | None
ma.(fromfunction) function: (lambda j, k: j + k) | 'x' | None
ma.(fromfunction) shape: (2, 3) | 3 | 'x' | None
ma.frombuffer buffer: bytes(range(48)) | 'x' | None | bytearray(16)
ma.frombuffer dtype: 'f4' | 'u1' | None | 'x'
ma.frombuffer (count|offset): 0 | 2 | -1 | 99 | 'x'
ma.fromflex fxarray: M.toflex() | x | None
ma.flatten_structured_array a: R | x | None
ma.flatten_mask mask: bm | [1, 0] | 1 | None
ma.(is_mask) m: bm | [1, 0] | x | None
ma.(indices) dimensions: (2, 3) | [2] | 3 | 'x' | () | None
ma.arange start_or_stop: 5 | 1.5 | 0 | 'x' | None
ma.arange stop: None | 9 | 7.5 | 'x'
ma.(ones|zeros|empty|masked_all) shape: (2, 3) | 3 | () | -1 | 'x' | None
ma.identity n: 3 | 0 | -1 | 'x' | None
ma.hsplit indices_or_sections: 2 | [1, 3] | 3 | 'x' | None
ma.*(reshape) (new_shape|shape): (4, 3) | 12 | -1 | (5, 5) | 'x' | None
ma.*resize (new_?shape): (2, 6) | 12 | (4, 4) | -1 | 'x' | None
ma.MaskedArray.resize order: False | True | 'C'
ma.* (keep_mask|hard_mask|hardmask): True | False | None
ma.(array|masked_array|MaskedArray) mask: numpy.ma.nomask | bm | True | False | [1, 0] | None | 'x' | M
ma.(array|masked_array|MaskedArray) data: m | M | [[1, 2], [3, 4]] | 1 | None | 'x' | X
ma.fix_invalid mask: numpy.ma.nomask | bm | True | [1, 0] | 'x'
ma.(array|masked_array|MaskedArray) ndmin: 0 | 3 | 'x' | -1
ma.* fill_value: None | 5 | 1.5 | 'x' | [1, 2] | numpy.inf
ma.allequal fill_value: True | False | None
ma.allclose masked_equal: True | False | None
ma.(stack|concatenate) arrays: [M, M] | [M, m] | (m, w) | [M, X] | M | [] | None | 'x' | [np.ma.masked, 1]
ma.(vstack|hstack|dstack|column_stack|row_stack) tup: [M, M] | [M, m] | (m, w) | [M, X] | M | [] | None | 'x'
ma.stack axis: 0 | 1 | -1 | 5 | None | 'x' | 1.5
ma.concatenate axis: 0 | 1 | -1 | None | 5 | 'x' | 1.5
ma.(diag|diagflat) v: X | M | m | x | 1 | 'x' | None
ma.*repeat repeats: 2 | [1, 0, 2], axis=0 | 0 | -1 | 'x' | None | 1.5
ma.*sort axis: -1 | 0 | 1 | None | 5 | 'x' | 1.5
ma.*sort endwith: True | False | None
ma.*sort order: None | 'x'
ma.*sort fill_value: None | 5 | 1.5 | 'x'
ma.*sort stable: None | True | False
ma.*partition kth: 2 | [0, 2] | 9 | 'x' | None
ma.(max|min|amax|amin) initial: 1 | 2.5 | None | 'x' | -3
ma.*(max|min|ptp|argmax|argmin) fill_value: None | 5 | -9 | 'x'
ma.*average weights: None | w | M | row, axis=1 | [1, 2] | 'x' | numpy.ones((3, 4))
ma.power b: 2 | row | M | -1 | 0.5 | 'x' | None
ma.power third: None | 2
ma.(arctan2|hypot|f?mod|add|subtract|multiply|.*divide|remainder|.*equal|greater|less|.*imum|logical_.*|bitwise_.*) b: \
 M[::-1] | row | 2 | X | [1, 2] | None | 'x' | np.ma.masked
ma.(allclose|allequal|append|common_fill_value) b: M[::-1] | M | m | row | 2 | None | 'x' | X
ma.astype|ma.MaskedArray.astype dtype: 'f4' | 'c16' | int | bool | None | 'x' | t | 'U9' | object
ma.*view dtype: None | 'i1' | 'f4' | t | 'x' | 'f8'
ma.*view type: None | np.ndarray | numpy.ndarray | 'x' | np.ma.MaskedArray
ma.*tobytes order: 'C' | 'F' | 'x' | None
ma.*tofile fid: io.BytesIO()
ma.*setfield val: 1 | 'x' | None | x
ma.*tofile format: '%s' | 'x'
ma.*dump file: io.BytesIO() | None
ma.MaskedArray.* device: 'cpu' | 'x' | None
ma.(compress_nd|compress_rowcols|mask_rowcols) axis: None | 0 | 1 | -1 | 5 | 'x' | (0, 1)
ma.(compress_nd|compress_rowcols|compress_rows|compress_cols) (a|x): M | m | X | 1 | None
ma.(expand_dims) axis: 0 | 1 | (0, 1) | 9 | 'x' | None
ma.(swapaxes|MaskedArray.swapaxes) (axis1|axis2): 0 | 1 | -1 | 5 | 'x' | None
ma.(clip|MaskedArray.clip) (min|a_min): 1 | row | M | None | 'x'
ma.(clip|MaskedArray.clip) (max|a_max): 3 | row | M | None | 'x'
ma.trace|ma.MaskedArray.trace axis1: 0 | 1 | 5 | None
ma.* where: True | bm, out=masked_new(rt) | [True, False, True, False], out=masked_new(rt) | 'x', out=new(rt)
ma.* out: None | new(rt) | masked_new(rt) | masked_new('f8') | new('i1') | masked_new(rt, 'F') | 'x' | \
 new(rt, 'C', 1) | (masked_new(rt),) | numpy.zeros(3) | fixed(rt)
ma.(masked_.*|.*isnan) a: M | m | x | 1 | None | 'x' | [1, 2]
ma.* compressed: True | False
ma.(size|MaskedArray.count|count|.*) (obj|a|x|arr|ary|data|prototype|target): M | m | X | 1 | [1, 2] | None | 'x' | \
 np.ma.masked | X[:0] | M[1, 1]
"""
