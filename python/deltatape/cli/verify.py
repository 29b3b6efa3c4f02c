"""``deltatape verify``: the reference cases on a device, as a table that can be sent to others."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from typing import Any

import deltatape
from deltatape import verification
from deltatape.cli.table import show_table

HEADER = ("kernel", "case", "dtypes", "worst of", "error", "bound", "result")


def add_parser(verbs: Any) -> None:
    """Declare the verb's options."""
    parser = verbs.add_parser("verify", help="run the reference cases on a device")
    parser.add_argument("--device", help="cpu, metal, cuda or auto")
    parser.add_argument("--kernel", choices=verification.KERNELS, help="only this kernel's cases")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Return 0 if every case passed, else 1."""
    kernels = (arguments.kernel,) if arguments.kernel else verification.KERNELS
    with deltatape.Device(arguments.device) as device:
        rows = [verification.run(device, case) for case in verification.cases(device.name, kernels)]
        report: dict[str, Any] = {
            "deltatape": deltatape.__version__,
            "platform": platform.platform(),
            **device.info,
        }
    failed = sum(not row.passed for row in rows)
    report |= {"cases": len(rows), "failed": failed}
    if arguments.json:
        json.dump(report | {"rows": [as_dict(row) for row in rows]}, sys.stdout, indent=1)
        print()
    else:
        show(report, rows)
    return 1 if failed else 0


def show(report: dict[str, Any], rows: list[verification.Row]) -> None:
    """Print the table, the device and the outcome."""
    show_table("deltatape verify", HEADER, [cells(row) for row in rows])
    print(" ".join(f"{key}={value}" for key, value in report.items()))
    for row in rows:
        if row.failure:
            print(f"{row.case.kernel}, {row.case.name}: {row.failure}")


def cells(row: verification.Row) -> tuple[str, ...]:
    """Return a line of the table."""
    given = (row.case.kernel, row.case.edge, row.case.dtypes)
    if row.worst is None:
        return (*given, "", "", "", "ERROR")
    numbers = (f"{row.worst.worst:.3g}", f"{row.worst.bound:.3g} {row.worst.unit}".strip())
    return (*given, row.worst.what, *numbers, "pass" if row.passed else "FAIL")


def as_dict(row: verification.Row) -> dict[str, Any]:
    """Return a line as JSON; an infinite error is null."""
    found = row.worst
    worst = found.worst if found and found.worst < float("inf") else None
    return {
        "kernel": row.case.kernel,
        "case": row.case.edge,
        "dtypes": row.case.dtypes,
        "worst_of": found.what if found else None,
        "error": worst,
        "bound": found.bound if found else None,
        "unit": found.unit if found else None,
        "passed": row.passed,
        "failure": row.failure or None,
    }
