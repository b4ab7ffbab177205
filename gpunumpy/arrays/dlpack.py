"""DLPack's capsules and C structures: made for exports, opened for imports. This module does not know `ndarray`.

No Python code runs when a consumer releases an export. A consumer may do that while an exception propagates (a Python
callback would lose the exception), without the interpreter's lock, or after the interpreter has ended. So the deleter
is a function of the C library, `time`, which overwrites the structure's first word. `sweep`, at the next exchange or
when memory is short, finds such structures, and capsules that nobody opened, and drops their memory.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from contextlib import suppress
from itertools import starmap
from operator import call
from typing import Any

from ..core.late_dataclasses import dataclass

_VERSION = (1, 1)
READ_ONLY = 1
IS_COPIED = 2
IS_PADDED = 4  # elements of fewer than 8 bits have a byte each

_NAME, _USED = b"dltensor", b"used_dltensor"
_NAME_VERSIONED, _USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


@dataclass(frozen=True, slots=True)
class Description:
    """An array as a capsule describes it: `device` and `dtype` in DLPack's codes, `strides` in elements."""

    ptr: int
    device: tuple[int, int]
    dtype: tuple[int, int]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    flags: int = 0


def _prototype(name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of Python's C API with these types."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _prototype("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_is_valid = _prototype("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_pointer = _prototype("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_rename = _prototype("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_immortal = _prototype("Py_IncRef", None, ctypes.py_object)


# --- exports ----------------------------------------------------------------------------------------------------------


def _address_of_time() -> int:
    """Return the address of ``time`` of the C library, which writes eight bytes to the address that it is given."""
    function = ctypes.CDLL("ucrtbase")._time64 if os.name == "nt" else ctypes.CDLL(None).time
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


_DELETER = _address_of_time()


class _Export:
    """A structure in use by a consumer, or still in its capsule, with the owner of the memory that it describes."""

    __slots__ = ("arrays", "capsule", "first", "name", "owner", "struct")

    def __init__(self, description: Description, versioned: bool, owner: object) -> None:
        ndim = len(description.shape)
        self.owner = owner
        self.arrays = (ctypes.c_int64 * ndim)(*description.shape), (ctypes.c_int64 * ndim)(*description.strides)
        self.name = _NAME_VERSIONED if versioned else _NAME
        self.struct: Any = _ManagedVersioned() if versioned else _Managed()
        if versioned:
            self.struct.major, self.struct.minor = _VERSION
            self.struct.flags = description.flags
        self.struct.deleter = _DELETER
        tensor = self.struct.tensor
        tensor.data = description.ptr
        tensor.device_type, tensor.device_id = description.device
        tensor.code, tensor.bits = description.dtype
        tensor.lanes = 1
        tensor.ndim = ndim
        tensor.shape, tensor.strides = (ctypes.cast(a, ctypes.POINTER(ctypes.c_int64)) for a in self.arrays)
        self.first = self._read_first_word()
        self.capsule: Any = _new(ctypes.addressof(self.struct), self.name, None)

    def _read_first_word(self) -> int:
        return ctypes.c_int64.from_buffer(self.struct).value

    def finished(self) -> bool:
        """Return whether the consumer has called the deleter, or nobody can open the capsule any more."""
        if self._read_first_word() != self.first:
            return True
        if self.capsule is not None:
            if not _is_valid(self.capsule, self.name):
                self.capsule = None  # opened: from now on only the deleter ends the export
            elif _references(self) == _UNSHARED:
                return True
        return False


def _references(export: _Export) -> int:
    return sys.getrefcount(export.capsule)


# The reference count of a capsule that only its `_Export` holds: measured, as versions of Python count differently.
_UNSHARED = _references(_Export(Description(0, (1, 0), (0, 8), (), ()), False, None))

_exports: list[_Export] = []
# A consumer may outlive the interpreter and still use its structure and the name of its capsule, so these never die.
for _object in (_exports, _NAME, _USED, _NAME_VERSIONED, _USED_VERSIONED):
    _immortal(_object)


def sweep() -> None:
    """Drop the memory of the exports that their consumers have finished with."""
    # Other threads, and signal handlers in between, sweep too and make exports: each is removed by itself.
    for export in list(_exports):
        if export.finished():
            with suppress(ValueError):
                _exports.remove(export)


def make_capsule(description: Description, versioned: bool, owner: object) -> Any:
    """Return a capsule that keeps `owner` until the consumer has finished with it.

    Parameters
    ----------
    description : Description
        The array to export.
    versioned : bool
        Whether the consumer knows DLPack 1.0; otherwise the capsule can carry no flags.
    owner : object
        An object that keeps the memory alive.
    """
    sweep()
    export = _Export(description, versioned, owner)
    capsule = export.capsule
    _exports.append(export)
    return capsule


# --- imports ----------------------------------------------------------------------------------------------------------


class ImportedTensor:
    """A structure that was taken out of a capsule. Dropping it calls the producer's deleter."""

    deleter: Any = None  # none as long as the capsule calls it

    def __init__(self, address: int) -> None:
        self._address = address

    def __del__(self) -> None:
        """Call the producer's deleter."""
        if self.deleter is not None:
            self.deleter(self._address)


def open_capsule(capsule: Any) -> tuple[Description, ImportedTensor]:
    """Take the array out of a capsule. A capsule can be opened once.

    Raises
    ------
    BufferError
        If the version of the capsule is not supported, or its elements are vectors.
    ValueError
        If `capsule` is no DLPack capsule, or has been opened before.
    """
    if _is_valid(capsule, _NAME_VERSIONED):
        name, used = _NAME_VERSIONED, _USED_VERSIONED
        address = _pointer(capsule, name)
        managed: Any = _ManagedVersioned.from_address(address)
        if managed.major != _VERSION[0]:
            raise BufferError(f"a capsule of DLPack {managed.major}.{managed.minor}; known is version {_VERSION[0]}")
        flags = managed.flags
    elif _is_valid(capsule, _NAME):
        name, used, flags = _NAME, _USED, 0
        address = _pointer(capsule, name)
        managed = _Managed.from_address(address)
    else:
        raise ValueError("__dlpack__ gave no capsule of DLPack's, or one that has been used")
    imported = ImportedTensor(address)
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter) if managed.deleter else None
    # One call of a C function: no exception may come in between, as either the capsule or `imported` calls the deleter.
    deque(starmap(call, ((_rename, capsule, used), (setattr, imported, "deleter", deleter))), maxlen=0)
    tensor = managed.tensor
    if tensor.lanes != 1:
        raise BufferError(f"elements that are vectors of {tensor.lanes} are not supported")
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else _c_strides(shape)
    ptr = (tensor.data or 0) + tensor.byte_offset
    device = (tensor.device_type, tensor.device_id)
    return Description(ptr, device, (tensor.code, tensor.bits), shape, strides, flags), imported


def _c_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of C order, which a producer may omit."""
    strides = [1] * len(shape)
    for k in range(len(shape) - 2, -1, -1):
        strides[k] = strides[k + 1] * shape[k + 1]
    return tuple(strides)
