"""Spheres over a plane, with reflections: only the rays that hit something go on, another count at every bounce."""

import gpunumpy as np

LIGHT = (0.48, 0.8, -0.36)
FLOOR = -0.5


def spheres(count):
    """Centres, 3 by `count`, radii, and how much each one reflects."""
    k = np.arange(count)
    angle = k * np.pi * (3 - np.sqrt(5))
    radius = 0.2 + 0.1 * (k % 3)
    centre = np.stack([1.6 * np.cos(angle), radius + FLOOR, 3.0 + 1.6 * np.sin(angle)])
    return centre, radius, 0.2 + 0.15 * (k % 5)


def nearest(origin, direction, centre, radius):
    """The distance to the nearest sphere of each ray and its number; infinite where there is none."""
    between = origin[:, None, :] - centre[:, :, None]
    along = (between * direction[:, None, :]).sum(axis=0)
    inside = along**2 - ((between**2).sum(axis=0) - radius[:, None] ** 2)
    distance = -along - np.sqrt(np.maximum(inside, 0.0))
    distance = np.where((inside > 0) & (distance > 1e-4), distance, np.inf)
    return distance.min(axis=0), distance.argmin(axis=0)


def sky(direction):
    return 0.5 + 0.4 * direction[1]


def run(size=256, steps=4, progress=range):
    """Return the brightness seen through `size` by `size` pixels, after up to `steps` bounces."""
    centre, radius, mirror = spheres(12)
    place = np.linspace(-1.0, 1.0, size)
    x, y = np.meshgrid(place, -place)
    direction = np.stack([x.ravel(), y.ravel(), np.full(size * size, 1.5)])
    direction = direction / np.sqrt((direction**2).sum(axis=0))
    origin = np.zeros((3, size * size))
    light = np.array(LIGHT)
    pixel, weight = np.arange(size * size), np.ones(size * size)
    image = np.zeros(size * size)

    for _ in progress(steps):
        distance, which = nearest(origin, direction, centre, radius)
        to_floor = np.where(direction[1] < -1e-9, (FLOOR - origin[1]) / direction[1], np.inf)
        is_floor = (to_floor > 1e-4) & (to_floor < distance)
        hit = is_floor | (distance < np.inf)
        image[pixel[~hit]] += weight[~hit] * sky(direction[:, ~hit])
        if not int(hit.sum()):
            break
        origin, direction, which = origin[:, hit], direction[:, hit], which[hit]
        pixel, weight, floor = pixel[hit], weight[hit], is_floor[hit]
        point = origin + np.where(floor, to_floor[hit], distance[hit]) * direction

        normal = np.where(floor, np.array([0.0, 1.0, 0.0])[:, None], (point - centre[:, which]) / radius[which])
        squares = (np.floor(2 * point[0]) + np.floor(2 * point[2])) % 2
        shine = np.where(floor, 0.3, mirror[which])
        shadow, _ = nearest(point + 1e-3 * normal, light[:, None] + 0 * point, centre, radius)
        lit = np.maximum((normal * light[:, None]).sum(axis=0), 0.0) * (shadow == np.inf)
        colour = np.where(floor, 0.3 + 0.6 * squares, 0.8)
        image[pixel] += weight * (1 - shine) * colour * (0.2 + 0.8 * lit)
        weight = weight * shine
        direction = direction - 2 * (direction * normal).sum(axis=0) * normal
        origin = point
    return image.reshape(size, size)
