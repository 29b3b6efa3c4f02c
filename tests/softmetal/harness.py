"""The shader engine by ctypes, and processes under a sanitizer."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
SHADERS = REPOSITORY / "shaders"
BUILD = Path(os.environ.get("SOFTMETAL_BUILD", REPOSITORY / "build" / "softmetal"))
BINDINGS = 31
TURN = (HERE / "kernels" / "turn.metal").read_text()
SCHEDULES = ("forward", "reverse", "random:1", "random:2")


class CompileError(Exception):
    """A source that was refused."""


class RunError(Exception):
    """A dispatch that failed."""


class _Binding(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


class Kernel:
    """A compiled kernel."""

    def __init__(self, library: ctypes.CDLL, handle: int) -> None:
        self._library = library
        self._handle = handle
        self.name = library.softmetal_function_name(handle).decode()
        self.max_threads = library.softmetal_function_max_threads(handle)
        self.threadgroup_bytes = library.softmetal_function_threadgroup_bytes(handle)

    def __call__(
        self, groups: int, threads: int, *arrays: np.ndarray | None, offset: int = 0
    ) -> None:
        """Run a grid of groups; None binds nothing, offset moves every array's begin."""
        bindings = (_Binding * BINDINGS)()
        for binding, array in zip(bindings, arrays, strict=False):
            if array is not None:
                binding.data = array.ctypes.data + offset
                binding.bytes = array.nbytes - offset
        error = self._library.softmetal_run(
            self._handle,
            (ctypes.c_uint32 * 3)(groups, 1, 1),
            (ctypes.c_uint32 * 3)(threads, 1, 1),
            bindings,
        )
        if error:
            raise RunError(ctypes.string_at(error).decode())


class Engine:
    """What Metal.framework does with a source."""

    def __init__(self) -> None:
        (path,) = BUILD.glob("**/libsoftmetal_engine.so")
        library = ctypes.CDLL(str(path))
        pointer = ctypes.c_void_p
        library.softmetal_compile.restype = pointer
        library.softmetal_function_count.restype = ctypes.c_size_t
        library.softmetal_function_count.argtypes = [pointer]
        library.softmetal_function_at.restype = pointer
        library.softmetal_function_at.argtypes = [pointer, ctypes.c_size_t]
        library.softmetal_function_name.restype = ctypes.c_char_p
        for name in ("name", "max_threads", "threadgroup_bytes"):
            getattr(library, f"softmetal_function_{name}").argtypes = [pointer]
        library.softmetal_run.restype = pointer
        library.softmetal_run.argtypes = [pointer, pointer, pointer, pointer]
        self._library = library

    def compile(self, source: str, macros: Sequence[str] = ()) -> list[Kernel]:
        """Compile a source: its kernels."""
        error = ctypes.c_char_p()
        library = self._library.softmetal_compile(
            source.encode(),
            _strings(macros),
            ctypes.c_size_t(len(macros)),
            ctypes.c_int32(0),
            ctypes.byref(error),
        )
        if not library:
            raise CompileError((error.value or b"").decode())
        count = self._library.softmetal_function_count(library)
        functions = (self._library.softmetal_function_at(library, i) for i in range(count))
        return [Kernel(self._library, each) for each in functions]


def _strings(texts: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * max(1, len(texts)))(*(each.encode() for each in texts))


def turned(values: np.ndarray) -> np.ndarray:
    """What kernels/turn.metal computes of whole blocks, up to the order of its sums."""
    halves = values.reshape(-1, 64)[:, ::-1].reshape(-1, 2, 32)
    return (halves + halves.sum(axis=2, keepdims=True)).reshape(-1)


def run_turn(engine: Engine, source: str = TURN, count: int = 256) -> tuple[np.ndarray, np.ndarray]:
    """Run the kernel, or one with a mistake in it: what came, and what should have."""
    values = np.arange(count, dtype=np.float32)
    out = np.full(count, np.nan, np.float32)
    (kernel,) = engine.compile(source)
    kernel(-(-count // 64), 64, values, out, np.array([count, 0], np.uint32))
    return out, turned(values)


def sanitizer(kind: str) -> dict[str, str]:
    """Environment of a process whose kernels run under "asan" (with UBSan) or "tsan"."""
    swift = Path(os.environ["SOFTMETAL_SWIFT"])

    def runtime(name: str) -> Path:
        (found,) = swift.glob(f"lib/clang/*/lib/linux/libclang_rt.{name}-x86_64.so")
        return found

    # Swift's TSan refers to libdispatch and blocks, which come after it.
    blocks = [swift / "lib/swift/linux" / f"lib{name}.so" for name in ("dispatch", "BlocksRuntime")]
    preload, flags = {
        "asan": ([runtime("asan")], "-fsanitize=address,undefined -fno-sanitize-recover=undefined"),
        "tsan": ([runtime("tsan"), *blocks], "-fsanitize=thread"),
    }[kind]
    return {
        "LD_PRELOAD": ":".join(map(str, preload)),
        "SOFTMETAL_CXXFLAGS": f"{flags} -shared-libsan",
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0",
        "TSAN_OPTIONS": "exitcode=66:report_signal_unsafe=0:ignore_noninstrumented_modules=1",
        "PATH": f"{swift / 'bin'}:{os.environ['PATH']}",
    }


def python(
    *arguments: str, folder: Path = HERE, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run Python with further environment variables."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
