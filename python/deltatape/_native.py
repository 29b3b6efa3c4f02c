"""The C library: found, loaded, checked and called. No other module touches cffi."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

from deltatape import errors
from deltatape._abi import __file__ as _abi_file
from deltatape._abi import ffi

# The version of the header that _abi was generated from.
ABI_VERSION = 1

# The folder that holds include/ and lib/. In an editable installation it is not the folder of
# the package's sources.
INSTALLED = Path(_abi_file).parent

Array: TypeAlias = npt.NDArray[Any]
Handle: TypeAlias = Any
Fields: TypeAlias = dict[str, Any]


def _choose_library() -> str:
    suffix = "dylib" if sys.platform == "darwin" else "so"
    packaged = INSTALLED / "lib" / f"libdeltatape.{suffix}"
    return os.environ.get("DELTATAPE_LIBRARY", str(packaged))


def _load(path: str) -> Any:
    """Open the library, and find out now what would otherwise show at first use."""
    try:
        library = ffi.dlopen(path)
        version = library.dtape_abi_version()
        if version != ABI_VERSION:
            raise ImportError(f"[load] {path!r}: expected ABI version {ABI_VERSION}, got {version}")
        for name in dir(library):
            getattr(library, name)
    except (OSError, ffi.error) as error:
        raise ImportError(f"[load] {path!r}: expected deltatape's library, got {error}") from error
    return library


LIBRARY_PATH = _choose_library()
lib = _load(LIBRARY_PATH)

BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
_DTYPE_CODES: dict[np.dtype[Any], int] = {
    np.dtype(np.float32): lib.DTAPE_F32,
    np.dtype(np.float16): lib.DTAPE_F16,
    BFLOAT16: lib.DTAPE_BF16,
    np.dtype(np.bool_): lib.DTAPE_MASK8,
    np.dtype(np.int8): lib.DTAPE_MASK8,
    np.dtype(np.uint8): lib.DTAPE_MASK8,
    np.dtype(np.int32): lib.DTAPE_MASK32,
    np.dtype(np.uint32): lib.DTAPE_MASK32,
}


def _check(status: int) -> None:
    if status:
        raise errors.from_status(status, ffi.string(lib.dtape_last_error()).decode())


# ---- Devices and streams: handles that close themselves ----------------------------------------


def library_version() -> str:
    return str(ffi.string(lib.dtape_version()).decode())


def built_in_devices() -> list[str]:
    names: list[str] = []
    while (name := lib.dtape_device_built_in(len(names))) != ffi.NULL:
        names.append(ffi.string(name).decode())
    return names


def _compiler_folders() -> list[str]:
    """Return where wheels have put NVIDIA's run-time compiler, which the loader does not know."""
    nvidia = find_spec("nvidia")
    places = nvidia.submodule_search_locations if nvidia is not None else None
    found = (path.parent for place in places or () for path in Path(place).glob("*/lib/libnvrtc.*"))
    return sorted(map(str, set(found)), reverse=True)


def open_device(name: str) -> Handle:
    if name == "cuda":
        for folder in _compiler_folders():
            lib.dtape_cuda_search(folder.encode())
    device = ffi.new("dtape_device **")
    _check(lib.dtape_device_open(name.encode(), device))
    return ffi.gc(device[0], lib.dtape_device_close)


def open_stream(device: Handle, callers: int | None = None) -> Handle:
    """Open a stream, or give calls to the CUDA stream `callers`."""
    stream = ffi.new("dtape_stream **")
    if callers is None:
        _check(lib.dtape_stream_open(device, stream))
    else:
        _check(lib.dtape_cuda_stream(device, ffi.cast("void *", callers), stream))
    return ffi.gc(stream[0], partial(_close_stream, device))


def _close_stream(_device: Handle, stream: Handle) -> None:
    """Close a stream. Its destructor holds the device, which has to be closed later."""
    lib.dtape_stream_close(stream)


def wait(stream: Handle) -> None:
    _check(lib.dtape_stream_wait(stream))


def release(handle: Handle) -> None:
    """Close a stream now, not when the handle is collected."""
    ffi.release(handle)


def _filled(struct: str, fill: Any, device: Handle) -> dict[str, Any]:
    """Return the fields that C writes into a struct which begins with its size."""
    filled = ffi.new(f"{struct} *", {"size": ffi.sizeof(struct)})
    _check(fill(device, filled))
    names = [name for name, _ in ffi.typeof(struct).fields if name not in ("size", "reserved")]
    values = {name: getattr(filled, name) for name in names}
    return {
        name: value if isinstance(value, int) else ffi.string(value).decode()
        for name, value in values.items()
    }


def describe(device: Handle) -> dict[str, Any]:
    return _filled("dtape_device_info", lib.dtape_device_describe, device)


def counters(device: Handle) -> dict[str, int]:
    return _filled("dtape_counters", lib.dtape_device_counters, device)


_POINTER = ffi.typeof("void **")


def allocate(device: Handle, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array in the device's memory, which goes back when the array dies."""
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes >= 2**63:
        raise errors.OutOfMemory(f"[alloc] bytes: expected fewer than 2^63, got {nbytes}")
    memory = ffi.new(_POINTER)
    _check(lib.dtape_alloc(device, nbytes, memory))
    # The destructor holds the device, which has to be closed later.
    owner = ffi.gc(memory[0], partial(lib.dtape_free, device))
    return np.ndarray(shape, dtype, buffer=ffi.buffer(owner, nbytes))


# ---- Kernels -----------------------------------------------------------------------------------


def _array(array: Array) -> tuple[Any, int]:
    try:
        return ffi.from_buffer(array), _DTYPE_CODES[array.dtype]
    except ValueError:  # not contiguous: a pool whose states lie apart
        return ffi.cast("void *", array.ctypes.data), _DTYPE_CODES[array.dtype]


_CONVERTERS: dict[str, Callable[[Array], Any]] = {
    "struct dtape_input": _array,
    "struct dtape_output": _array,
    "int32_t *": partial(ffi.from_buffer, "int32_t[]"),
    "uint8_t *": partial(ffi.from_buffer, "uint8_t[]"),
}


class Kernel:
    """One C kernel: its function, its argument struct, and how to fill that from Python."""

    def __init__(self, name: str) -> None:
        self._function = getattr(lib, f"dtape_{name}")
        self._struct = ffi.typeof(f"dtape_{name}_args *")
        self._size = ffi.sizeof(f"dtape_{name}_args")
        self._converters = {
            field: _CONVERTERS[declared.type.cname]
            for field, declared in self._struct.item.fields
            if declared.type.cname in _CONVERTERS
        }

    def prepared(self, stream: Handle, fields: Fields) -> Callable[[], None]:
        """Return a call that can be made any number of times, and that keeps its arrays alive.

        `fields` are the struct's: integers, and arrays that have passed the array policy.
        """
        values: Fields = {**fields, "size": self._size}
        for name, convert in self._converters.items():
            if name in fields:
                values[name] = convert(fields[name])
        # A pointer stored in a struct keeps nothing alive, so the arrays go along with it.
        arguments = ffi.new(self._struct, values)
        return partial(_enqueue, self._function, stream, arguments, values, fields)


def _enqueue(function: Any, stream: Handle, arguments: Any, *_alive: Fields) -> None:
    _check(function(stream, arguments))
