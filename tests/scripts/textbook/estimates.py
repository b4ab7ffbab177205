"""Statistics and SciPy: a fit, an integral, a root, a filter and an estimate of pi by random points."""

import numpy as np
import scipy
from scipy import integrate, ndimage, optimize
from scipy.linalg import lu_factor, lu_solve

generator = np.random.default_rng(2024)
points = generator.random((2000, 2))
print(f"pi is about {4 * np.mean((points**2).sum(axis=1) < 1):.3f}")


def decay(t, a, b):
    return a * np.exp(-b * t)


t = np.linspace(0, 4, 50)
measured = decay(t, 2.5, 1.3) + 0.01 * generator.normal(size=50)
fitted, covariance = optimize.curve_fit(decay, t, measured)
print("fit:", np.round(fitted, 2), covariance.shape)
area, error = integrate.quad(lambda x: float(np.sin(x)), 0, np.pi)
print(f"area {area:.6f}", error < 1e-8)
print("root:", round(optimize.brentq(lambda x: float(np.cos(x) - x), 0, 1), 6))
steps = np.repeat([0.0, 1.0, 0.0], 10)
print(ndimage.gaussian_filter1d(steps, 1.0).round(3)[8:13])
matrix = np.array([[4.0, 1], [2, 3]])
print(lu_solve(lu_factor(matrix), np.array([1.0, 2])).round(6), scipy.ndimage.label(steps > 0)[1])
counts, edges = np.histogram(measured, bins=4)
print(counts, edges.round(1))
print(np.percentile(measured, [25, 50, 75]).round(2), np.corrcoef(t, measured)[0, 1].round(2))
coefficients = np.polyfit(t, t**2 - 3 * t + 1, 2)
print(np.polyval(coefficients, 2.0).round(6), [str(x) for x in coefficients.round(4) + 0.0])
