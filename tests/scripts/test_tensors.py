"""Scripts with NumPy and PyTorch in them, by Python itself and by the runner: tensors are the same ones."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from .processes import by_both

EXPRESSIONS = """
torch.from_numpy(x)
torch.from_numpy(x[::2].copy())
torch.tensor([x[0], x[1]])
torch.tensor(x)
torch.as_tensor(rows)
torch.asarray(x)
torch.full((3,), x.max())
torch.arange(np.prod([2, 3]))
torch.linspace(x[0], x[1], 3)
t[index]
t[:, x > 0]
t[x.argmax() - 1]
t[1:x.argmax(), ..., index]
t * x
t / np.sqrt(4)
t ** np.sqrt(4)
t > x.mean()
t == x
g / np.sqrt(4)
np.sqrt(4) * g
1 - np.sqrt(4) * (g - np.float64(2))
x[0] - torch.nn.Parameter(g)
np.arange(3.0) * t.numpy()
torch.FloatTensor(x)
torch.nn.functional.softmax(t / np.sqrt(3), -1).numpy()
"""

SCRIPT = f"""
import warnings

import numpy as np
import torch

warnings.simplefilter("ignore")  # of lists of arrays, which torch says are slow
x, index = np.arange(3.0), np.array([1, 0])
t, g = torch.arange(6.0).reshape(2, 3), torch.ones(3, requires_grad=True)
rows = [x, x + 1]
for text in {EXPRESSIONS.strip().splitlines()!r}:
    print(text, eval(text))

@torch.jit.script
def scripted(t, n: int):
    for _ in range(n):
        t = t[0] * torch.full([3], 2.0) + torch.arange(3) + torch.tensor(1.0)
    return t

for refused in x[::-1], x.astype(">f8"), np.zeros(2, "i1,f8")["f1"], np.array(["a"]), np.array([None]), [1.0], x[0]:
    try:
        print(torch.from_numpy(refused))
    except (TypeError, ValueError) as error:
        print(type(error))

shared = torch.from_numpy(x)
shared += 1
print(x)
t[index] = x[1]
alias = t
t += x.max()
assert alias is t
t += x
t[0, x > 1] = x[0]
print(scripted(t, 1), torch.func.vmap(lambda row: row[0] + row)(t))
print(t, isinstance(t, torch.Tensor))

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
for optimizer in torch.optim.Adam(model.parameters()), torch.optim.SGD(model.parameters()):
    torch.nn.init.ones_(model.weight)
    for turn in range(3):
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * (1 + np.cos(turn))
        optimizer.zero_grad()
        loss = ((model(torch.from_numpy(x.astype(np.float32))) - x[0]) ** 2).mean()
        loss.backward()
        optimizer.step()
    print(model.weight)
"""


def test_tensors_are_as_by_python(tmp_path: Path) -> None:
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    found, expected = by_both(tmp_path, SCRIPT)
    assert (found.stdout.splitlines(), found.returncode) == (expected.stdout.splitlines(), 0), found.stderr
