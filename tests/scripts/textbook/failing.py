"""Warnings, logs, errors that are caught, and one that ends the program."""

import logging
import traceback
import warnings

import numpy as np

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")


def ratio(a, b):
    if b == 0:
        warnings.warn("the ratio of nothing", stacklevel=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.array(a) / b


def read(path):
    with open(path) as file:
        return np.loadtxt(file)


print(ratio([1.0, 0.0], 0))
for wrong in (lambda: np.zeros(3) + np.zeros(4), lambda: np.arange(3)[5], lambda: read("missing.txt")):
    try:
        wrong()
    except (ValueError, IndexError, OSError) as error:
        logging.info("%s: %s", type(error).__name__, error)
try:
    print({"one": 1}["key"])
except KeyError:
    print(traceback.format_exc().splitlines()[0])


class Wrong(Exception):
    pass


def last(x):
    if not isinstance(x, np.ndarray):
        raise TypeError("an array is needed")
    raise Wrong(f"at the end: {x.tolist()}")


last(np.arange(3))
