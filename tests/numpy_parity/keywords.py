"""A call of every public function of NumPy with every keyword, as texts: for a test that compares them over dtypes.

The names in a call are `np`, `numpy` and new arrays for each: `x`, `y` and `z` of six elements, `m` and `w` of shape
(3, 4), `f` of that shape in Fortran's order, `row` of four elements, `q` and `h` of shape (3, 3), where `h` is
Hermitian and positive, `c` of shape (2, 3, 4), `zero` of no dimension and `none` of no elements; masks `b` (six
elements) and `bm` (of the shape of `m`), and the indices `i` (six elements). `t` is the dtype. In the values of `out`,
`new(dtype)` makes an array of the result's shape, in what order and with what dimensions more its other arguments say;
`rt` is the dtype of the result.
"""

from __future__ import annotations

# A call of each function and method without keywords; `|` separates several.
CALLS_TEXT = """
all: np.all(m)
allclose: np.allclose(x, y)
amax: np.amax(m)
amin: np.amin(m)
angle: np.angle(m)
any: np.any(m)
append: np.append(m, w)
apply_along_axis: np.apply_along_axis(np.sum, 1, m)
apply_over_axes: np.apply_over_axes(np.sum, m, [0])
arange: np.arange(5) | np.arange(1, 7, 2)
argmax: np.argmax(m)
argmin: np.argmin(m)
argpartition: np.argpartition(m, 2)
argsort: np.argsort(m)
argwhere: np.argwhere(m)
around: np.around(m)
array: np.array(m) | np.array(f) | np.array([[1, 2], [3, 4]]) | np.array(3)
array2string: np.array2string(m)
array_equal: np.array_equal(x, y) | np.array_equal(x, x)
array_equiv: np.array_equiv(x, y)
array_repr: np.array_repr(m)
array_split: np.array_split(m, 2)
array_str: np.array_str(m)
asanyarray: np.asanyarray(m) | np.asanyarray([1, 2])
asarray: np.asarray(f) | np.asarray([[1, 2], [3, 4]])
asarray_chkfinite: np.asarray_chkfinite(m)
ascontiguousarray: np.ascontiguousarray(f) | np.ascontiguousarray(3)
asfortranarray: np.asfortranarray(m) | np.asfortranarray(3)
asmatrix: np.asmatrix([[1, 2], [3, 4]])
astype: np.astype(m, "f8") | np.astype(f, t)
atleast_1d: np.atleast_1d(zero)
atleast_2d: np.atleast_2d(x)
atleast_3d: np.atleast_3d(x, m)
average: np.average(m)
bartlett: np.bartlett(5)
base_repr: np.base_repr(5)
binary_repr: np.binary_repr(5)
bincount: np.bincount(i)
blackman: np.blackman(5)
block: np.block([[m], [m]])
bmat: np.bmat([[[1]], [[2]]])
broadcast_arrays: np.broadcast_arrays(m, row)
broadcast_shapes: np.broadcast_shapes((3, 1), (4,))
broadcast_to: np.broadcast_to(row, (3, 4))
can_cast: np.can_cast(t, "f4") | np.can_cast("i8", "i4")
choose: np.choose(i % 2, [x, y])
clip: np.clip(m, x[0], x[5]) | np.clip(m)
column_stack: np.column_stack([x, y])
common_type: np.common_type(x)
compress: np.compress([True, False, True], m)
concat: np.concat([m, f]) | np.concat([x, i])
concatenate: np.concatenate([f, f]) | np.concatenate([x, i])
convolve: np.convolve(x, y)
copy: np.copy(f)
copyto: np.copyto(m, w) | np.copyto(m, 1.5) | np.copyto(w, i[0])
corrcoef: np.corrcoef(m)
correlate: np.correlate(x, y[:3])
count_nonzero: np.count_nonzero(m)
cov: np.cov(m)
cross: np.cross(q, h)
cumprod: np.cumprod(m)
cumsum: np.cumsum(m)
cumulative_prod: np.cumulative_prod(x) | np.cumulative_prod(m)
cumulative_sum: np.cumulative_sum(x) | np.cumulative_sum(m)
delete: np.delete(m, 2)
diag: np.diag(x) | np.diag(m)
diag_indices: np.diag_indices(3)
diag_indices_from: np.diag_indices_from(q)
diagflat: np.diagflat(m)
diagonal: np.diagonal(m) | np.diagonal(c)
diff: np.diff(m)
digitize: np.digitize(x, np.arange(3)) | np.digitize(m, numpy.arange(3)[::-1])
dot: np.dot(m, f.T) | np.dot(x, y)
dsplit: np.dsplit(c, 2)
dstack: np.dstack([m, m])
ediff1d: np.ediff1d(x)
einsum: np.einsum("ij,j->i", m, row) | np.einsum("ij->ji", m)
einsum_path: np.einsum_path("ij,j->i", m, row)
empty: np.empty((3, 4))
empty_like: np.empty_like(f)
expand_dims: np.expand_dims(m, 1)
extract: np.extract(b, x)
eye: np.eye(3)
fill_diagonal: np.fill_diagonal(q, 5) | np.fill_diagonal(f.T, 5)
fix: np.fix(m)
flatnonzero: np.flatnonzero(m)
flip: np.flip(m)
fliplr: np.fliplr(m)
flipud: np.flipud(m)
format_float_positional: np.format_float_positional(1.5)
format_float_scientific: np.format_float_scientific(1.5)
from_dlpack: np.from_dlpack(numpy.arange(3.0))
frombuffer: np.frombuffer(bytes(range(24)))
fromfunction: np.fromfunction(lambda j, k: j + k, (2, 3))
fromiter: np.fromiter(range(5), t)
fromstring: np.fromstring("1 2 3", sep=" ")
full: np.full((2, 3), 5) | np.full((2, 3), x[0])
full_like: np.full_like(f, 2)
geomspace: np.geomspace(1, 16)
gradient: np.gradient(q) | np.gradient(x)
hamming: np.hamming(4)
hanning: np.hanning(4)
histogram: np.histogram(x)
histogram2d: np.histogram2d(x, y)
histogram_bin_edges: np.histogram_bin_edges(x)
histogramdd: np.histogramdd(m[:, :2])
hsplit: np.hsplit(m, 2)
hstack: np.hstack([x, i])
i0: np.i0(x)
identity: np.identity(2)
imag: np.imag(m)
indices: np.indices((2, 3))
inner: np.inner(m, row)
insert: np.insert(m, 1, 5) | np.insert(x, [1, 2], y[0])
interp: np.interp(x, np.arange(3), np.ones(3))
intersect1d: np.intersect1d(x, y)
isclose: np.isclose(m, w)
iscomplex: np.iscomplex(x)
iscomplexobj: np.iscomplexobj(x)
isdtype: np.isdtype(x.dtype, "numeric")
isfortran: np.isfortran(f)
isin: np.isin(m, y[:2])
isneginf: np.isneginf(m)
isposinf: np.isposinf(m)
isreal: np.isreal(m)
isrealobj: np.isrealobj(m)
isscalar: np.isscalar(x)
issubdtype: np.issubdtype(x.dtype, np.number)
iterable: np.iterable(x)
ix_: np.ix_(i, i)
kaiser: np.kaiser(4, 2.0)
kron: np.kron(m, x)
lexsort: np.lexsort((x, y)) | np.lexsort(m)
linspace: np.linspace(1, 5) | np.linspace(x[:2], y[:2])
logspace: np.logspace(0, 2)
mask_indices: np.mask_indices(3, np.triu)
matrix_transpose: np.matrix_transpose(m)
max: np.max(m)
may_share_memory: np.may_share_memory(x, x[1:])
mean: np.mean(m)
median: np.median(m)
meshgrid: np.meshgrid(x, row)
min: np.min(m)
min_scalar_type: np.min_scalar_type(x)
mintypecode: np.mintypecode("fd")
moveaxis: np.moveaxis(c, 0, 1)
nan_to_num: np.nan_to_num(x) | np.nan_to_num(x / 0)
nanargmax: np.nanargmax(m)
nanargmin: np.nanargmin(m)
nancumprod: np.nancumprod(m)
nancumsum: np.nancumsum(m)
nanmax: np.nanmax(m)
nanmean: np.nanmean(m)
nanmedian: np.nanmedian(m)
nanmin: np.nanmin(m)
nanpercentile: np.nanpercentile(m, 30)
nanprod: np.nanprod(m)
nanquantile: np.nanquantile(m, [0.25, 0.5])
nanstd: np.nanstd(m)
nansum: np.nansum(m)
nanvar: np.nanvar(m)
ndim: np.ndim(m)
nonzero: np.nonzero(m)
ones: np.ones((3, 4))
ones_like: np.ones_like(f)
outer: np.outer(x, y)
packbits: np.packbits(x)  | np.packbits(bm)
pad: np.pad(m, 1)
partition: np.partition(m, 2)
percentile: np.percentile(m, 30)
permute_dims: np.permute_dims(m)
piecewise: np.piecewise(x, [b], [1, 2])
place: np.place(x, b, [1, 2])
poly: np.poly(x)
polyadd: np.polyadd(x, y)
polyder: np.polyder(x)
polydiv: np.polydiv(x, y)
polyfit: np.polyfit(x, y, 1)
polyint: np.polyint(x)
polymul: np.polymul(x, y)
polysub: np.polysub(x, y)
polyval: np.polyval(x, y)
prod: np.prod(m)
promote_types: np.promote_types(t, "f4")
ptp: np.ptp(m)
put: np.put(x, [0, 2], [1, 2]) | np.put(x, [9], [1])
put_along_axis: np.put_along_axis(m, np.zeros((3, 1), int), 5, 1)
putmask: np.putmask(m, bm, w)
quantile: np.quantile(m, [0.25, 0.5])
ravel: np.ravel(f)
ravel_multi_index: np.ravel_multi_index(([1, 5], [2, 2]), (3, 3)) | np.ravel_multi_index(([1, 2], [2, 2]), (3, 3))
real: np.real(m)
real_if_close: np.real_if_close(x)
repeat: np.repeat(m, 2)
require: np.require(f)
reshape: np.reshape(f, (4, 3)) | np.reshape(m, 12)
resize: np.resize(m, (2, 5))
result_type: np.result_type(x, "f4")
roll: np.roll(m, 1)
rollaxis: np.rollaxis(c, 2)
roots: np.roots([1, 2, 1])
rot90: np.rot90(m)
round: np.round(m)
searchsorted: np.searchsorted(np.sort(x), y) | np.searchsorted(np.sort(x), y[0])
select: np.select([b], [x])
setdiff1d: np.setdiff1d(x, y)
setxor1d: np.setxor1d(x, y)
shape: np.shape(m)
shares_memory: np.shares_memory(x, x[1:])
sinc: np.sinc(m)
size: np.size(m)
sort: np.sort(m)
sort_complex: np.sort_complex(x)
split: np.split(m, 3)
squeeze: np.squeeze(c[:1, :, :1])
stack: np.stack([m, f]) | np.stack([x, i])
std: np.std(m)
sum: np.sum(m)
swapaxes: np.swapaxes(c, 0, 1)
take: np.take(m, [0, 2]) | np.take(m, [[1, 7]])
take_along_axis: np.take_along_axis(m, np.zeros((3, 1), int))
tensordot: np.tensordot(m, w)
tile: np.tile(m, (2, 1))
trace: np.trace(q) | np.trace(c)
transpose: np.transpose(m) | np.transpose(c)
trapezoid: np.trapezoid(m)
trapz: np.trapz(x)
tri: np.tri(3)
tril: np.tril(m)
tril_indices: np.tril_indices(3)
tril_indices_from: np.tril_indices_from(q)
trim_zeros: np.trim_zeros(x)
triu: np.triu(m)
triu_indices: np.triu_indices(3)
triu_indices_from: np.triu_indices_from(q)
typename: np.typename("d")
union1d: np.union1d(x, y)
unique: np.unique(x) | np.unique(m)
unique_all: np.unique_all(x)
unique_counts: np.unique_counts(x)
unique_inverse: np.unique_inverse(x)
unique_values: np.sort(np.unique_values(x))
unpackbits: np.unpackbits(x) | np.unpackbits(m.astype("u1"))
unravel_index: np.unravel_index([1, 5], (3, 3)) | np.unravel_index(30, (3, 3))
unstack: np.unstack(m)
unwrap: np.unwrap(m)
vander: np.vander(x)
var: np.var(m)
vdot: np.vdot(x, y)
vsplit: np.vsplit(m, 3)
in1d: np.in1d(x, i)
row_stack: np.row_stack([x, i])
vstack: np.vstack([x, i])
where: np.where(b, x, y) | np.where(b)
zeros: np.zeros((3, 4))
zeros_like: np.zeros_like(f)
linalg.cholesky: np.linalg.cholesky(h)
linalg.cond: np.linalg.cond(q)
linalg.cross: np.linalg.cross(q, h)
linalg.det: np.linalg.det(q)
linalg.diagonal: np.linalg.diagonal(c)
linalg.eig: np.linalg.eigvals(h)
linalg.eigh: np.linalg.eigh(h)[0]
linalg.eigvals: np.linalg.eigvals(h)
linalg.eigvalsh: np.linalg.eigvalsh(h)
linalg.inv: np.linalg.inv(q)
linalg.lstsq: np.linalg.lstsq(q, q[0])
linalg.matmul: np.linalg.matmul(q, h)
linalg.matrix_norm: np.linalg.matrix_norm(m)
linalg.matrix_power: np.linalg.matrix_power(q, 2)
linalg.matrix_rank: np.linalg.matrix_rank(q)
linalg.matrix_transpose: np.linalg.matrix_transpose(m)
linalg.multi_dot: np.linalg.multi_dot([q, h, q])
linalg.norm: np.linalg.norm(m) | np.linalg.norm(x)
linalg.outer: np.linalg.outer(x, y)
linalg.pinv: np.linalg.pinv(q)
linalg.qr: np.linalg.qr(h)
linalg.slogdet: np.linalg.slogdet(q)
linalg.solve: np.linalg.solve(q, q[0])
linalg.svd: np.linalg.svd(q)
linalg.svdvals: np.linalg.svdvals(q)
linalg.tensordot: np.linalg.tensordot(m, w)
linalg.tensorinv: np.linalg.tensorinv(q)
linalg.tensorsolve: np.linalg.tensorsolve(q, q[0])
linalg.trace: np.linalg.trace(c)
linalg.vecdot: np.linalg.vecdot(m, w)
linalg.vector_norm: np.linalg.vector_norm(m)
fft.fft: np.fft.fft(m)
fft.fft2: np.fft.fft2(m)
fft.fftfreq: np.fft.fftfreq(5)
fft.fftn: np.fft.fftn(m)
fft.fftshift: np.fft.fftshift(m)
fft.hfft: np.fft.hfft(m)
fft.ifft: np.fft.ifft(m)
fft.ifft2: np.fft.ifft2(m)
fft.ifftn: np.fft.ifftn(m)
fft.ifftshift: np.fft.ifftshift(m)
fft.ihfft: np.fft.ihfft(m)
fft.irfft: np.fft.irfft(m)
fft.irfft2: np.fft.irfft2(m)
fft.irfftn: np.fft.irfftn(m)
fft.rfft: np.fft.rfft(m)
fft.rfft2: np.fft.rfft2(m)
fft.rfftfreq: np.fft.rfftfreq(5)
fft.rfftn: np.fft.rfftn(m)
.all: m.all()
.any: m.any()
.argmax: m.argmax()
.argmin: m.argmin()
.argpartition: m.argpartition(2)
.argsort: m.argsort()
.astype: m.astype("f8") | f.astype(t) | m.astype("i4")
.byteswap: m.byteswap()
.choose: (i % 2).choose([x, y])
.clip: m.clip(x[0], x[5])
.compress: m.compress([True, False, True])
.conj: m.conj()
.conjugate: m.conjugate()
.copy: f.copy()
.cumprod: m.cumprod()
.cumsum: m.cumsum()
.diagonal: m.diagonal() | c.diagonal()
.dot: m.dot(f.T)
.dumps: type(m.dumps())
.fill: m.fill(5)
.flatten: f.flatten()
.getfield: m.getfield("i1")
.item: x[:1].item()
.max: m.max()
.mean: m.mean()
.min: m.min()
.nonzero: m.nonzero()
.partition: m.partition(2)
.prod: m.prod()
.put: x.put([0, 2], [1, 2]) | x.put([9], [1])
.ravel: f.ravel()
.repeat: m.repeat(2)
.reshape: f.reshape(4, 3) | m.reshape((2, 6))
.resize: x.copy().resize(2, 2) | x.resize((2, 2))
.round: m.round()
.searchsorted: np.sort(x).searchsorted(y)
.setfield: m.setfield(1, "i1")
.setflags: m.setflags()
.sort: m.sort()
.squeeze: c[:1, :, :1].squeeze()
.std: m.std()
.sum: m.sum()
.swapaxes: c.swapaxes(0, 1)
.take: m.take([0, 2])
.to_device: m.to_device("cpu")
.tobytes: f.tobytes()
.tolist: m.tolist()
.trace: q.trace()
.transpose: m.transpose()
.var: m.var()
.view: m.view()
"""

# Values of each keyword, wherever it is not in `OWN_VALUES_TEXT`.
VALUES_TEXT = """
N: 3 | 0 | None | -1 | 2.0
M: 2 | 0 | None | -1 | 2.0 | 'x'
UPLO: 'L' | 'U' | 'u' | 'x' | None | 1
a_max: 3 | None | row
a_min: 3 | None | row
align: True | None | False
append: 5 | m | m[:, :1] | None | row
assume_unique: True | False
atol: 1 | 0 | numpy.ones(6) | None | 'x' | -1
aweights: numpy.arange(4) | row | None | [1, 2] | -numpy.ones(4) | 2
axes: 0 | (1, 0) | (-1, 0) | (0, 0) | (0, 5) | 'x' | ([0], [0]) | None | 1 | [0]
axis: 0 | 1 | -1 | None | 2 | -3 | (0, 1) | (0, 0) | () | 'x' | 1.0 | True | numpy.int8(1) | [0]
axis1: 1 | 0 | -1 | 5 | None
axis2: 0 | 1 | -1 | 5 | None
axisa: 0 | -1 | 5 | None
axisb: 0 | -1 | 5 | None
axisc: 0 | -1 | 5 | None
base: 2 | 2.5 | 16 | [2, 3] | 'x' | 0
bias: True | False
bins: 3 | [0, 1, 2] | 'auto' | 'x' | 0 | None | 2.5 | np.arange(3) | [2, 1] | (2, 3)
bitorder: 'big' | 'little' | 'x' | None
casting: 'no' | 'equiv' | 'safe' | 'same_kind' | 'unsafe' | 'x' | None | 1
compute_uv: True | False
copy: True | False | None | 'x' | 2
correction: 0 | 1 | 2.5 | 100 | 'x' | None | -1
count: -1 | 2 | 0 | 99 | None | 'x' | 1.5
cov: True | 'unscaled' | False
d: 1.0 | 2 | 0.5 | 'x' | None | 0
ddof: 0 | 1 | 2.5 | 100 | 'x' | None | -1
decimals: 0 | 1 | -1 | 2.5 | None | 'x'
default: 0 | 5 | 1.5 | None | y | 'x'
deg: True | False | None
density: True | False | None
descending: True | False | None | 1
device: None | 'cpu' | 'x' | 3
dims: (3, 3) | (3, 4)
discont: None | 1 | 9 | 'x'
dtype: 'f4' | 'c16' | int | bool | None | 'i1' | 'x' | np.float64 | 'u8' | t
dx: 1.0 | 2 | 0.5 | None | 'x' | row[:3]
edge_order: 1 | 2 | 3 | 0 | None
edgeitems: 1 | 0 | None
einsum_call: False | True
endpoint: True | False | None
equal_nan: True | False | None
exp_digits: 1 | 4 | None
fill_value: 5 | 1.5 | None | 'x' | row
floatmode: 'fixed' | 'unique' | 'maxprec' | 'x' | None
formatter: {'float': lambda v: 'F'} | None | {'all': lambda v: 'A'}
fractional: True | False
full: True | False
full_matrices: True | False | None
fweights: [1, 2, 1, 3] | None | [1.5, 1, 1, 1] | [1, 2] | [-1, 1, 1, 1]
gdict: None | {'a': 1}
hermitian: True | False
include_initial: True | False | None
increasing: True | False
indexing: 'xy' | 'ij' | 'x' | None
initial: 1 | 2.5 | None | 'x' | -3 | 1j | [1, 2] | True
inplace: True | False
invert: True | False
k: 0 | 1 | -1 | 9 | -9 | 1.5 | 'x' | None
keepdims: True | False | 1 | None | 'x' | 0
kind: 'quicksort' | 'stable' | 'mergesort' | 'heapsort' | 'x' | None | 'S' | 1
ldict: None | {'a': 1}
left: 5 | None | 1.5 | 'x' | 1j
legacy: False | '1.13' | None | 'x'
like: None | x | numpy.ones(1) | 3
m: 1 | 2 | 0 | None | -1
max: 3 | None | x[5] | row | 'x' | 1.5
max_line_width: 10 | None | 200
max_work: 0 | 1 | -1 | None | 'x'
mean: np.mean(m, keepdims=True) | 1 | row | None | 'x' | np.ones((3, 4))
method: 'linear' | 'lower' | 'hazen' | 'x' | None | 'nearest' | 'inverted_cdf' | 'weibull' | 'median_unbiased'
min: 3 | None | x[1] | row | 'x' | 1.5
min_digits: 3 | 0 | None
minlength: 0 | 9 | 2 | -1 | None | 1.5 | 'x'
mode: 'raise' | 'wrap' | 'clip' | 'x' | None | 0 | 1 | 9
n: 3 | 1 | 5 | 0 | -1 | None | 2.5 | 'x' | numpy.int8(3)
nan: 0.0 | 1.5 | 'x' | None | [1, 2]
ndim: 2 | 1 | 0 | 3 | -1
ndmax: 0 | 1 | 2 | 99 | -1
ndmin: 0 | 3 | 1 | 99 | -1 | None | 1.5
neginf: None | 1.5 | -1 | 'x'
norm: 'ortho' | 'forward' | 'backward' | None | 'x' | 1
num: 5 | 1 | 0 | -1 | 2.5 | 'x' | numpy.int8(4)
offset: 0 | 1 | -1 | 9 | -9 | None | 'x' | 1.5
optimize: True | False | 'greedy' | 'optimal' | 'x'
ord: None | 1 | 2 | -1 | -2 | numpy.inf | -numpy.inf | 'fro' | 'nuc' | 0 | 'x' | 3
order: 'C' | 'F' | 'A' | 'K' | 'c' | None | 'x' | 1 | 'CF'
out: new(rt) | new(rt, 'F') | new('f8') | new('c16') | new('i1') | new(rt, 'C', 1) | new(rt, 'C', 0, 1) | None | \
 (new(rt),) | [] | 'x' | fixed(rt) | new(rt)[::1] | numpy.zeros(3)
overwrite_input: True | False
p: None | 1 | 2 | -2 | numpy.inf | 'fro' | 'nuc' | 'x'
pad_left: 5 | None | 1
pad_right: 5 | None | 1
padding: 0 | 3
period: 6.0 | 2 | 7 | 0 | 'x' | None | 1.5 | -2
posinf: None | 1.5 | 1 | 'x'
precision: 2 | 0 | None
prefix: '' | 'abc'
prepend: 5 | m | m[:, :1] | None | row
r: False | True
range: None | (0, 2) | (2, 0) | (1, 1) | (numpy.nan, 1) | 'x' | 3
rcond: None | -1 | 0.5 | 1e-3 | 'x'
refcheck: True | False | None
requirements: None | 'C' | 'F' | ['F', 'O'] | 'x' | 'W' | ['C', 'F'] | 'A' | []
retstep: True | False
return_counts: True | False
return_index: True | False | 1
return_indices: True | False
return_inverse: True | False
returned: True | False
right: True | False | 1 | None
rowvar: True | False
rtol: 1 | 0 | None | 1e-3 | 'x'
s: None | (2, 3) | (5, 5) | (3,) | (0, 1) | 'x' | (-1, 3) | 4
sep: ' ' | ','
separator: ' ' | ', '
shape: None | (2, 2) | 3 | -1 | 'x' | () | (2.0, 1) | numpy.int8(3) | [4, 3] | (1, 12)
side: 'left' | 'right' | 'l' | 'x' | None | 'RIGHT'
sign: '+' | '-' | ' ' | 'x' | None
signature: None | 'x' | 'd' | ()
sorted: True
sorter: None | np.argsort(x) | [0, 1, 2, 3, 4, 5] | [9] * 6 | [0] | [0.5] * 6
sparse: True | False
stable: True | False | None | 1
start: 0 | 1 | -1 | 3 | 9 | None
step: 1 | 2 | -1 | 0 | 1.5 | None | 'x'
stop: 3 | None | 5.5 | -3 | 'x'
stream: None | 1
subok: True | False | None | 'x'
suffix: '' | 'abc'
suppress_small: True | None
test_elements: [1, 2] | 1 | none
threshold: 1 | None | 100
to_begin: None | 5 | [1, 2] | x | 'x'
to_end: None | 5 | [1, 2] | x | 'x' | 1.5
tol: 100 | 0 | 0.5 | None
trim: 'fb' | 'f' | 'b' | 'x' | 'B' | ''
typeset: 'GDFgdf' | 'fd'
uic: None | False | True
unique: True | False
upper: True | False | 1
values: 5 | m
w: None | x | numpy.ones(6) | [1, 2]
weights: numpy.arange(6) | None | y | [1, 2] | 'x' | numpy.ones(6) * 1j
where: True | False | bm | [True, False, True, False] | np.ones(5, bool) | 1 | 'x' | None | row | \
 numpy.ones((3, 1), bool)
width: None | 3 | 8 | 1
wrap: True | False
write: True | False | None | 'x'
x: None | [0, 1, 3, 4] | row | [1, 2] | m
xlike: None
y: None | w | row | x
"""

# Values of a keyword of one function, or of the functions that a pattern names.
OWN_VALUES_TEXT = """
apply_along_axis axis: 0
array order: 'C' | 'F' | 'A' | 'K' | 'c' | None | 'x' | 1
average|histogram.* weights: numpy.arange(12).reshape(3, 4) | None | w | [1, 2] | row
base_repr base: 2 | 16 | 36 | 37 | 1
bincount weights: numpy.arange(6) | None | y | [1, 2] | 'x' | numpy.ones(6) * 1j | m
convolve|correlate mode: 'full' | 'same' | 'valid' | 'x' | None | 0 | 1 | 9
cumulative_(sum|prod) axis: 0 | -1 | None | 2 | 'x' | 1.0 | (0,)
delete|insert|append axis: 0 | 1 | -1 | None | 2 | 'x' | (0, 1)
einsum dtype: 'f4' | 'c16' | None | 'x' | 'f8' | t
fft.fftshift|fft.ifftshift axes: 0 | (0, 1) | (1,) | None | 5 | (0, 5) | 'x' | () | (0, 0) | -1
fft.* axes: (0, 1) | (1,) | (1, 0) | (0, 0) | None | (0, 5) | 'x' | () | -1 | [0]
fftfreq|rfftfreq device: None | 'cpu' | 'x'
frombuffer dtype: 'f4' | 'c16' | int | None | 'i1' | 'x' | 'u1' | t
frombuffer offset: 0 | 8 | 1 | 24 | 99 | -1
getfield offset: 0 | 1 | 9 | -1
isin kind: None | 'sort' | 'table' | 'x'
linalg.norm|linalg.vector_norm|linalg.matrix_norm axis: 0 | 1 | -1 | None | 2 | (0, 1) | (1, 0) | (0, 0) | 'x' | \
 (0, 1, 2)
linalg.qr mode: 'reduced' | 'complete' | 'r' | 'raw' | 'x' | None
linalg.tensorinv ind: 2 | 1 | 0 | -1
linalg.matrix_rank tol: None | 0.5 | 100 | 0
linalg.matmul|matvec|vecmat|matmul axes: [(0, 1), (1, 0), (0, 1)] | 'x' | [(0, 1)] | [(-2, -1), (-2, -1), (1, 0)]
meshgrid copy: True | False
moveaxis source: 0 | [0, 1]
pad mode: 'constant' | 'edge' | 'reflect' | 'wrap' | 'mean' | 'maximum' | 'symmetric' | 'linear_ramp' | 'x' | None | \
 'median' | 'minimum' | 'empty'
pad constant_values: 0 | 5 | (1, 2) | 'x' | ((1, 2), (3, 4))
polyfit rcond: None | 0.5
polyint k: None | 0 | 3
rot90 axes: (0, 1) | (1, 0) | (0, 0) | (0, 5) | (0,) | [-1, 0]
rot90 k: 0 | 1 | -1 | 2 | 3 | 7
searchsorted|.searchsorted sorter: None | np.argsort(np.sort(x)) | [0, 1, 2, 3, 4, 5] | [0] | [0.5] * 6
(nan)?(percentile|quantile|median) weights: None | numpy.arange(12).reshape(3, 4) | [1, 2], axis=1 | \
 [1, 2, 1, 3], axis=1, method='inverted_cdf' | numpy.ones((3, 4)), method='inverted_cdf' | 'x'
take mode: 'raise' | 'wrap' | 'clip' | 'x' | None | 0 | 1 | 9
interp right: 5 | None | 1.5 | 'x' | 1j
trapezoid dx: 1.0 | 2 | 0.5 | [1, 2, 3]
trim_zeros axis: None | 0 | 1 | 'x'
.view dtype: 'i1' | 'f4' | None | t | 'x' | 'c16'
.view type: np.ndarray | 'x'
.setfield offset: 0 | 9 | -1
"""

# Keywords that functions take without naming them in their signature.
MORE_KEYWORDS = {
    "einsum": "dtype order casting",
    "pad": "constant_values",
    "clip": "where dtype casting order subok signature",
    ".clip": "where dtype casting order subok signature",
    **dict.fromkeys((".max", ".min", ".sum", ".prod"), "keepdims initial where"),
    **dict.fromkeys((".mean",), "keepdims where"),
    **dict.fromkeys((".std", ".var"), "keepdims where mean correction"),
    ".view": "dtype",
}

# Public names that have no keyword to compare, or nothing but the host's files and settings.
NOT_CALLED = {
    "busday_count busday_offset is_busday datetime_as_string datetime_data": "dates: test_every_dtype.py",
    "fromfile fromregex genfromtxt load loadtxt save savetxt savez savez_compressed .dump .tofile": "files",
    "get_include get_printoptions getbufsize geterr geterrcall info printoptions seterr seterrcall": "settings",
    "set_printoptions setbufsize show_config show_runtime test": "settings",
    "frompyfunc nested_iters": "make objects of NumPy",
    ".__array__ .__array_wrap__ .__copy__ .__deepcopy__": "protocols",
}
