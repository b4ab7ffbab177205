"""A script with NumPy and JAX in it, by Python itself and by the runner: JAX takes arrays as it takes NumPy's."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from .processes import by_both

EXPRESSIONS = """
jnp.sin(x)
jnp.dot(x, x[0])
jnp.asarray(x)
jax.device_put(x)
jax.jit(lambda a: a * 2)(x)
jax.jit(lambda a: a * x / np.sqrt(4))(j)
jax.jit(lambda a: x * a - np.float64(1))(j)
jax.jit(lambda d: d["a"] + d["b"][0])({"a": x, "b": [x]})
jax.grad(lambda a: (a * a).sum())(x)
jax.value_and_grad(lambda a: (x * a).sum())(j)
jax.vmap(jnp.cumsum)(x)
jnp.where(x > 2, x, 0)
jnp.full(3, x.max())
j.at[0].set(x[1])
jnp.add(j, x[1])
jnp.add(j, np.sqrt(4))
j * x
x * j
j / np.sqrt(4)
j @ x.T
x > j
np.sin(j)
jnp.arange(3).dtype
"""
SCRIPT = f"""
import numpy as np
import jax
import jax.numpy as jnp

x = np.arange(6.0).reshape(2, 3)
j = jnp.ones((2, 3))
for text in {EXPRESSIONS.strip().splitlines()!r}:
    found = eval(text)
    print(text, isinstance(found, jax.Array), found)
"""


def test_jax_is_as_by_python(tmp_path: Path) -> None:
    if find_spec("jax") is None:
        pytest.skip("jax is not installed")
    found, expected = by_both(tmp_path, SCRIPT)
    assert (found.stdout.splitlines(), found.returncode) == (expected.stdout.splitlines(), 0), found.stderr
