"""``deltatape bench``: times beside a copy of the same bytes, of kernels that pass `verify`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deltatape import Device, verification
from deltatape.benchmark import machine, plot
from deltatape.benchmark.kernels import MODULES
from deltatape.benchmark.places import place_of
from deltatape.benchmark.report import Report
from deltatape.benchmark.runner import steps
from deltatape.benchmark.shapes import SHAPES
from deltatape.benchmark.tables import show
from deltatape.cli import verify
from deltatape.cli.progress import progress


def add_parser(verbs: Any) -> None:
    """Declare the verb's options."""
    parser = verbs.add_parser("bench", help="time the kernels beside a copy of the same bytes")
    option = parser.add_argument
    option("--kernel", choices=list(MODULES), help="only this kernel")
    option("--device", metavar="NAME", help="cpu, metal, cuda or auto")
    option("--shapes", choices=list(SHAPES), default="quick", help="what to time (%(default)s)")
    option("--peers", choices=("auto", "none"), default="auto", help="time other libraries too")
    option("--json", metavar="FILE", help="write the report to a file, - for standard output")
    option("--plot", metavar="FILE", help="draw time against size; needs matplotlib")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Return 0 if the outputs were right before and after they were timed, else 1."""
    if arguments.plot:
        plot.require()
    kernels = [arguments.kernel] if arguments.kernel else list(MODULES)
    with_peers = arguments.peers == "auto"
    with Device(arguments.device) as device:
        verified = verify_first(device, kernels)
        if not verified:
            return 1
        place = place_of(device)
        report = Report(machine.describe(place, with_peers), arguments.shapes, verified)
        for _, step in progress(steps(place, kernels, report, with_peers)):
            step()
    publish(report, arguments)
    return 0 if report.correct else 1


def verify_first(device: Device, kernels: Sequence[str]) -> int:
    """Return how many reference cases passed, or 0 after showing those that did not."""
    every = list(verification.cases(device.name, [*kernels, "promises"]))
    rows = [verification.run(device, case) for _, case in progress([("verify", c) for c in every])]
    failed = [row for row in rows if not row.passed]
    if not failed:
        return len(rows)
    verify.show({"cases": len(rows), "failed": len(failed)}, failed)
    print("Nothing was timed: what is not correct has no speed.")
    return 0


def publish(report: Report, arguments: argparse.Namespace) -> None:
    """Show the report, and write it where it was asked for."""
    text = json.dumps(report.as_dict(), indent=1)
    if arguments.json == "-":
        print(text)
    else:
        show(report)
    if arguments.json and arguments.json != "-":
        Path(arguments.json).write_text(text + "\n", encoding="utf-8")
    if arguments.plot:
        plot.plot(report.results, arguments.plot)
