"""LU, QR and Cholesky factors by textbook loops, whose windows shrink by a row and a column at every step."""

import gpunumpy as np


def matrix(size):
    """A matrix whose diagonal dominates, so that LU needs no exchange of rows."""
    row, column = np.indices((size, size))
    return np.cos(row * 1.7 + column * column * 0.3) + np.where(row == column, 2.0 * size, 0.0)


def lu(a):
    """L below the diagonal, U on it and above."""
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def qr(a):
    """R by reflections, of A. S. Householder."""
    a = a.copy()
    for k in range(len(a) - 1):
        v = a[k:, k].copy()
        v[0] += np.copysign(np.sqrt((v**2).sum()), v[0])
        v /= np.sqrt((v**2).sum())
        a[k:, k:] -= 2.0 * np.outer(v, v @ a[k:, k:])
    return np.triu(a)


def cholesky(a):
    """The lower factor."""
    a = np.tril(a)
    for k in range(len(a)):
        a[k, k] = np.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.tril(np.outer(a[k + 1 :, k], a[k + 1 :, k]))
    return a


def run(size=256, steps=1, progress=range):
    """Return the factors, 3 by `size` by `size`, each computed `steps` times."""
    a = matrix(size)
    symmetric = 0.5 * (a + a.T)
    for _ in progress(steps):
        factors = lu(a), qr(a), cholesky(symmetric)
    return np.stack(factors)
