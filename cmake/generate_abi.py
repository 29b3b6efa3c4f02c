"""Writes the Python module that declares the C ABI to cffi: generate_abi.py HEADER... MODULE."""

import re
import sys
from pathlib import Path

from cffi import FFI


def declarations(header: str) -> str:
    """Return what cffi can parse: the header less its preprocessor lines and what they guard."""
    kept = []
    depth = 0
    for line in header.splitlines():
        if line.startswith("#"):
            depth += line.startswith("#if") - line.startswith("#endif")
        elif depth == 1:  # only inside the include guard
            kept.append(line)
    return re.sub(r"\bDTAPE_API\b", "", "\n".join(kept))


def main(headers: list[str], module: str) -> None:
    ffi = FFI()
    for header in headers:
        ffi.cdef(declarations(Path(header).read_text(encoding="utf-8")))
    ffi.set_source("deltatape._abi", None)
    ffi.emit_python_code(module)


if __name__ == "__main__":
    main(sys.argv[1:-1], sys.argv[-1])
