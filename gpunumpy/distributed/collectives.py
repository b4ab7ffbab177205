"""Operations that all processes call at once, each with its own array, and messages between two."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..core.dtypes import KIND
from ..core.graph.layout import Shape
from ..core.recording.array import ndarray
from ..core.runtime import evaluate
from ..functions.creation import arrays as creation
from ..functions.manipulation.shape import swapaxes
from .group import Group, current
from .pieces import rows_of
from .reductions import Operation, check_operation
from .transports import Transport


def all_reduce(x: Any, op: Operation = "sum", out: ndarray | None = None) -> ndarray:
    """Return the sum, or another reduction, of the arrays of all processes.

    Parameters
    ----------
    x : array_like
        The array of this process. All have one shape and dtype.
    op : {"sum", "prod", "min", "max", "avg"}
        The reduction. Integers wrap around as NumPy's; "avg" is for floats and complex numbers, "sum" and "avg" alone
        for complex ones.
    out : ndarray, optional
        Where the result goes; it may be `x`.

    Returns
    -------
    ndarray
        The same elements in every process.

    Raises
    ------
    TypeError
        If the operation does not take the dtype.
    ValueError
        If `out` has another shape.

    Examples
    --------
    >>> import gpunumpy as np
    >>> import gpunumpy.distributed as dist
    >>> dist.init()
    >>> int(dist.all_reduce(np.arange(3)).sum())
    3
    >>> dist.finalize()
    """
    group, x = current(), _operand(x)
    check_operation(op, x.dtype)
    return _run(group, x, x.shape, out, lambda transport, result: transport.all_reduce(x, result, op))


def all_gather(x: Any, out: ndarray | None = None) -> ndarray:
    """Return the arrays of all processes, stacked along a new first axis.

    Parameters
    ----------
    x : array_like
        The array of this process. All have one shape and dtype.
    out : ndarray, optional
        Where the result goes, of shape ``(size(), *x.shape)``.

    Returns
    -------
    ndarray
        Its i-th row is the array of process i.
    """
    group, x = current(), _operand(x)
    return _run(group, x, (group.place.size, *x.shape), out, lambda transport, result: transport.all_gather(x, result))


def reduce_scatter(x: Any, op: Operation = "sum", out: ndarray | None = None) -> ndarray:
    """Return row ``rank()`` of the sum, or another reduction, of the arrays of all processes.

    Parameters
    ----------
    x : array_like
        The array of this process, with a row for each process. All have one shape and dtype.
    op : {"sum", "prod", "min", "max", "avg"}
        The reduction; see `all_reduce`.
    out : ndarray, optional
        Where the result goes, of shape ``x.shape[1:]``.

    Returns
    -------
    ndarray
        The row.
    """
    group, x = current(), _operand(x)
    check_operation(op, x.dtype)
    _check_rows(group, x)
    return _run(group, x, x.shape[1:], out, lambda transport, result: transport.reduce_scatter(x, result, op))


def all_to_all(x: Any, out: ndarray | None = None) -> ndarray:
    """Send row i of an array to process i, and return what all processes have sent to this one.

    Parameters
    ----------
    x : array_like
        The array of this process, with a row for each process. All have one shape and dtype.
    out : ndarray, optional
        Where the result goes, of the shape of `x`; it may be `x`.

    Returns
    -------
    ndarray
        Its i-th row is from process i.
    """
    group, x = current(), _operand(x)
    _check_rows(group, x)
    return _run(group, x, x.shape, out, lambda transport, result: transport.all_to_all(x, result))


def all_to_all_in_pieces(pieces: Iterable[Any], out: ndarray) -> ndarray:
    """Send an array that is made piece by piece, each piece while the next one is computed.

    It is `all_to_all` along the second axis of a long array, whose pieces are some of its rows each. On GPUs they go on
    a stream of their own, and later work waits for the last one.

    Parameters
    ----------
    pieces : iterable of array_like
        The pieces, of shape ``(rows, size(), ...)`` each: slice i along the second axis goes to process i. All
        processes have pieces of the same shapes. Each is a new array, as of an expression: it is read until the end,
        and must not be written to meanwhile.
    out : ndarray
        Where the result goes, of shape ``(size(), rows of all pieces, ...)``: row i is from process i.

    Returns
    -------
    ndarray
        `out`.

    Raises
    ------
    ValueError
        If pieces do not fit into `out`, or do not fill it.
    """
    group = current()
    _check_out(out, out)
    if out.ndim < 2 or out.shape[0] != group.place.size:
        raise ValueError(f"out has shape {out.shape}, and no row for each of {group.place.size} processes")
    checked = _checked_pieces(pieces, out)
    if group.transport is not None:
        group.transport.all_to_all_in_pieces(checked, out)
        return out
    result: Any = out
    for rows, piece in rows_of(checked):
        result[:, rows] = swapaxes(piece, 0, 1)
    return out


def broadcast(x: Any, root: int = 0, out: ndarray | None = None) -> ndarray:
    """Return the array of one process.

    Parameters
    ----------
    x : array_like
        The array of process `root`; of the others the shape and the dtype count.
    root : int
        The process.
    out : ndarray, optional
        Where the result goes; it may be `x`.

    Returns
    -------
    ndarray
        The same elements in every process.
    """
    group, x = current(), _operand(x)
    root = _checked_rank(group, root)
    return _run(group, x, x.shape, out, lambda transport, result: transport.broadcast(x, result, root))


def send(x: Any, dest: int) -> None:
    """Send an array to another process, which calls `recv`.

    On GPUs the work after it waits until the other receives: of two processes that send to each other, one receives
    first. `sendrecv` does both at once.

    Parameters
    ----------
    x : array_like
        The array.
    dest : int
        The process.
    """
    group, x = current(), _operand(x)
    _transport_to_other(group, dest).send(x, dest)


def recv(out: ndarray, source: int) -> ndarray:
    """Receive an array from another process, which calls `send`.

    Parameters
    ----------
    out : ndarray
        Where the elements go: of the shape and dtype that are sent.
    source : int
        The process.

    Returns
    -------
    ndarray
        `out`.
    """
    group = current()
    _check_out(out, out)
    _transport_to_other(group, source).recv(out, source)
    return out


def sendrecv(x: Any, dest: int, source: int, out: ndarray | None = None) -> ndarray:
    """Send an array to one process, and return what comes from one: at once, so that no order of processes matters.

    Parameters
    ----------
    x : array_like
        What is sent.
    dest, source : int
        The processes; each may be this one if both are.
    out : ndarray, optional
        Where the result goes.

    Returns
    -------
    ndarray
        What `source` has sent to this process, of the shape and dtype of `x`.
    """
    group, x = current(), _operand(x)
    dest, source = _checked_rank(group, dest), _checked_rank(group, source)
    if (dest == group.place.rank) != (source == group.place.rank):
        raise ValueError(f"a process sends to itself only what it receives: dest={dest}, source={source}")
    return _run(group, x, x.shape, out, lambda transport, result: transport.sendrecv(x, result, dest, source))


def barrier() -> None:
    """Wait until all processes are here, and all work of their devices before it is done.

    Raises
    ------
    DeviceError
        If work has failed.
    """
    group = current()
    evaluate.synchronize(group.device)
    if group.transport is not None:
        group.transport.barrier()


def _operand(x: Any) -> Any:
    """Return an argument as an array of a dtype that devices have."""
    x = creation.asarray(x)
    if x.dtype not in KIND:
        raise TypeError(f"arrays of dtype {x.dtype} are on the host, and not sent")
    return x


def _check_out(out: Any, like: ndarray, shape: Shape | None = None) -> None:
    """Raise an exception unless results with the dtype of an array can be written to `out`."""
    if not isinstance(out, ndarray):
        raise TypeError(f"out is an array of gpunumpy, not {type(out).__name__!r}")
    shape = like.shape if shape is None else shape
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}, and the result {shape}")
    if out.dtype != like.dtype or out.dtype not in KIND:
        raise TypeError(f"out has dtype {out.dtype}, and the result {like.dtype}")
    if not out.writeable:
        raise ValueError("output array is read-only")


def _check_rows(group: Group, x: ndarray) -> None:
    if not x.shape or x.shape[0] != group.place.size:
        raise ValueError(f"an array of shape {x.shape} has no row for each of {group.place.size} processes")


def _checked_pieces(pieces: Iterable[Any], out: ndarray) -> Iterator[ndarray]:
    """Return pieces as arrays that fit into `out`, and raise an exception after the last one unless they fill it."""
    size, left, *rest = out.shape
    for given in pieces:
        piece = _operand(given)
        if piece.shape[1:] != (size, *rest) or piece.dtype != out.dtype or piece.shape[0] > left:
            raise ValueError(
                f"a piece with {piece.dtype} of shape {piece.shape}, where up to {left} rows of {out.dtype} with shape "
                f"{(size, *rest)} have room"
            )
        left -= piece.shape[0]
        yield piece
    if left:
        raise ValueError(f"the pieces have {left} rows less than out")


def _checked_rank(group: Group, rank: Any) -> int:
    number = operator.index(rank)
    if not 0 <= number < group.place.size:
        raise ValueError(f"there is no process {number} among {group.place.size}")
    return number


def _transport_to_other(group: Group, rank: int) -> Transport:
    if _checked_rank(group, rank) == group.place.rank or group.transport is None:
        raise ValueError(f"process {rank} sends nothing to itself, but by sendrecv()")
    return group.transport


def _run(group: Group, x: Any, shape: Shape, out: Any, call: Callable[[Transport, ndarray], None]) -> Any:
    """Return the result, of a shape, of an operation: `call` puts it into an array. Alone it is `x`."""
    if out is not None:
        _check_out(out, x, shape)
    transport = group.transport
    if transport is None:
        result: Any = creation.empty(shape, x.dtype, device=x.device) if out is None else out
        result[...] = x.reshape(shape)
        return result
    result = transport.empty(shape, x.dtype) if out is None else out
    call(transport, result)
    return result
