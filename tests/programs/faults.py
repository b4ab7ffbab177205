"""Random programs that a timer's signals interrupt, or that go on in a forked child as well."""

from __future__ import annotations

import random
import signal
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy

from ..support.forks import in_child
from ..support.interruptions import Interruption, interrupt, is_in_finalizer
from .machine import Machine, Pair, Statement, plain


class InterruptedMachine(Machine):
    """Runs a random program while a timer's signal handler raises an exception, or looks at all variables.

    A statement that the exception leaves has happened, or it has not and is run again; what the handler sees is as
    before the statement or as after it. Loops of several statements are only looked at. Python runs signal handlers
    in the main thread, where this has to run.

    Attributes
    ----------
    raised, looked
        How often the handler raised an exception, and how often it looked.
    """

    def __init__(self, seed: int, *arguments: Any, **options: Any) -> None:
        super().__init__(seed, *arguments, **options)
        self.raised = self.looked = 0
        self._timing = random.Random(seed)
        self._longest_s = 0.0  # until the next signal
        self._is_over = False  # whether no more signals are wanted
        self._is_armed = False  # whether the library runs, rather than NumPy or the comparison of the two
        self._is_loop = False
        self._watched: list[Pair] = []
        self._before: list[Any] = []

    def run(self, steps: int) -> None:
        handler = signal.signal(signal.SIGALRM, self._on_signal)
        try:
            self._watch()
            self._set_timer()
            super().run(steps)
        finally:
            # A signal that has come already is handled only now: its handler must not start the timer again, since
            # the next signal would find no handler and end the process.
            self._is_over = True
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler)

    def both(
        self,
        name: str | Statement,
        call: Callable[..., Any],
        *pairs: Pair,
        exact: bool,
        keep: bool = True,
        loop: bool = False,
    ) -> list[tuple[Any, Any]]:
        self._watch(loop)
        reference: Any = None

        def run(xp: Any, *operands: Any) -> Any:
            nonlocal reference
            if xp is numpy:
                reference = call(xp, *operands)
                return reference
            return self._run(lambda: call(xp, *operands), once=reference is None)

        return super().both(name, run, *pairs, exact=exact, keep=keep)

    def compare(self, pair: Pair, close: bool = False) -> None:
        self._watch()
        self._run(lambda: self.on_host(pair.tested))
        super().compare(pair, close)

    def _watch(self, loop: bool = False) -> None:
        """Keep the values of all variables as they are before a statement."""
        self._longest_s = 0.004
        self._is_loop = loop
        self._watched = [*self.vars, *self.others]
        self._before = [pair.reference.copy() for pair in self._watched]

    def _run(self, call: Callable[[], Any], once: bool = False) -> Any:
        """Return what a call of the library returns.

        It is run again after an exception of the handler; not if it returns nothing and has happened.
        """
        while True:
            try:
                try:
                    self._is_armed = True
                    return call()
                finally:
                    self._is_armed = False
            except Interruption:
                has_happened = self._check()
                self.log.append(f"  happened: {has_happened}")
                if has_happened and once:
                    return None

    def _check(self) -> bool:
        """Look at all variables; return whether they have changed as the statement under way changes them."""
        if not self._differences(self._before):
            return False
        wrong = [] if self._is_loop else self._differences([pair.reference for pair in self._watched])
        assert not wrong, f"{self.story()}\nneither as before the last statement nor as after it: {wrong}"
        return True

    def _differences(self, values: list[Any]) -> list[tuple[Any, Any]]:
        seen = [(self.on_host(pair.tested), value) for pair, value in zip(self._watched, values, strict=True)]
        return [(got, want) for got, want in seen if not self.is_same(got, plain(want))]

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        armed, self._is_armed = self._is_armed, False
        raises = armed and not self._is_loop and self._timing.random() < 0.5 and not is_in_finalizer(frame)
        if armed and frame is not None:
            what = "exception" if raises else "look"
            self.log.append(f"  {what} at {frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}")
        if raises:
            self.raised += 1
            self._longest_s *= 2  # so that a long statement comes to its end
        elif armed:
            self.looked += 1
            self._check()
            self._is_armed = True
        self._set_timer()
        if raises:
            interrupt()

    def _set_timer(self) -> None:
        if not self._is_over:
            signal.setitimer(signal.ITIMER_REAL, self._timing.uniform(1e-5, self._longest_s))


class ForkedMachine(Machine):
    """Runs a random program that a forked child goes on with, before its parent looks at the results.

    A child of a process that used a GPU has no GPU: it reads what the host has, and runs a program on the CPU device.
    """

    def finish(self) -> None:
        in_child(self._go_on_without_gpu if self.xp.default_device().has_stream else self._go_on)
        super().finish()

    def _go_on(self) -> None:
        for _ in range(3):
            self.step()
        super().finish()

    def _go_on_without_gpu(self) -> None:
        for pair in (*self.vars, *self.others):
            try:
                self.compare(pair)
            except self.xp.DeviceError as error:
                if "'spawn'" not in str(error):
                    raise
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that which names 'spawn'
            assert self.xp.default_device() == "cpu"
        Machine(self.seed, self.xp, sizes=self.sizes, warns=self.warns).run(3)
