"""``deltatape info``: what a bug report needs."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib.metadata import version
from typing import Any

import deltatape
from deltatape import _native
from deltatape.cli.table import show_table


def add_parser(verbs: Any) -> None:
    """Declare the verb's options."""
    parser = verbs.add_parser("info", help="print versions, the library and the devices")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the report."""
    report = collect()
    if arguments.json:
        json.dump(report, sys.stdout, indent=1)
        print()
        return 0
    devices = report.pop("devices")
    show_table("deltatape info", ("what", "value"), [(k, str(v)) for k, v in report.items()])
    rows = [
        (name, "; ".join(f"{k} {v}" for k, v in about.items())) for name, about in devices.items()
    ]
    show_table("devices", ("device", "about"), rows)
    return 0


def collect() -> dict[str, Any]:
    """Versions, the library's path, and each built-in device or why it cannot be opened."""
    return {
        "deltatape": deltatape.__version__,
        "library version": _native.library_version(),
        "abi": _native.ABI_VERSION,
        "library": _native.LIBRARY_PATH,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "cffi", "ml_dtypes")},
        "platform": platform.platform(),
        "devices": {name: about(name) for name in _native.built_in_devices()},
    }


def about(name: str) -> dict[str, Any]:
    """Return a device's description, or the reason it cannot be opened."""
    try:
        with deltatape.Device(name) as device:
            return dict(device.info)
    except deltatape.Error as error:
        return {"unavailable": str(error)}
