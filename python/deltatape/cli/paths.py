"""``deltatape paths``: where the headers, the library and the build files are."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from deltatape import _native

FOLDERS = {
    "include": Path("include"),
    "lib": Path("lib"),
    "cmake": Path("lib", "cmake", "deltatape"),
    "pkgconfig": Path("lib", "pkgconfig"),
}


def add_parser(verbs: Any) -> None:
    """Declare the verb's options."""
    parser = verbs.add_parser("paths", help="print the folders that a C, C++ or Swift build needs")
    which = parser.add_mutually_exclusive_group(required=True)
    for name, folder in FOLDERS.items():
        which.add_argument(
            f"--{name}", dest="folder", action="store_const", const=folder, help=f".../{folder}"
        )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the folder; return 1 if this installation lacks it."""
    path = _native.INSTALLED / arguments.folder
    print(path)
    return 0 if path.is_dir() else 1
