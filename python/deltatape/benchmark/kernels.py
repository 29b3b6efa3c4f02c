"""The kernels' modules by name."""

from __future__ import annotations

from deltatape.benchmark import chunk_tri_solve_invert, ssm_replay, ssm_step_record

MODULES = {
    module.KERNEL: module for module in (ssm_step_record, ssm_replay, chunk_tri_solve_invert)
}
