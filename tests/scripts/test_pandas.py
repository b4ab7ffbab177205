"""A script with pandas in it, by Python itself and by the runner: columns have the types that NumPy gives them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy
import pytest

import gpunumpy as np
from gpunumpy.scripts import adapters, selection

from .processes import by_both

EXPRESSIONS = """
s.apply(np.sqrt)
s.apply(lambda v: np.sqrt(v))
s.apply([np.sqrt, np.square])
s.apply(partial(np.power, 2.0))
s.map(np.sqrt)
s.map({4.0: np.sqrt(4), 1.0: np.sqrt(1)})
s.map(np.vectorize(lambda v: v + 1))
s.agg(lambda c: np.percentile(c, 30))
s.agg([np.sum, np.max])
s.agg(np.linalg.norm)
s.transform(np.sqrt)
s.combine(s, np.maximum)
s.sort_values(key=np.negative)
s.rolling(2).apply(lambda w: np.ptp(w), raw=True)
s.isin([x[0], 9])
s.where(m, x.max())
s.nlargest(k[2])
s.iloc[k[1]:k[2]]
s[lambda d: np.asarray(d) > 3]
s.index[m]
n.map(np.sqrt)
n.apply(lambda r: np.hypot(r["a"], r["b"]), axis=1)
n.apply(lambda c: np.percentile(c, 50))
n.agg({"a": np.mean, "b": np.median})
n.mask(np.arange(8).reshape(4, 2) > 3, 0)
n.add(np.ones((4, 2)))
n.iat[k[1], k[0]] + n.at[k[1], "a"]
n.loc[lambda d: np.asarray(d["a"]) > 3]
n.query("a > @limit")
n.eval("a + @limit")
df.assign(r=lambda d: np.sqrt(d["a"].values))
df.groupby("g").agg(lambda c: np.percentile(c, 50))
df.groupby("g")["a"].agg([np.mean, lambda c: np.ptp(c)])
df.groupby("g").agg(q=("a", lambda c: np.quantile(c, 0.3)))
df.groupby("g").filter(lambda d: np.mean(d["a"].values) > 7)
df.groupby("g").nth(np.array([0]))
df.pivot_table(index="g", values="a", aggfunc=lambda c: np.median(c))
df.set_index(k)
df.set_index(["g", k])
df.nlargest(np.argmax(x[:2]) + 1, "a")
df.head(k[2])
df.isin(k)
pd.Series(range(4), pd.date_range("2020-01-01", periods=k[3] + 1)).resample("2D").agg(lambda c: np.median(c))
pd.DataFrame.from_records([(np.sqrt(2), 1)])
pd.DataFrame.from_records(np.array([(1, 2.0)], dtype=[("u", int), ("v", float)]))
pd.DataFrame({k[0]: [1], k[1]: [2]}).columns
pd.Series(np.sqrt(v) for v in range(3))
pd.Index([np.sqrt(2), np.sqrt(3)])
pd.Index([1.0, 4.0]).map(np.sqrt)
pd.Categorical(k)
pd.to_numeric([x[0], x[1]])
pd.isna(x[0])
pd.read_csv(StringIO("a,b\\n1,2"), converters={"a": lambda v: np.sqrt(float(v))})
pd.Series([np.sqrt, partial])[0] is np.sqrt
pd.Timedelta(days=k[2]) * k[2] / k[1]
k[2] * pd.Timedelta(k[1], unit="D")
pd.Timestamp(2020, k[1], k[2]) + pd.Timedelta(days=k[3])
pd.Interval(k[0], k[2]) * k[2]
pd.Period(year=2020 + k[1], month=k[2], freq="M")
[pd.api.types.is_float(x[0]), pd.api.types.is_integer(k[0]), pd.api.types.is_scalar(np.array(1))]
n.apply(logsumexp)
df.groupby("g")["a"].agg(logsumexp)
"""
SCRIPT = f"""
import warnings
from functools import partial
from io import StringIO
import numpy as np
import pandas as pd
from scipy.special import logsumexp

s = pd.Series([4.0, 1.0, 9.0, 16.0])
df = pd.DataFrame({{"a": s, "b": [1.0, 2.0, 3.0, 4.0], "g": ["x", "y", "x", "y"]}})
n = df[["a", "b"]]
k, limit = np.arange(4), 3.0
x = np.sqrt(k + 1.0)
m = x > 1.5
for text in {EXPRESSIONS.strip().splitlines()!r}:
    found = eval(text)
    types = found.dtypes if isinstance(found, pd.DataFrame) else getattr(found, "dtype", type(found))
    print(text, types, found)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    pd.to_datetime(["13/2/2020"])
print([(warning.filename, warning.lineno) for warning in caught])
"""

# Of a column that nobody keeps, of one that a variable has, and of one that an attribute has.
CHAINED = """
fillna(0, inplace=True)
replace(1.0, 2.0, inplace=True)
ffill(inplace=True)
clip(0, limit, inplace=True)
where(k > 1, 0, inplace=True)
mask(k > 1, x, inplace=True)
interpolate(inplace=True)
update([1.0, 2.0, 3.0])
update(x)
__setitem__(0, 5.0)
"""
CHAINED_SCRIPT = f"""
import warnings
from types import SimpleNamespace
import numpy as np
import pandas as pd

k, x, limit = np.arange(3), np.ones(3), np.ones(3).sum()
df = pd.DataFrame({{"a": [1.0, np.nan, 3.0], "b": [1, 2, 3]}})
held = SimpleNamespace(df=df)

def told(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    print(function.__name__, [(w.category.__name__, w.filename, w.lineno) for w in caught])

for name in {CHAINED.strip().splitlines()!r}:
    for start in ("df['a'].", "s = df['a']; s.", "held.s = df['a']; held.s."):
        def call():
            exec(start + name)
        print(start + name)
        told(call)

def chained():
    df["a"][0] = 5
    df["a"][k > 1] = x[:1]
    df["a"].iloc[0] = limit
    df["a"].loc[k[0]] = 5
    df["a"].at[0] = 5.0
    df[["a", "b"]]["a"] = x

def direct():
    s = df["a"]
    s[0] = 5
    s.iloc[k[1]] = limit
    df.loc[0, "a"] = 5
    df["c"] = x
    held.df["d"] = x
    held.df.fillna(0, inplace=True)

told(chained)
told(direct)
"""


def test_pandas_is_as_by_python(tmp_path: Path) -> None:
    if find_spec("pandas") is None:
        pytest.skip("pandas is not installed")
    found, expected = by_both(tmp_path, SCRIPT)
    assert (found.stdout.splitlines(), found.returncode) == (expected.stdout.splitlines(), 0), found.stderr


def test_pandas_warns_of_chained_assignments_as_by_python(tmp_path: Path) -> None:
    if find_spec("pandas") is None:
        pytest.skip("pandas is not installed")
    found, expected = by_both(tmp_path, CHAINED_SCRIPT)
    assert (found.stdout.splitlines(), found.returncode) == (expected.stdout.splitlines(), 0), found.stderr
    assert expected.stdout.count("Warning") + expected.stdout.count("ChainedAssignmentError") > 9


def test_a_library_is_loaded_though_a_class_of_it_cannot_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(adapters._ASKING_FOR_NUMPY, "numbers_of_c", ("int.__init__", "total"))
    module = ModuleType("numbers_of_c")
    vars(module).update(int=int, total=lambda x: type(x))
    adapters._adapt_library(module, lambda selected: None)
    monkeypatch.setattr(selection, "in_force", selection.Selection())
    assert module.total(np.ones(3)) is numpy.ndarray
