"""The CPU device with other traits, and with functions of a test for library calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gpunumpy.core.graph.library_calls.record import Implementation, Record
from gpunumpy.core.graph.library_calls.registry import RECORDS
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.kernels.host import executor
from gpunumpy.kernels.host.executor import HostExecutor


def with_new_plans(monkeypatch: pytest.MonkeyPatch, device: str = "cpu") -> None:
    """Have a device make its plans anew, and come back to those that it has after the test."""
    state = evaluate.state_of(Device(device))
    monkeypatch.setattr(state, "planner", Planner(state.executor))


def with_traits(monkeypatch: pytest.MonkeyPatch, **traits: bool) -> None:
    """Have the CPU device be good at other things."""
    with_new_plans(monkeypatch)
    monkeypatch.setattr(HostExecutor, "traits", replace(HostExecutor.traits, **traits))


def run_on_host(monkeypatch: pytest.MonkeyPatch, name: str, function: Callable[..., Any]) -> None:
    """Have the CPU device run a function for a library call, which may be a new one."""
    with_new_plans(monkeypatch)
    attribute = f"{name}_of_a_test"
    monkeypatch.setattr(executor, attribute, function, raising=False)
    known = RECORDS.get(name) or Record(name)
    implementations = {**known.implementations, "host": Implementation(f"kernels.host.executor:{attribute}")}
    monkeypatch.setitem(RECORDS, name, replace(known, implementations=implementations))
