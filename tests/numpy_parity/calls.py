"""Calls of every public function and method of NumPy, as texts: for tables that compare them over many dtypes.

The names in a call are `np`, and new arrays for each: `x` and `y` of six elements, `m` of shape (3, 4), `q` of shape
(3, 3), `one` of shape (1,), `zero` of no dimension, `none` of no elements, the mask `b` and the indices `i` of six
elements; `t` is the dtype.
"""

from __future__ import annotations

import numpy

_TEXT = """
all: np.all(x) | np.all(m, 1) | np.all(m, axis=0, keepdims=True)
allclose: np.allclose(x, y) | np.allclose(x, x)
amax: np.amax(x) | np.amax(m, 0)
amin: np.amin(m, 1, keepdims=True)
angle: np.angle(x)
any: np.any(x) | np.any(m, 1)
append: np.append(x, y) | np.append(m, m, 0)
apply_along_axis: np.apply_along_axis(lambda r: r[::-1], 1, m)
apply_over_axes: np.apply_over_axes(np.sum, m, [0])
arange: np.arange(x[0], x[1])
argmax: np.argmax(x) | np.argmax(m, 1)
argmin: np.argmin(x) | np.argmin(m, 0)
argpartition: np.argpartition(x, 2).shape
argsort: np.argsort(x, kind="stable") | np.argsort(m, axis=0, kind="stable")
argwhere: np.argwhere(x)
around: np.around(x)
array: np.array(x) | np.array(m, order="F") | np.array([x, y]) | np.array(x, ndmin=2) | np.array(m.tolist(), t) | \
 np.array(x, copy=False) | np.array([x[0], x[1]])
array2string: np.array2string(x) | np.array2string(m)
array_equal: np.array_equal(x, x) | np.array_equal(x, y)
array_equiv: np.array_equiv(x, x)
array_repr: np.array_repr(x) | np.array_repr(m)
array_split: np.array_split(x, 4)
array_str: np.array_str(x)
asanyarray: np.asanyarray(x) is x
asarray: np.asarray(x) is x | np.asarray(x.tolist(), t) | np.asarray(x, "O") | np.asarray(x, "U40")
asarray_chkfinite: np.asarray_chkfinite(x)
ascontiguousarray: np.ascontiguousarray(m.T)
asfortranarray: np.asfortranarray(m)
asmatrix: np.asmatrix(m)
astype: np.astype(x, t) | np.astype(x, "O") | np.astype(x, "U9")
atleast_1d: np.atleast_1d(zero) | np.atleast_1d(x, m)
atleast_2d: np.atleast_2d(x)
atleast_3d: np.atleast_3d(x)
average: np.average(x) | np.average(m, 1)
bartlett: np.bartlett(5)
base_repr: np.base_repr(5)
binary_repr: np.binary_repr(5)
bincount: np.bincount(x)
bitwise_count: np.bitwise_count(x)
blackman: np.blackman(5)
block: np.block([x, y]) | np.block([[m], [m]])
bmat: np.bmat([[m], [m]])
broadcast_arrays: np.broadcast_arrays(x, one)
broadcast_shapes: np.broadcast_shapes((3,), (1,))
broadcast_to: np.broadcast_to(x, (2, 6)) | np.broadcast_to(x, (2, 5))
busday_count: np.busday_count(x, y)
busday_offset: np.busday_offset(x, 1, roll="forward")
can_cast: np.can_cast(t, "O") | np.can_cast(t, "f8") | np.can_cast(x.dtype, t)
choose: np.choose(i % 2, [x, y])
clip: np.clip(x, x[0], x[1]) | np.clip(x, y, y)
column_stack: np.column_stack([x, y])
common_type: np.common_type(x)
compress: np.compress(b, x) | np.compress([True, False, True], m, 0)
concat: np.concat([x, y])
concatenate: np.concatenate([x, y]) | np.concatenate([m, m], 1) | np.concatenate([m, m], None) | \
 np.concatenate([x, np.ones(2)])
convolve: np.convolve(x, y)
copy: np.copy(m, "F")
copyto: np.copyto(x, y) | np.copyto(x, y, where=b) | np.copyto(m, zero)
corrcoef: np.corrcoef(x, y)
correlate: np.correlate(x, y)
count_nonzero: np.count_nonzero(x) | np.count_nonzero(m, axis=1)
cov: np.cov(x, y)
cross: np.cross(x[:3], y[:3])
cumprod: np.cumprod(x)
cumsum: np.cumsum(x) | np.cumsum(m, 1)
cumulative_prod: np.cumulative_prod(x)
cumulative_sum: np.cumulative_sum(x)
datetime_as_string: np.datetime_as_string(x)
datetime_data: np.datetime_data(x.dtype)
delete: np.delete(x, 2) | np.delete(m, [0, 1], 1)
diag: np.diag(x) | np.diag(q)
diag_indices: np.diag_indices(3)
diag_indices_from: np.diag_indices_from(q)
diagflat: np.diagflat(x)
diagonal: np.diagonal(m)
diff: np.diff(x) | np.diff(m, axis=0)
digitize: np.digitize(x, np.sort(y))
divmod: np.divmod(x, y)
dot: np.dot(x, y) | np.dot(q, q)
dsplit: np.dsplit(m.reshape(1, 3, 4), 2)
dstack: np.dstack([x, y])
ediff1d: np.ediff1d(x)
einsum: np.einsum("i,i", x, y) | np.einsum("ij->ji", m)
einsum_path: np.einsum_path("i,i", x, y)[0]
empty: np.empty(3, t).shape
empty_like: np.empty_like(m).dtype
equal: np.equal(x, y) | np.equal(x, x[0]) | np.equal(x, 1)
expand_dims: np.expand_dims(x, 0)
extract: np.extract(b, x)
eye: np.eye(3, dtype=t)
fill_diagonal: np.fill_diagonal(q, x[0])
fix: np.fix(x)
flatnonzero: np.flatnonzero(x)
flip: np.flip(x) | np.flip(m, 1)
fliplr: np.fliplr(m)
flipud: np.flipud(m)
format_float_positional: np.format_float_positional(1.5)
format_float_scientific: np.format_float_scientific(1.5)
frexp: np.frexp(x)
from_dlpack: np.from_dlpack(x).shape
frombuffer: np.frombuffer(bytes(numpy.dtype(t).itemsize * 2), t)
fromfunction: np.fromfunction(lambda k: k, (3,), dtype=t)
fromiter: np.fromiter(x.tolist(), t)
frompyfunc: np.frompyfunc(lambda a: a, 1, 1)(x)
fromstring: np.fromstring("1 2", t, sep=" ")
full: np.full(3, x[0]) | np.full((2, 6), x) | np.full(2, x[0], t)
full_like: np.full_like(m, x[0])
gcd: np.gcd(x, y)
geomspace: np.geomspace(x[0], x[1], 3)
gradient: np.gradient(x)
hamming: np.hamming(4)
hanning: np.hanning(4)
histogram: np.histogram(x)
histogram2d: np.histogram2d(x, y)
histogram_bin_edges: np.histogram_bin_edges(x)
histogramdd: np.histogramdd(m)
hsplit: np.hsplit(m, 2)
hstack: np.hstack([x, y])
i0: np.i0(x)
identity: np.identity(2, t)
imag: np.imag(x)
in1d: np.in1d(x, y[:2])
indices: np.indices((2, 2), t)
inner: np.inner(x, y)
insert: np.insert(x, 2, y[0]) | np.insert(m, 1, m[0], 0)
interp: np.interp(x, y, y)
intersect1d: np.intersect1d(x, y)
isclose: np.isclose(x, y)
iscomplex: np.iscomplex(x)
iscomplexobj: np.iscomplexobj(x)
isdtype: np.isdtype(x.dtype, "numeric")
isfortran: np.isfortran(np.asfortranarray(m))
isin: np.isin(x, y[:2]) | np.isin(x, [])
isnat: np.isnat(x)
isneginf: np.isneginf(x)
isposinf: np.isposinf(x)
isreal: np.isreal(x)
isrealobj: np.isrealobj(x)
isscalar: np.isscalar(x[0]) | np.isscalar(x)
issubdtype: np.issubdtype(x.dtype, np.number)
iterable: np.iterable(x) | np.iterable(zero)
ix_: np.ix_(i, i)
kaiser: np.kaiser(4, 2.0).round(12)
kron: np.kron(x, y)
lexsort: np.lexsort((x, y))
linspace: np.linspace(x[0], x[1], 3)
load: 1
loadtxt: np.loadtxt(["1 2", "3 4"], t)
logspace: np.logspace(x[0], x[1], 3).round(6)
mask_indices: np.mask_indices(3, np.triu)
matmul: np.matmul(q, q) | np.matmul(x, y)
matrix_transpose: np.matrix_transpose(m)
matvec: np.matvec(q, x[:3])
max: np.max(x) | np.max(m, 1) | np.max(x, initial=x[0], where=b) | np.max(none)
may_share_memory: np.may_share_memory(x, x[1:]) | np.may_share_memory(x, y)
mean: np.mean(x) | np.mean(m, 1)
median: np.median(x)
meshgrid: np.meshgrid(x, y)
min: np.min(x) | np.min(m, 0)
min_scalar_type: np.min_scalar_type(x)
mintypecode: np.mintypecode("fd")
modf: np.modf(x)
moveaxis: np.moveaxis(m, 0, 1)
nan_to_num: np.nan_to_num(x)
nanargmax: np.nanargmax(x)
nanargmin: np.nanargmin(x)
nancumprod: np.nancumprod(x)
nancumsum: np.nancumsum(x)
nanmax: np.nanmax(x)
nanmean: np.nanmean(x)
nanmedian: np.nanmedian(x)
nanmin: np.nanmin(x)
nanpercentile: np.nanpercentile(x, 50)
nanprod: np.nanprod(x)
nanquantile: np.nanquantile(x, 0.5)
nanstd: np.nanstd(x)
nansum: np.nansum(x)
nanvar: np.nanvar(x)
ndim: np.ndim(m)
nonzero: np.nonzero(x) | np.nonzero(m)
ones: np.ones(3, t)
ones_like: np.ones_like(m)
outer: np.outer(x, y)
packbits: np.packbits(x)
pad: np.pad(x, 2, mode="edge") | np.pad(m, 1) | np.pad(m, 1, mode="reflect")
partition: np.partition(x, 2)[2]
percentile: np.percentile(x, 50)
permute_dims: np.permute_dims(m, (1, 0))
piecewise: np.piecewise(x, [b], [y[0]])
place: np.place(x, b, y)
poly: np.poly(x)
polyadd: np.polyadd(x, y)
polyder: np.polyder(x)
polydiv: np.polydiv(x, y)
polyfit: np.polyfit(x, y, 1).round(6)
polyint: np.polyint(x)
polymul: np.polymul(x, y)
polysub: np.polysub(x, y)
polyval: np.polyval(x, y)
prod: np.prod(x)
promote_types: np.promote_types(x.dtype, "f8")
ptp: np.ptp(x) | np.ptp(m, 0)
put: np.put(x, [0, 2], y) | np.put(x, [8], y)
put_along_axis: np.put_along_axis(m, np.zeros((3, 1), int), m[:, -1:], 1)
putmask: np.putmask(x, b, y)
quantile: np.quantile(x, 0.5) | np.quantile(x, 0.5, method="lower")
ravel: np.ravel(m) | np.ravel(m, "F")
ravel_multi_index: np.ravel_multi_index((i, i), (9, 9))
real: np.real(x)
real_if_close: np.real_if_close(x)
repeat: np.repeat(x, 2) | np.repeat(m, [1, 0, 2], 0)
require: np.require(m, requirements="F")
reshape: np.reshape(m, (4, 3)) | np.reshape(m, -1, "F")
resize: np.resize(x, (2, 5))
result_type: np.result_type(x, "f8") | np.result_type(x)
roll: np.roll(x, 2) | np.roll(m, 1, 0)
rollaxis: np.rollaxis(m, 1)
roots: np.roots(x)
rot90: np.rot90(m)
round: np.round(x) | np.round(x, 1)
row_stack: np.row_stack([x, y])
searchsorted: np.searchsorted(np.sort(x), y) | np.searchsorted(np.sort(x), y[0], "right")
select: np.select([b], [x], y[0])
setdiff1d: np.setdiff1d(x, y)
setxor1d: np.setxor1d(x, y)
shape: np.shape(m)
shares_memory: np.shares_memory(x, x[1:]) | np.shares_memory(x, y)
sinc: np.sinc(x)
size: np.size(m)
sort: np.sort(x) | np.sort(m, 0)
sort_complex: np.sort_complex(x)
split: np.split(x, 3) | np.split(m, [1], 1)
squeeze: np.squeeze(m[:1])
stack: np.stack([x, y]) | np.stack([x, y], 1)
std: np.std(x)
sum: np.sum(x) | np.sum(m, 1) | np.sum(m, (0, 1), keepdims=True) | np.sum(none)
swapaxes: np.swapaxes(m, 0, 1)
take: np.take(x, [0, 2]) | np.take(m, i % 4, 1) | np.take(x, 9) | np.take(x, 9, mode="clip")
take_along_axis: np.take_along_axis(m, np.zeros((3, 1), int), 1)
tensordot: np.tensordot(x, y, 1)
tile: np.tile(x, 2) | np.tile(m, (2, 1))
trace: np.trace(q)
transpose: np.transpose(m)
trapezoid: np.trapezoid(x)
trapz: np.trapz(x)
tri: np.tri(3, dtype=t)
tril: np.tril(m)
tril_indices: np.tril_indices(3)
tril_indices_from: np.tril_indices_from(q)
trim_zeros: np.trim_zeros(x)
triu: np.triu(m)
triu_indices: np.triu_indices(3)
triu_indices_from: np.triu_indices_from(q)
typename: np.typename("d")
union1d: np.union1d(x, y)
unique: np.unique(x) | np.unique(x, return_index=True, return_inverse=True, return_counts=True) | np.unique(m, axis=0)
unique_all: np.unique_all(x)
unique_counts: np.unique_counts(x)
unique_inverse: np.unique_inverse(x)
unique_values: np.sort(np.unique_values(x))
unpackbits: np.unpackbits(x)
unravel_index: np.unravel_index(i, (3, 3))
unstack: np.unstack(m)
unwrap: np.unwrap(x)
vander: np.vander(x)
var: np.var(x)
vdot: np.vdot(x, y)
vecdot: np.vecdot(x, y)
vecmat: np.vecmat(x[:3], q)
vsplit: np.vsplit(m, 3)
vstack: np.vstack([x, y])
where: np.where(b, x, y) | np.where(x) | np.where(b, x, y[0]) | np.where(b, x, None) | np.where(b, None, 1)
zeros: np.zeros(3, t)
zeros_like: np.zeros_like(m)
linalg.norm: np.linalg.norm(x)
linalg.inv: np.linalg.inv(q)
linalg.det: np.linalg.det(q)
linalg.solve: np.linalg.solve(q, x[:3])
linalg.matmul: np.linalg.matmul(q, q)
linalg.outer: np.linalg.outer(x, y)
linalg.diagonal: np.linalg.diagonal(q)
linalg.trace: np.linalg.trace(q)
linalg.matrix_power: np.linalg.matrix_power(q, 2)
fft.fft: np.fft.fft(x)
fft.fftshift: np.fft.fftshift(x)
fft.ifftshift: np.fft.ifftshift(m)
char.upper: np.char.upper(x)
char.add: np.char.add(x, y)
strings.upper: np.strings.upper(x)
strings.find: np.strings.find(x, x[0])
strings.str_len: np.strings.str_len(x)
strings.startswith: np.strings.startswith(x, y)
strings.multiply: np.strings.multiply(x, 2)
.T: m.T | (m.T.base is m, m.T.T.base is m)
.__abs__: abs(x)
.__add__: x + y | x + x[0] | 1 + x | x + 1 | x + 1.5 | x + np.ones(6) | np.ones(6) + x
.__and__: x & y
.__array__: numpy.asarray(x)
.__bool__: bool(one) | bool(x) | bool(zero)
.__bytes__: bytes(x)
.__complex__: complex(zero)
.__contains__: x[0] in x | 77 in x | "a" in x
.__copy__: copy.copy(m)
.__deepcopy__: copy.deepcopy(m)
.__delitem__: operator.delitem(x, 0)
.__divmod__: divmod(x, y)
.__eq__: x == y | x == x[0] | x == None | x == "a" | x == 1
.__float__: float(zero) | float(x)
.__floordiv__: x // y
.__format__: f"{x}" | f"{zero}"
.__ge__: x >= y
.__getitem__: x[0] | x[-1] | x[1:4] | x[::-2] | x[i] | x[b] | x[...] | x[None] | x[()] | x[9] | m[1] | m[1, 2] | \
 m[:, 1] | m[[0, 2], 1] | m[[0, 2], [1, 1]] | m[m == m[0, 0]] | x["x"] | x[[]] | x[1.5] | zero[()] | \
 zero[...] | x[1:3].base is x
.__gt__: x > y
.__hash__: hash(x)
.__iadd__: x.__iadd__(y) | operator.iadd(x, 1) | operator.iadd(np.ones(6), x)
.__imul__: operator.imul(x, 2)
.__index__: operator.index(zero)
.__int__: int(zero)
.__invert__: ~x
.__isub__: operator.isub(x, y)
.__ipow__: x.__ipow__(2) | zero.__ipow__(zero)
.__iter__: list(x) | [r.tolist() for r in m] | list(zero)
.__le__: x <= y
.__len__: len(m) | len(zero)
.__lshift__: x << y
.__lt__: x < y
.__matmul__: q @ q
.__mod__: x % y
.__mul__: x * y | x * 2 | 2 * x
.__ne__: x != y | x != "a"
.__neg__: -x
.__or__: operator.or_(x, y)
.__pos__: +x
.__pow__: x ** 2 | x ** y | 2 ** x
.__rdivmod__: x.__rdivmod__(y) | divmod(7, x)
.__repr__: repr(x) | repr(m) | repr(zero)
.__rshift__: x >> y
.__setitem__: operator.setitem(x, 0, y[1]) | operator.setitem(x, slice(1, 3), y[:2]) | operator.setitem(x, b, y[0]) | \
 operator.setitem(x, i, y) | operator.setitem(m, (slice(None), 1), x[:3]) | operator.setitem(x, ..., 1) | \
 operator.setitem(x, 9, y[0]) | operator.setitem(zero, (), y[0]) | operator.setitem(x, 0, None) | \
 operator.setitem(x, slice(None), m) | operator.setitem(x[1:3], 0, y[4])
.__str__: str(x) | str(zero)
.__sub__: x - y | x - 1 | 1 - x
.__truediv__: x / y | x / 2
.__xor__: x ^ y
.all: x.all()
.any: m.any(0)
.argmax: x.argmax()
.argmin: m.argmin(1)
.argpartition: x.argpartition(1).shape
.argsort: x.argsort(kind="stable")
.astype: x.astype(t) | x.astype("O") | x.astype("U8") | x.astype("f8") | x.astype(t, copy=False) is x | \
 m.astype(t, order="F")
.base: x.base | m[1].base is m
.byteswap: x.byteswap()
.choose: (i % 2).choose([x, y])
.clip: x.clip(x[0], x[1])
.compress: x.compress(b)
.conj: x.conj()
.conjugate: x.conjugate()
.copy: m.copy() | m.T.copy("K").flags.f_contiguous
.cumprod: x.cumprod()
.cumsum: x.cumsum()
.data: x.data.nbytes
.diagonal: m.diagonal()
.dot: x.dot(y)
.dtype: x.dtype
.dump: 1
.dumps: 1
.fill: x.fill(y[0]) | x.fill(1)
.flags: (m.flags.c_contiguous, m.T.flags.f_contiguous, x.flags.writeable, x[1:].flags.owndata, m[::2].flags.num)
.flat: list(m.flat) | m.flat[3] | m.flat[:2] | operator.setitem(m.flat, 1, x[0]) | setattr(m, "flat", x)
.flatten: m.flatten() | m.flatten("F")
.getfield: x.getfield(x.dtype)
.imag: x.imag
.item: zero.item() | x.item(1) | x.item() | m.item(1, 2) | m.item(5)
.itemsize: x.itemsize
.mT: m.mT
.max: x.max() | m.max(0)
.mean: x.mean()
.min: x.min()
.nbytes: m.nbytes
.ndim: m.ndim
.nonzero: x.nonzero()
.partition: x.partition(2)
.prod: x.prod()
.put: x.put([0, 1], y)
.ravel: m.ravel() | m.ravel("F") | m.ravel().base is m
.real: x.real
.repeat: x.repeat(2)
.reshape: m.reshape(4, 3) | m.reshape(-1) | m.reshape(5) | m.reshape(2, 6, order="F")
.resize: copy.copy(x).resize((2, 4)) | x.resize((2, 2))
.round: x.round()
.searchsorted: np.sort(x).searchsorted(y)
.setfield: 1
.setflags: x.setflags(write=False)
.shape: m.shape
.size: m.size
.sort: x.sort() | m.sort(0)
.squeeze: m[:1].squeeze()
.std: x.std()
.strides: (m.strides, m.T.strides, x[::2].strides)
.sum: x.sum() | m.sum(1)
.swapaxes: m.swapaxes(0, 1)
.take: x.take([1, 2]) | m.take([0, 1], axis=1)
.to_device: x.to_device("cpu")
.tobytes: x.tobytes() | m.tobytes("F")
.tofile: 1
.tolist: x.tolist() | m.tolist() | zero.tolist()
.trace: q.trace()
.transpose: m.transpose() | m.transpose(1, 0)
.var: x.var()
.view: x.view().base is x | x.view(x.dtype) | x.view("u1") | m.view(t)
pickle: pickle.loads(pickle.dumps(x)) | pickle.loads(pickle.dumps(m.T))
"""


_OPERATORS = (
    "add",
    "and",
    "floordiv",
    "lshift",
    "matmul",
    "mod",
    "mul",
    "or",
    "pow",
    "rshift",
    "sub",
    "truediv",
    "xor",
)


def _calls() -> dict[str, list[str]]:
    """The calls by name; those of operators and ufuncs that the text does not name are made up."""
    lines = _TEXT.replace("\\\n", "").strip().splitlines()
    calls = {name: text.split(" | ") for name, text in (line.split(": ", 1) for line in lines)}
    for operator in _OPERATORS:
        operands = ("q", "q") if operator == "matmul" else ("x", "y")
        for kind in "ri":
            method = f".__{kind}{operator}__"
            calls.setdefault(method, [f"{operands[0]}{method}({operands[1]})", f"zero{method}(zero)"])
    for name in sorted(numpy.__all__):
        function = getattr(numpy, name)
        if isinstance(function, numpy.ufunc) and name not in calls:
            operands = "x" if function.nin == 1 else "x, y"
            calls[name] = [f"np.{name}({operands})"]
            if function.nin == 2 and function.nout == 1:
                methods = ("reduce(x)", "accumulate(x)", "outer(x, y)", "at(x, i, y)", "reduceat(x, [0, 2])")
                calls[name] += [f"np.{name}.{method}" for method in methods]
    return calls


CALLS = _calls()
# Names that compute nothing from arrays: settings, information, files.
NOT_CALLED = frozenset(
    (
        *("fromfile", "fromregex", "genfromtxt", "save", "savetxt", "savez", "savez_compressed", "nested_iters"),
        *("get_include", "get_printoptions", "getbufsize", "geterr", "geterrcall", "info", "printoptions", "seterr"),
        *("seterrcall", "set_printoptions", "setbufsize", "show_config", "show_runtime", "test", "is_busday"),
    )
)
