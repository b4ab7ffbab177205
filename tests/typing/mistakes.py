"""What a checker is to refuse: every line here is an error to mypy and to pyright, or their comment is one."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

import gpunumpy as np
import gpunumpy.distributed as dist
import gpunumpy.scipy as sp
import gpunumpy.typing as npt

x = np.zeros(3)

# Names that are not there.
np.nosuch  # type: ignore[attr-defined]  # pyright: ignore
np.linalg.nosuch  # type: ignore[attr-defined]  # pyright: ignore
np.functions  # type: ignore[attr-defined]  # pyright: ignore
np.testing.nosuch  # type: ignore[attr-defined]  # pyright: ignore
x.nosuch  # type: ignore[attr-defined]  # pyright: ignore
sp.ndimage.nosuch  # type: ignore[attr-defined]  # pyright: ignore

# Parameters that are not there, or not what is given for them.
np.zeros(3, typo=1)  # type: ignore[call-arg]  # pyright: ignore
np.zeros("3")  # type: ignore[arg-type]  # pyright: ignore
np.sort(x, kind="fastest")  # type: ignore[arg-type]  # pyright: ignore
np.sin()  # type: ignore[call-arg]  # pyright: ignore
np.sin(x, ou=x)  # type: ignore[call-arg]  # pyright: ignore
np.add(x, None)  # type: ignore[arg-type]  # pyright: ignore
np.ones(2, device=1.5)  # type: ignore[arg-type]  # pyright: ignore
x.sum(axes=0)  # type: ignore[call-arg]  # pyright: ignore
x.reshape("C")  # type: ignore[arg-type]  # pyright: ignore
x.shape = "3"  # type: ignore[assignment]  # pyright: ignore
x.ndim = 2  # type: ignore[misc]  # pyright: ignore
np.fft.fft(x, norm="none")  # type: ignore[arg-type]  # pyright: ignore
sp.ndimage.gaussian_filter(x, sigm=1.0)  # type: ignore[call-arg]  # pyright: ignore
dist.all_reduce(x, "median")  # type: ignore[arg-type]  # pyright: ignore
dist.send(x, to=1)  # type: ignore[call-arg]  # pyright: ignore
sp.special.xlogy(x)  # type: ignore[call-arg]  # pyright: ignore
sp.ndimage.gaussian_filter(x, 1.0).nosuch  # type: ignore[attr-defined]  # pyright: ignore

# Operands and indices that are none.
x + None  # type: ignore[operator]  # pyright: ignore
x[1.5]  # type: ignore[index]  # pyright: ignore
x[0] = object  # type: ignore[assignment]  # pyright: ignore

# Results that are something else.
sent: None = dist.all_gather(x)  # type: ignore[assignment]  # pyright: ignore
total: float = x.sum()  # type: ignore[assignment]  # pyright: ignore
shape: tuple[int, int] = x.tolist  # type: ignore[assignment]  # pyright: ignore
values, counts = np.unique(x, return_index=True, return_inverse=True)  # type: ignore[misc]  # pyright: ignore
bad: npt.NDArray[int]  # type: ignore[type-var]  # pyright: ignore
