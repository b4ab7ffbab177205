"""Arrays in files: text, NumPy's formats and pickles, and back."""

import io
import os
import pickle
import tempfile
from pathlib import Path

import numpy as np


class Model:
    def __init__(self, weights):
        self.weights = weights

    def __call__(self, x):
        return x @ self.weights


table = np.column_stack([np.arange(5), np.arange(5) ** 2 / 7])
np.savetxt("table.txt", table, fmt="%.5f", header="n square")
print(Path("table.txt").read_text())
back = np.loadtxt("table.txt")
print(np.abs(back - table).max() < 1e-5, back.dtype)
np.save("table.npy", table)
np.savez("both.npz", table=table, words=np.array(["a", "bc"]))
with np.load("both.npz") as both:
    print(sorted(both.files), both["words"], both["table"].sum())

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.pickle")
    with open(path, "wb") as file:
        pickle.dump({"model": Model(np.array([0.5, -2.0])), "table": table}, file)
    with open(path, "rb") as file:
        loaded = pickle.load(file)
print(loaded["model"](table), np.array_equal(loaded["table"], table))
text = io.StringIO("1,2\n3,x")
print(np.genfromtxt(text, delimiter=",", filling_values=-1))
print(np.fromfile("table.npy", dtype=np.uint8)[:6].tobytes(), os.path.getsize("table.npy"))
