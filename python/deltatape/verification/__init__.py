"""Reference cases by kernel, dtype and edge: what ``deltatape verify`` runs and the tests share."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from deltatape import Device, Error
from deltatape.verification import (
    chunk_tri_solve_invert,
    promises,
    ssm_replay,
    ssm_step_record,
)
from deltatape.verification.case import Case
from deltatape.verification.comparisons import Comparison

KERNELS = ("ssm_step_record", "ssm_replay", "chunk_tri_solve_invert", "promises")


@dataclass(frozen=True)
class Row:
    """A case's outcome.

    Parameters
    ----------
    case
        What was run.
    worst
        The comparison that uses up most of its bound, or None if the kernel failed.
    failure
        The kernel's error, if it failed.
    """

    case: Case
    worst: Comparison | None
    failure: str = ""

    @property
    def passed(self) -> bool:
        """Whether every comparison holds."""
        return self.worst is not None and self.worst.holds


def cases(device_name: str, kernels: Collection[str] = KERNELS) -> Iterator[Case]:
    """Return the cases of some kernels, and those of the promises that span them."""
    every = (
        *ssm_step_record.cases(),
        *ssm_replay.cases(),
        *chunk_tri_solve_invert.cases(),
        *promises.cases(device_name),
    )
    return (case for case in every if case.kernel in kernels)


def run(device: Device, case: Case) -> Row:
    """Run one case; a kernel's error is an outcome too."""
    try:
        found = case.compare(device)
    except Error as error:
        return Row(case, None, str(error))
    return Row(case, max(found, key=lambda each: each.share))
