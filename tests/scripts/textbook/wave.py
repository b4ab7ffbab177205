"""A wave on a string, as a class with a loop over time steps and a report."""

import math

import numpy as np
from numpy import pi, sin


class String:
    """The string is fixed at both ends; `step` is the leapfrog method."""

    def __init__(self, points=201, courant=0.9):
        self.x = np.linspace(0, 1, points)
        self.now = sin(pi * self.x) + 0.5 * sin(3 * pi * self.x)
        self.before = self.now.copy()
        self.courant2 = courant**2
        self.steps = 0

    def step(self):
        after = np.zeros_like(self.now)
        after[1:-1] = (
            2 * self.now[1:-1] - self.before[1:-1] + self.courant2 * (self.now[2:] - 2 * self.now[1:-1] + self.now[:-2])
        )
        self.before, self.now = self.now, after
        self.steps += 1

    @property
    def energy(self):
        speed = self.now - self.before
        return (speed**2).sum() / 2 + self.courant2 * (np.diff(self.now) ** 2).sum() / 2


string = String()
first = string.energy
while string.steps < 400:
    string.step()
    if string.steps % 100 == 0:
        print(f"step {string.steps:4d}  energy {string.energy / first:.4f}  middle {string.now[100]:+.4f}")
print("finite:", np.isfinite(string.now).all(), "largest:", round(float(np.abs(string.now).max()), 4))
if abs(string.now).max() > 2:
    print("unstable")
print(math.sqrt(string.now[50] ** 2) >= 0, f"{string.now.mean():.3f}", string.now.argmax() > 0)
