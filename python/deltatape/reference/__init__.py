"""What each kernel means, in float64 numpy: short, slow, and never used as the implementation."""

from deltatape.reference.chunk_tri_solve_invert import chunk_tri_solve_invert
from deltatape.reference.ssm_replay import ssm_replay
from deltatape.reference.ssm_step_record import ssm_step_record

__all__ = ["chunk_tri_solve_invert", "ssm_replay", "ssm_step_record"]
