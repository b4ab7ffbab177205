"""Plots of a damped oscillation: lines, a histogram, bars, a picture and contours, in one file."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

t = np.linspace(0, 10, 400)
y = np.exp(-0.3 * t) * np.cos(2 * np.pi * t)
peaks = t[1:-1][(y[1:-1] > y[:-2]) & (y[1:-1] > y[2:])]
print("peaks at", np.round(peaks, 2))

figure, axes = plt.subplots(2, 3, figsize=(9, 6))
axes[0, 0].plot(t, y, label="y")
axes[0, 0].fill_between(t, y, alpha=0.3)
axes[0, 0].axvline(peaks[0], color="k")
axes[0, 0].legend()
axes[0, 1].hist(np.random.default_rng(1).normal(size=500), bins=20)
axes[0, 2].bar(np.arange(4), np.array([3.0, 1.0, 4.0, 1.5]), yerr=np.full(4, 0.2))
x, z = np.meshgrid(np.linspace(-2, 2, 60), np.linspace(-2, 2, 50))
field = np.sin(x * z) + x
axes[1, 0].imshow(field, origin="lower", vmin=field.min(), vmax=field.max())
axes[1, 1].contourf(x, z, field, levels=np.linspace(-3, 3, 7))
axes[1, 2].scatter(x[::10, ::10], z[::10, ::10], c=field[::10, ::10], s=20)
axes[1, 2].set_xlim(x.min(), x.max())
axes[1, 2].set_title(f"largest value {field.max():.3f}")
figure.savefig("plots.png", dpi=60)
steps = np.arange(4)[2]
print(plt.subplots(np.int64(2), steps)[1].shape, matplotlib.colors.to_hex(np.array([1, 0, 0])))
print(plt.subplot(2, steps, steps).get_subplotspec().get_geometry())
