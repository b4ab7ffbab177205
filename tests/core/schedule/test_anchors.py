"""Which nodes of a graph are stored, and what their readers load."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import gpunumpy
from gpunumpy.core.graph.primitives import Const, Leaf
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.schedule import groups
from gpunumpy.core.schedule.analysis import Graph, choose_anchors
from gpunumpy.core.schedule.lower import Item
from gpunumpy.core.schedule.traits import Traits
from tests.programs.machine import Machine


def test_reads_are_of_all_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of those that a later reader made ones; in random programs, of which the last stored a base too late."""
    seen = []

    def check(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> Graph:
        graph = choose_anchors(items, roots, traits)
        for node, reads in graph.reads.items():
            loaded: set[int] = set()
            for a in items[node].args:
                primitive = items[a].signature.primitive
                if isinstance(primitive, Leaf) or a in graph.anchor_set:
                    loaded.add(a)
                elif not isinstance(primitive, Const):
                    loaded |= graph.reads[a]
            assert reads == loaded
        seen.append(graph)
        return graph

    monkeypatch.setattr(groups, "choose_anchors", check)
    with Device("cpu"):
        for seed in (*range(20), 15166):
            Machine(seed, gpunumpy).run(12)
    assert len(seen) > 20
