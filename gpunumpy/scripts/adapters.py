"""What some modules are given so that they treat a script as Python does, with this package for NumPy.

They compile files by themselves, start processes that are to run as this one, or ask for NumPy's arrays and numbers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import FunctionType, ModuleType
from typing import Any

import numpy

from ..core.recording import record
from ..core.recording.array import is_scalar, ndarray, to_host
from . import handing_over, pandas_frames, selection
from .handing_over import handed_over, handed_over_or_called, taking_numpys_arrays
from .imports import compile_selected
from .selection import Selection

_Install = Callable[[Selection], None]
_PYTEST_PLUGIN = f"{__package__}.pytest_plugin"
# Functions and methods, by their modules, that treat NumPy's arrays in another way than what can be made one.
_ITEMS = ("__getitem__", "__setitem__")
_INDEXERS = ("_LocationIndexer", "_ScalarAccessIndexer", "_AtIndexer", "_iAtIndexer")
_OF_INDICES = ("__new__", "__contains__", "__getitem__")
# Of tensors, what does not leave it to the class of the other operand, or would make a new tensor then.
_OF_TENSORS = (*_ITEMS, "__iadd__", "__isub__", "__imul__", "__itruediv__")
_MAKING_TENSORS = ("arange", "as_tensor", "asarray", "from_numpy", "full", "linspace", "tensor")
_SINGLE_VALUES = ("Interval.__init__", "Period.__new__", "Timedelta.__new__", "Timestamp.__new__")
_ASKING_FOR_NUMPY = {
    "PIL.Image": ("fromarray", "Image.putdata"),
    "matplotlib.axes._axes": ("Axes.*",),
    "matplotlib.colors": ("to_hex", "to_rgb", "to_rgba"),
    "matplotlib.figure": ("FigureBase.add_subplot", "FigureBase.subplots"),
    "matplotlib.gridspec": ("GridSpec.__init__",),
    "matplotlib.pyplot": ("subplot",),
    "pandas": _SINGLE_VALUES,
    "pandas.api.types": ("is_bool", "is_complex", "is_float", "is_integer", "is_number", "is_scalar"),
    "pandas.core.frame": ("DataFrame.__init__", "DataFrame.__setitem__"),
    "pandas.core.series": ("Series.__init__", "Series.__setitem__"),
    "torch": _MAKING_TENSORS,
    "torch.optim.adam": ("adam",),
    "torch.optim.sgd": ("sgd",),
    "torch.utils.data._utils.collate": ("default_collate", "default_convert"),
}
# Those that also collect what a function of the script returns.
_CALLING_FUNCTIONS = {
    "pandas.core.algorithms": ("factorize", "unique"),
    "pandas.core.arrays.categorical": ("Categorical.__init__",),
    "pandas.core.base": ("IndexOpsMixin.*",),
    "pandas.core.frame": ("DataFrame.*", "DataFrame.__getitem__", "DataFrame.from_dict", "DataFrame.from_records"),
    "pandas.core.generic": ("NDFrame.*", "NDFrame.__contains__"),
    "pandas.core.groupby.generic": ("DataFrameGroupBy.*", "SeriesGroupBy.*"),
    "pandas.core.groupby.groupby": ("GroupBy.*",),
    "pandas.core.groupby.indexing": ("GroupByNthSelector.__call__",),
    "pandas.core.dtypes.missing": ("isna", "notna"),
    "pandas.core.indexes.base": ("Index.*", *(f"Index.{name}" for name in _OF_INDICES)),
    "pandas.core.indexes.datetimelike": ("DatetimeTimedeltaMixin.*",),
    "pandas.core.indexes.datetimes": ("date_range",),
    "pandas.core.indexes.interval": ("interval_range",),
    "pandas.core.indexes.range": ("RangeIndex.*", *(f"RangeIndex.{name}" for name in _OF_INDICES)),
    "pandas.core.indexing": tuple(f"{name}.{item}" for name in _INDEXERS for item in _ITEMS),
    "pandas.core.resample": ("Resampler.*",),
    "pandas.core.reshape.pivot": ("crosstab", "pivot_table"),
    "pandas.core.reshape.tile": ("cut", "qcut"),
    "pandas.core.series": ("Series.*", "Series.__getitem__"),
    "pandas.core.strings.accessor": ("StringMethods.*", "StringMethods.__getitem__"),
    "pandas.core.tools.datetimes": ("to_datetime",),
    "pandas.core.tools.numeric": ("to_numeric",),
    "pandas.core.tools.timedeltas": ("to_timedelta",),
    "pandas.core.window.expanding": ("Expanding.*",),
    "pandas.core.window.rolling": ("Rolling.*",),
    "pandas.io.formats.style": ("Styler.*",),
    "pandas.io.parsers.readers": ("read_csv", "read_table"),
}
# Methods that look at the variables of their caller, or return what a function of the script does.
_LEFT_ALONE = ("eval", "pipe", "query")
# JAX's tables of what it does with arguments of a class. Versions that lack one of them refuse arrays.
_TABLES_OF_JAX = (
    ("jax._src.core", "pytype_aval_mappings"),
    ("jax._src.dtypes", "canonicalize_value_handlers"),
    ("jax._src.interpreters.pxla", "shard_arg_handlers"),
)
_MAY_HOLD_ARRAYS = frozenset((ndarray, list, tuple))


def _adapt_compiling(module: Any, install: _Install) -> None:
    """Have a module that runs files compile by the selection.

    By `runpy.run_path` processes that `multiprocessing` spawns run the script.
    """
    module.compile = compile_selected


def _adapt_pdb(pdb: Any, install: _Install) -> None:
    """Have the debugger compile the script that it was started with by the selection."""
    code = pdb._ScriptTarget.code.fget
    selecting = f"exec(__import__('sys').modules[{compile_selected.__module__!r}].compile_selected("
    pdb._ScriptTarget.code = property(lambda script: code(script).replace("exec(compile(", selecting, 1))


class _Installation:
    """Installs a selection as it is unpickled."""

    def __init__(self, install: _Install, selected: Selection) -> None:
        self._reduced = install, (selected,)

    def __reduce__(self) -> Any:
        return self._reduced


def _adapt_spawn(spawn: Any, install: _Install) -> None:
    """Have the data by which a new process is prepared install the selection there, before the script runs."""
    data_of = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        data = data_of(name)
        if selection.in_force is not None:
            data["gpunumpy"] = _Installation(install, selection.in_force)
        return data

    spawn.get_preparation_data = get_preparation_data


def _adapt_forkserver(forkserver: Any, install: _Install) -> None:
    """Have the server of forks run no script: its processes do, each once it is prepared."""
    forkserver.set_forkserver_preload([])


def _adapt_pytest(rewrite: Any, install: _Install) -> None:
    """Have pytest compile tests by the selection, keep them apart, and load the plugin in workers of pytest-xdist."""
    assert selection.in_force is not None
    rewrite.compile = compile_selected
    rewrite.PYC_TAIL = f".gpunumpy{rewrite.PYC_TAIL}"
    selection.in_force.to_environment()
    plugins = os.environ.get("PYTEST_PLUGINS", "")
    if _PYTEST_PLUGIN not in plugins.split(","):
        os.environ["PYTEST_PLUGINS"] = ",".join(filter(None, (plugins, _PYTEST_PLUGIN)))


def _adapt_json(encoder: Any, install: _Install) -> None:
    """Have results of type float64 written as NumPy's are, which are Python's numbers."""
    default = encoder.JSONEncoder.default

    def take_numbers(self: Any, x: Any) -> Any:
        if selection.in_force is not None and isinstance(x, ndarray) and is_scalar(x) and x.dtype == numpy.float64:
            return float(to_host(x))
        return default(self, x)

    encoder.JSONEncoder.default = take_numbers


def _adapt_library(module: Any, install: _Install) -> None:
    """Have functions of a library given NumPy's arrays: they look at the class of what they are given."""
    for table, hand_over in ((_ASKING_FOR_NUMPY, handed_over), (_CALLING_FUNCTIONS, handed_over_or_called)):
        for path in table.get(module.__name__, ()):
            owner, _, name = path.rpartition(".")
            place = getattr(module, owner) if owner else module
            for key in _public_methods(place) if name == "*" else (name,):
                with suppress(TypeError):  # of a class that cannot be changed, as one of pandas 2.3
                    _replace(place, key, hand_over)


def _public_methods(place: type) -> list[str]:
    methods = (key for key, x in vars(place).items() if isinstance(x, FunctionType) and not key.startswith("_"))
    return [key for key in methods if key not in _LEFT_ALONE]


def _replace(place: Any, key: str, hand_over: Callable[[Any], Any]) -> None:
    of_class = vars(place).get(key)
    if isinstance(of_class, classmethod):
        setattr(place, key, classmethod(taking_numpys_arrays(of_class.__func__, hand_over)))
    else:
        setattr(place, key, taking_numpys_arrays(getattr(place, key), hand_over))


def _adapt_warnings_of_pandas(exceptions: Any, install: _Install) -> None:
    """Have warnings of pandas name the script's line: it looks for the first frame that is not its own."""
    folder = os.path.join(os.path.dirname(os.path.dirname(exceptions.__file__)), "")

    def find_stack_level() -> int:
        frame, level = sys._getframe(1), 1
        while frame.f_code.co_filename.startswith((folder, handing_over.__file__)) and frame.f_back is not None:
            frame, level = frame.f_back, level + 1
        return level

    exceptions.find_stack_level = find_stack_level


def _adapt_pandas(pandas: Any, install: _Install) -> None:
    """Have classes of single values take numbers of arrays as NumPy's, and their operators too."""
    _adapt_library(pandas, install)
    classes = tuple(getattr(pandas, path.partition(".")[0]) for path in _SINGLE_VALUES)
    record.tests_for_numpys_arrays.append(lambda y: selection.in_force is not None and isinstance(y, classes))


def _adapt_callers_of_pandas(common: Any, install: _Install) -> None:
    pandas_frames.adapt_looks_at_callers(common)


def _adapt_frames_of_pandas(module: Any, install: _Install) -> None:
    _adapt_library(module, install)
    pandas_frames.adapt_warnings(module)


def _adapt_torch(torch: Any, install: _Install) -> None:
    """Have PyTorch take arrays as it takes NumPy's: tensors of them are on the CPU.

    Operators that return new tensors leave it to the array, which is NumPy's then. So they take no longer.
    """
    compiled = {name: torch.jit._builtins._find_builtin(getattr(torch, name)) for name in _MAKING_TENSORS}
    _adapt_library(torch, install)
    for name, operation in compiled.items():  # what they are in functions that `torch.jit.script` compiles
        if operation is not None:
            torch.jit._builtins._register_builtin(getattr(torch, name), operation)
    from_numpy = torch.from_numpy

    @wraps(from_numpy)
    def sharing(x: Any) -> Any:
        is_array = selection.in_force is not None and isinstance(x, ndarray) and not is_scalar(x)
        if not (is_array and x.device.shares_host_memory and x.flags.writeable and x.dtype.kind in "biufc"):
            return from_numpy(x)
        try:
            return torch.from_dlpack(x)
        except BufferError as error:  # of strides and byte orders, which PyTorch refuses so
            raise ValueError(*error.args) from None

    torch.from_numpy = sharing
    for name in _OF_TENSORS:
        setattr(torch.Tensor, name, _taking_an_array(getattr(torch.Tensor, name)))
    record.tests_for_numpys_arrays.append(lambda y: selection.in_force is not None and isinstance(y, torch.Tensor))


def _adapt_jax(jax: Any, install: _Install) -> None:
    """Have JAX take arrays as it takes NumPy's, as arguments and in operators."""
    with suppress(AttributeError, KeyError):  # where a table is missing, all stay as they are
        checks: Any = sys.modules["jax._src.numpy.util"]  # of the functions that are not compiled as a whole
        types = (*checks._arraylike_types, ndarray)
        tables = [getattr(sys.modules[module], name) for module, name in _TABLES_OF_JAX]
        handlers = [_of_numpys_array(table[numpy.ndarray]) for table in tables]
        for table, handler in zip(tables, handlers, strict=True):
            table[ndarray] = handler
        checks._arraylike_types = types
    record.tests_for_numpys_arrays.append(lambda y: selection.in_force is not None and isinstance(y, jax.Array))


def _of_numpys_array(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of an array, or of a list of arrays, that is given NumPy's."""

    @wraps(handler)
    def call(x: Any, *rest: Any) -> Any:
        if selection.in_force is None:
            raise TypeError(f"{ndarray} is not a valid JAX type")
        return handler(handed_over(x), *rest)

    return call


def _taking_an_array(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that is given NumPy's arrays for this package's, and is called at once with anything else."""

    @wraps(method)
    def call(tensor: Any, *args: Any) -> Any:
        for x in args:  # which takes less time than a set of their types
            if type(x) in _MAY_HOLD_ARRAYS and selection.in_force is not None:
                return method(tensor, *map(handed_over, args))
        return method(tensor, *args)

    return call


ADAPTERS: dict[str, Callable[[ModuleType, _Install], None]] = {
    "runpy": _adapt_compiling,
    "coverage.execfile": _adapt_compiling,
    "pdb": _adapt_pdb,
    "multiprocessing.spawn": _adapt_spawn,
    "multiprocessing.forkserver": _adapt_forkserver,
    "_pytest.assertion.rewrite": _adapt_pytest,
    "json.encoder": _adapt_json,
    **dict.fromkeys((*_ASKING_FOR_NUMPY, *_CALLING_FUNCTIONS), _adapt_library),
    "pandas": _adapt_pandas,
    "pandas.core.common": _adapt_callers_of_pandas,
    **{f"pandas.core.{name}": _adapt_frames_of_pandas for name in ("frame", "generic", "indexing", "series")},
    "pandas.util._exceptions": _adapt_warnings_of_pandas,
    "torch": _adapt_torch,
    "jax": _adapt_jax,
}
