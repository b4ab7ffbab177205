"""Classes, data classes, JSON and CSV."""

import csv
import json
from dataclasses import asdict, dataclass, field

import numpy as np


@dataclass
class Item:
    name: str
    prices: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @property
    def mean(self):
        return self.prices.mean()

    def __str__(self):
        return f"{self.name:<8}{self.mean:>8.2f} {self.prices}"


class Inventory:
    def __init__(self):
        self.items = {}

    def add(self, name, *prices):
        self.items[name] = Item(name, np.array(prices, dtype=float))
        return self

    def __iter__(self):
        yield from sorted(self.items.values(), key=lambda item: item.mean)


class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, np.ndarray):
            return o.tolist()
        return super().default(o)


inventory = Inventory().add("apple", 1.25, 1.5, 1.75).add("pear", 2, 2.5, 3).add("plum", 0.5, 0.75, 1)
for item in inventory:
    print(item)
with open("inventory.json", "w") as file:
    json.dump([asdict(item) for item in inventory], file, cls=Encoder, indent=1)
print(json.dumps({"mean": np.array([item.mean for item in inventory]).mean(), "count": len(inventory.items)}))
with open("inventory.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["name", "mean", "largest"])
    writer.writerows([item.name, item.mean, item.prices.max()] for item in inventory)
with open("inventory.csv", newline="") as file:
    total = sum(float(row["mean"]) for row in csv.DictReader(file))
print(f"{total = }")
print(Item("nothing"), {float(x): k for k, x in enumerate(np.unique([3, 1, 3]))})
